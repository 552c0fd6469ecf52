// pipelines/targets/NAME.toml.
#include "base/file.h"
#include "pipeline/pipeline_file.h"
#include "refused.h"
#include "target/cuda_arch.h"
#include "target/target.h"

namespace hone::pipeline {
namespace {

TEST(TargetFile, HandsOnWhatIsWrittenAndNothingElse) {
  const TargetFile host = Must(ParseTargetFile("kind = \"cpu\"\ndevices = 3\n", "targets/cpu.toml"));
  EXPECT_EQ(host.name, "cpu");
  EXPECT_EQ(host.devices, 3);
  EXPECT_EQ(host.json, "{\n  \"kind\": \"cpu\"\n}\n");
  const TargetFile other = Must(
      ParseTargetFile("threads = 2\nkind = \"cpu\"\nfeatures = [\"fma\"]\nvector_bytes = 32\n", "targets/small.toml"));
  EXPECT_THAT(other.json, Not(HasSubstr("devices")));
  EXPECT_THAT(other.json, HasSubstr("\"threads\": 2"));
  EXPECT_THAT(other.json, HasSubstr("\"vector_bytes\": 32"));
}

TEST(TargetFile, ThoseOfHoneHaveTheSharedMemoryOfTheirArchitecture) {
  for (const std::string arch : {"sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"}) {
    const std::string path = "pipelines/targets/" + arch + ".toml";
    const TargetFile file = Must(ParseTargetFile(*ReadFile(path), path));
    const Target target = Must(hone::ParseTargetFile(file.json, path));
    EXPECT_EQ(target.cpu, arch);
    EXPECT_EQ(target.limits.shared_bytes_per_block, CudaSharedBytes(arch)) << arch;
  }
}

TEST(TargetFile, BoardsAreTheSameOnEveryHost) {
  for (const auto& [name, cpu] :
       {std::pair("rk3399", "cortex-a72"), std::pair("rpi3b", "cortex-a53"), std::pair("rpi4", "cortex-a72"),
        std::pair("rpi5", "cortex-a76"), std::pair("mate10pro", "cortex-a73"), std::pair("graviton2", "neoverse-n1"),
        std::pair("graviton3", "neoverse-v1")}) {
    const std::string path = std::string("pipelines/targets/") + name + ".toml";
    const TargetFile file = Must(ParseTargetFile(*ReadFile(path), path));
    const Target target = Must(hone::ParseTargetFile(file.json, path));
    EXPECT_EQ(target.cpu, cpu);
    EXPECT_THAT(target.Text(), testing::StartsWith("cpu -triple=aarch64-unknown-linux-gnu -cpu="));
  }
}

TEST(TargetFile, ReadsTheLimitsOfAGpu) {
  const TargetFile file = Must(
      ParseTargetFile("kind = \"cuda\"\narch = \"sm_80\"\nblock = [512, 256, 64]\nshared_bytes = 4096\ndevices = 2\n",
                      "targets/gpu.toml"));
  EXPECT_EQ(file.devices, 2);
  const Target target = Must(hone::ParseTargetFile(file.json, "gpu.json"));
  EXPECT_EQ(target.cpu, "sm_80");
  EXPECT_EQ(target.limits.max_block[0], 512);
  EXPECT_EQ(target.limits.shared_bytes_per_block, 4096);
  const Bad cases[] = {
      {"kind = \"cuda\"\n", "1: `arch` must be such as"},
      {"kind = \"cuda\"\narch = \"sm90\"\n", "2: `arch` must be such as"},
      {"kind = \"opencl\"\nwarp = 31\n", "2: `warp`: must be a power of two, is 31"},
      {"kind = \"opencl\"\n\nshared_bytes = -4\n", "3: `shared_bytes` must be from 0"},
      {"kind = \"cuda\"\narch = \"sm_75\"\nshared_bytes = 98304\n", "3: `shared_bytes`: 98304 is more than the 65536"},
      {"kind = \"opencl\"\nblock = [1, 2]\n", "2: `block` must be 3 numbers"},
      {"kind = \"opencl\"\narch = \"sm_80\"\n", "2: unknown key `arch`"},
      {"kind = \"opencl\"\nshared_byte = 3\n", "2: unknown key `shared_byte`; did you mean `shared_bytes`?"},
  };
  ExpectRefused(pipeline::ParseTargetFile, "t.toml", "", cases);
}

TEST(TargetFile, NamesFileAndLineOfAMistake) {
  const Bad cases[] = {
      {"kind = \"cpu\"\nthread = 2\n", "2: unknown key `thread`; did you mean `threads`?"},
      {"kind = \"cud\"\n", "1: unknown target kind `cud`; did you mean `cuda`?"},
      {"threads = 2\n", "1: `kind` is missing"},
      {"kind = \"cpu\"\n\nthreads = 0\n", "3: `threads` must be from 1"},
      {"kind = \"cpu\"\nvector_bytes = 24\n", "2: `vector_bytes` must be 16, 32 or 64"},
      {"kind = \"cpu\"\ndevices = 0\n", "2: `devices` must be from 1"},
      {"kind = \"cpu\"\nfeatures = \"fma\"\n", "2: `features` must be a list"},
      {"kind = \"cpu\"\ntriple = \"arm-x\"\n", "2: `triple`: `arm-x` must begin with x86_64 or aarch64"},
      {"kind = \"cpu\"\ntriple = \"aarch64-x\"\nfeatures = [\"dotprot\"]\n",
       "3: `features`: unknown feature `dotprot`; did you mean `dotprod`?"},
  };
  ExpectRefused(pipeline::ParseTargetFile, "t.toml", "", cases);
}

}  // namespace
}  // namespace hone::pipeline
