#include "target/target.h"

#include "base/cpu.h"
#include "base/file.h"
#include "common/expect.h"
#include "target/architecture.h"
#include "target/cuda_arch.h"
#include "target/x86_levels.h"

namespace hone {
namespace {

// Texts of targets, each with part of its error message.
using Refusals = std::vector<std::pair<const char*, const char*>>;

constexpr const char* kText =
    "cpu -triple=x86_64-unknown-linux-gnu -cpu=sapphirerapids -features=avx2,avx512f,fma -threads=2 -vector=64";

TEST(Target, TextAndBack) {
  auto target = Must(Target::Parse(kText));
  EXPECT_EQ(target.kind, &CpuKind());
  EXPECT_EQ(target.cpu, "sapphirerapids");
  EXPECT_EQ(target.threads, 2);
  EXPECT_EQ(target.FloatLanes(), 16);
  EXPECT_EQ(target.ChannelBlock(), 16);
  EXPECT_EQ(target.vector_registers, 32);
  EXPECT_EQ(target.Text(), kText);
}

TEST(Target, TheOrderOfWordsDoesNotMatter) {
  auto target = Must(Target::Parse(
      "cpu -vector=64 -features=fma,avx512f,avx2,fma -threads=2 -cpu=sapphirerapids -triple=x86_64-unknown-linux-gnu"));
  EXPECT_EQ(target.Text(), kText);
}

constexpr const char* kCudaText =
    "cuda -arch=sm_90 -threads=1024 -block=1024x1024x64 -grid=2147483647x65535x65535 -shared=49152 -registers=65536 "
    "-thread-registers=255 -warp=32 -vector=16 -multiprocessors=132";

TEST(Target, GpusSayTheirLimits) {
  auto target = Must(Target::Parse(kCudaText));
  EXPECT_EQ(target.kind, &CudaKind());
  EXPECT_EQ(target.cpu, "sm_90");
  EXPECT_EQ(target.limits.max_block[2], 64);
  EXPECT_EQ(target.limits.multiprocessors, 132);
  EXPECT_EQ(target.Text(), kCudaText);
  EXPECT_EQ(target.ChannelBlock(), 1) << "tensors are plain there";
  // Omitted keys have their default, and the text includes them.
  EXPECT_EQ(Target::Parse("cuda -multiprocessors=132 -arch=sm_90")->Text(), kCudaText);
  EXPECT_EQ(Target::Parse("opencl -threads=256")->limits.max_threads_per_block, 256);
}

TEST(Target, RefusesWhatItDoesNotKnowAndNonsenseLimits) {
  const Refusals refusals = {
      {"", "empty"},
      {"cpus", "did you mean `cpu`"},
      {"cpu -thread=2", "did you mean `-threads`"},
      {"cpu threads=2", "-key=value"},
      {"cpu -threads=0", "-threads"},
      {"cpu -threads=x", "-threads"},
      {"cpu -vector=48", "16, 32 or 64"},
      {"cpu -cpu=a -cpu=b", "twice"},
      {"cuda", "-arch must be such as sm_90"},
      {"cuda -arch=90", "sm_90"},
      {"cuda -arch=sm_9", "sm_90"},
      {"cuda -arch=sm_90 -cpu=x", "unknown key `-cpu`"},
      {"opencl -arch=sm_90", "unknown key `-arch`"},
      {"opencl -warp=33", "warp: must be a power of two"},
      {"opencl -warp=0", "from 1 to 128, is 0"},
      {"opencl -block=1024x4", "must be 3 numbers"},
      {"opencl -shared=x", "is not a number"},
      {"opencl -threads=16", "does not fit a block of 16"},
      {"opencl -vector=12", "4, 8 or 16"},
  };
  for (const auto& [text, message] : refusals)
    EXPECT_THAT(Target::Parse(text).status().message(), HasSubstr(message)) << text;
}

TEST(Target, HostIsConsistent) {
  auto host = Must(HostTarget());
  EXPECT_EQ(host.threads, static_cast<int>(UsableCpus().size()));
  EXPECT_TRUE(std::is_sorted(host.features.begin(), host.features.end()));
  auto has = [&](const char* f) { return std::count(host.features.begin(), host.features.end(), f) > 0; };
  EXPECT_EQ(host.vector_bytes == 64,
            has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq") && has("avx512cd"));
  auto again = Must(Target::Parse(host.Text()));
  EXPECT_EQ(again.Text(), host.Text());
  EXPECT_EQ(again.vector_registers, host.vector_registers);
}

class TargetFile : public testing::Test {
 protected:
  Result<Target> Read(const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(path_, text).ok());
    return ReadTargetFile(path_);
  }
  void ExpectRefused(const Refusals& refusals) {
    for (const auto& [text, message] : refusals) {
      const std::string said = Read(text).status().message();
      EXPECT_THAT(said, HasSubstr("t.json")) << text;
      EXPECT_THAT(said, HasSubstr(message)) << text;
    }
  }
  TempDir dir_ = *TempDir::Create();
  std::string path_ = dir_.Join("t.json");
};

TEST_F(TargetFile, CpuAloneIsTheHost) {
  EXPECT_EQ(Must(Read(R"({"kind": "cpu"})")).Text(), HostTarget()->Text());
  auto one = Must(Read(R"({"kind": "cpu", "threads": 1})"));
  EXPECT_EQ(one.threads, 1);
  EXPECT_EQ(one.features, HostTarget()->features);
}

TEST_F(TargetFile, FeaturesDecideTheVectors) {
  auto avx2 = Must(Read(
      R"({"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "cpu": "haswell", "features": ["fma", "avx2"], "threads": 4})"));
  EXPECT_EQ(avx2.vector_bytes, 32);
  EXPECT_EQ(avx2.vector_registers, 16);
  auto arm = Must(Read(R"({"kind": "cpu", "triple": "aarch64-unknown-linux-gnu", "cpu": "cortex-a72", "threads": 2})"));
  EXPECT_EQ(arm.vector_bytes, 16);
  EXPECT_EQ(arm.vector_registers, 32);
  EXPECT_TRUE(arm.features.empty());
  EXPECT_EQ(Must(Read(R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "x86-64-v4", "vector_bytes": 32})")).vector_bytes,
            32);
}

// A name alone gave SSE vectors, code for the whole CPU, and a library that did not check for it before running.
TEST_F(TargetFile, ACpuBringsItsFeaturesOrIsRefused) {
  auto v3 = Must(Read(R"({"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "cpu": "x86-64-v3"})"));
  EXPECT_EQ(v3.vector_bytes, 32);
  for (const char* f : {"avx2", "fma", "sse4.2", "movbe"}) {
    EXPECT_TRUE(std::binary_search(v3.features.begin(), v3.features.end(), f)) << f;
  }
  EXPECT_FALSE(std::binary_search(v3.features.begin(), v3.features.end(), "avx512f"));
  auto more = Must(
      Read(R"({"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "cpu": "x86-64-v4", "features": ["avx512vnni"]})"));
  EXPECT_EQ(more.vector_bytes, 64);
  EXPECT_TRUE(std::binary_search(more.features.begin(), more.features.end(), "avx512vnni"));
  EXPECT_TRUE(std::binary_search(more.features.begin(), more.features.end(), "fma"));
  auto named = Read(R"({"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "cpu": "sapphirerapids"})");
  EXPECT_THAT(named.status().message(), HasSubstr("list `features`"));
}

// Not the host's name with other features: LLVM would use all features of the name.
TEST_F(TargetFile, FeaturesAloneMakeTheLevel) {
  auto fewer = Must(Read(R"({"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "features": ["avx2", "fma"]})"));
  EXPECT_EQ(fewer.cpu, "x86-64");
  EXPECT_EQ(fewer.features, (std::vector<std::string>{"avx2", "fma"}));
  EXPECT_EQ(fewer.vector_bytes, 32);
}

TEST_F(TargetFile, VectorsMustBeThere) {
  ExpectRefused({{R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "x86-64-v2", "vector_bytes": 32})", "vector_bytes"},
                 {R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "x86-64-v3", "vector_bytes": 64})", "vector_bytes"},
                 {R"({"kind": "cpu", "triple": "aarch64-x", "threads": 1, "vector_bytes": 32})", "vector_bytes"}});
  EXPECT_TRUE(Read(R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "x86-64-v3", "vector_bytes": 16})").ok());
}

TEST_F(TargetFile, CoresOfAArch64BringTheirFeatures) {
  const auto read = [&](const std::string& keys) {
    return Read((R"({"kind": "cpu", "triple": "aarch64-unknown-linux-gnu", "threads": 4)" + keys + "}").c_str());
  };
  EXPECT_EQ(Must(read("")).Text(), "cpu -triple=aarch64-unknown-linux-gnu -cpu=generic -threads=4 -vector=16");
  EXPECT_EQ(Must(read(R"(, "cpu": "cortex-a76")")).features, (std::vector<std::string>{"dotprod", "fullfp16"}));
  EXPECT_EQ(Must(read(R"(, "cpu": "neoverse-v1")")).features,
            (std::vector<std::string>{"bf16", "dotprod", "fullfp16", "i8mm"}));
  EXPECT_EQ(Must(read(R"(, "features": ["neon", "dotprod"])")).Text(),
            "cpu -triple=aarch64-unknown-linux-gnu -cpu=generic -features=dotprod -threads=4 -vector=16");
  EXPECT_EQ(Must(read(R"(, "cpu": "cortex-x1", "features": ["dotprod"])")).cpu, "cortex-x1");
  const auto says = [&](const std::string& keys) { return read(keys).status().message(); };
  EXPECT_THAT(says(R"(, "features": ["dotprot"])"),
              HasSubstr("features: unknown feature `dotprot`; did you mean `dotp"));
  EXPECT_THAT(says(R"(, "features": ["avx2"])"), HasSubstr("unknown feature `avx2`"));
  EXPECT_THAT(says(R"(, "features": ["sve"])"), HasSubstr("features: `sve`: code for AArch64 uses NEON's vectors"));
  EXPECT_THAT(says(R"(, "cpu": "cortex-a77")"), HasSubstr("name one of generic, cortex-a53, "));
}

// Nothing of this machine stands for another architecture's.
TEST_F(TargetFile, AnotherArchitectureNeedsItsThreads) {
  const std::string other = Must(HostTarget()).triple[0] == 'x' ? "aarch64" : "x86_64";
  const std::string start = R"({"kind": "cpu", "triple": ")" + other + "-unknown-linux-gnu\"";
  EXPECT_THAT(Read((start + "}").c_str()).status().message(), HasSubstr("threads: missing: this machine's number"));
  EXPECT_EQ(Must(Read((start + R"(, "threads": 6})").c_str())).threads, 6);
  const Target target = Must(Read((start + R"(, "threads": 6})").c_str()));
  EXPECT_THAT(CheckRunsHere(target).message(), HasSubstr("cannot run code for " + other));
  Must(CheckRunsHere(Must(HostTarget())));
  Must(CheckRunsHere(Must(Target::Parse("cuda -arch=sm_90"))));
  ExpectRefused({{R"({"kind": "cpu", "triple": "x86_64-x", "threads": 1, "cpu": "cortex-a53"})",
                  "cpu: `cortex-a53` is a core of AArch64: add the triple aarch64-unknown-linux-gnu"}});
}

// LLVM only warns about an unknown name, and generates code for another machine than intended.
TEST_F(TargetFile, NamesMustBeKnown) {
  ExpectRefused(
      {{R"({"kind": "cpu", "triple": "x86_64-x", "features": ["avxx"]})", "features: unknown feature `avxx`; did"},
       {R"({"kind": "cpu", "triple": "x86_64-x", "features": ["fma", "avx-512f"]})", "did you mean `avx512f`"},
       {R"({"kind": "cpu", "triple": "x86_64-x", "features": ["+avx2"]})", "did you mean `avx2`"},
       {R"({"kind": "cpu", "triple": "nonsense"})", "triple: `nonsense` must begin with x86_64 or aarch64"},
       {R"({"kind": "cpu", "triple": "x86_65-unknown-linux-gnu"})", "must begin with x86_64"},
       {R"({"kind": "cpu", "triple": ""})", "must begin with x86_64"}});
  EXPECT_TRUE(Read(R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "znver4", "features": ["avx2", "fma"]})").ok());
}

// LLVM ends the process for such a target.
TEST_F(TargetFile, Avx512WithoutVlIsRefused) {
  for (const char* text :
       {R"({"kind": "cpu", "triple": "x86_64-x", "features": ["avx512f"]})",
        R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "x86-64-v3", "features": ["avx512bw"], "vector_bytes": 32})",
        R"({"kind": "cpu", "triple": "x86_64-x", "cpu": "knl", "features": ["avx2", "avx512f", "fma"]})"}) {
    auto target = Read(text);
    ASSERT_FALSE(target.ok()) << text;
    for (const char* part : {"t.json: /features: AVX-512 without `avx512vl`", "x86-64-v3"}) {
      EXPECT_THAT(target.status().message(), HasSubstr(part));
    }
  }
  auto with =
      Must(Read(R"({"kind": "cpu", "triple": "x86_64-x", "features": ["avx2", "avx512f", "avx512vl", "fma"]})"));
  EXPECT_EQ(with.vector_bytes, 64);
}

// On a host that has it, it is left out.
TEST(X86Levels, PartialAvx512IsLeftOut) {
  using Features = std::vector<std::string>;
  EXPECT_EQ(WithoutPartialAvx512({"avx2", "avx512cd", "avx512f", "fma"}), (Features{"avx2", "fma"}));
  EXPECT_EQ(WithoutPartialAvx512({"avx2", "avx512f", "avx512vl"}), (Features{"avx2", "avx512f", "avx512vl"}));
  EXPECT_EQ(WithoutPartialAvx512({"avxvnni"}), (Features{"avxvnni"}));
  EXPECT_TRUE(WithoutPartialAvx512({}).empty());
}

TEST_F(TargetFile, ReadsTheLimitsOfAGpu) {
  auto gpu = Must(Read(R"({"kind": "cuda", "arch": "sm_80", "multiprocessors": 108, "block": [512, 256, 64]})"));
  EXPECT_EQ(gpu.cpu, "sm_80");
  EXPECT_EQ(gpu.limits.multiprocessors, 108);
  EXPECT_EQ(gpu.limits.max_block, (std::array<int64_t, 3>{512, 256, 64}));
  EXPECT_EQ(Target::Parse(gpu.Text())->limits, gpu.limits);
  ExpectRefused(
      {{R"({"kind": "cuda"})", "arch"},
       {R"({"kind": "cuda", "arch": "gfx90a"})", "/arch: `gfx90a` is not an arch"},
       {R"({"kind": "opencl", "shared_bytes": -1})", "/shared_bytes: must be from 0"},
       {R"({"kind": "opencl", "block": [1, 2]})", "/block: must be 3 numbers"},
       {R"({"kind": "opencl", "block": [16, 2, 2]})", "/block: 16 threads along x"},
       {R"({"kind": "opencl", "warps": 32})", "did you mean `warp`"},
       {R"({"kind": "opencl", "warp": "wide"})", "/warp: expected an integer"},
       {R"({"kind": "opencl", "registers_per_block": 256, "registers_per_thread": 257})", "/registers_per_thread"},
       {R"({"kind": "opencl", "threads": 2})", "threads"}});
}

TEST_F(TargetFile, SharedMemoryIsWhatTheArchitectureHas) {
  auto all = Must(Read(R"({"kind": "cuda", "arch": "sm_86", "shared_bytes": 101376})"));
  EXPECT_EQ(all.limits.shared_bytes_per_block, 101376);
  const std::string refused = "101377 is more than the 101376 that a block of sm_86 can have";
  auto more = Read(R"({"kind": "cuda", "arch": "sm_86", "shared_bytes": 101377})");
  EXPECT_THAT(more.status().message(), HasSubstr("/shared_bytes: " + refused));
  EXPECT_THAT(Target::Parse("cuda -arch=sm_86 -shared=101377").status().message(),
              HasSubstr("shared_bytes: " + refused));
  EXPECT_TRUE(Target::Parse("cuda -arch=sm_90a -shared=232448").ok());
  EXPECT_TRUE(Target::Parse("cuda -arch=sm_345 -shared=1000000").ok()) << "of what is not known nothing is refused";
  EXPECT_TRUE(Target::Parse("opencl -shared=1000000").ok());
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", in KiB.
TEST(CudaArch, SharedMemoryOfABlock) {
  const std::pair<const char*, int64_t> table[] = {{"sm_61", 48}, {"sm_70", 96}, {"sm_75", 64},  {"sm_80", 163},
                                                   {"sm_86", 99}, {"sm_89", 99}, {"sm_90", 227}, {"sm_90a", 227},
                                                   {"sm_345", 0}, {"", 0}};
  for (const auto& [arch, kib] : table) EXPECT_EQ(CudaSharedBytes(arch), kib * 1024) << arch;
}

TEST_F(TargetFile, ErrorsNameFileAndKey) {
  ExpectRefused({{"{}", "kind"},
                 {R"({"kind": "gpu"})", "kind"},
                 {R"({"kind": "cpu", "thread": 2})", "threads"},
                 {R"({"kind": "cpu", "threads": 0})", "threads"},
                 {R"({"kind": "cpu", "vector_bytes": 33})", "vector_bytes"},
                 {R"({"kind": "cpu")", "t.json:1"}});
  EXPECT_EQ(ReadTargetFile(dir_.Join("none.json")).status().kind(), StatusKind::kNotFound);
}

}  // namespace
}  // namespace hone
