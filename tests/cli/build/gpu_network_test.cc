// A whole network's library for GPUs: linked for CUDA, by lld or, in a build without LLVM, by the small linker. In the
// latter (`make check-gpu-only`) it is also linked for OpenCL and run against the reference; only there, as a device's
// compiler takes half a minute for the kernels.
#include "common/missing.h"
#include "report/bench_file.h"
#include "test_folder.h"

namespace hone {
namespace {

class GpuNetworkTest : public TestFolder {
 protected:
  GpuNetworkTest() { timeout_seconds_ = 600; }

  // Builds the untuned library in out/, and returns hone-build's output.
  CommandResult Build(const std::string& target) {
    Write("target.json", target);
    RunOk({HONE_EXTRACT, "--network", "resnet-18", "--target", "target.json", "--graph", "resnet18.graph.json",
           "--tasks", "tasks.json", "--task-dir", "tasks"});
    return Run({HONE_BUILD, "--graph", "resnet18.graph.json", "--target", "target.json", "--untuned", "--out", "out"});
  }
};

#ifdef RUN_ON_OPENCL
TEST_F(GpuNetworkTest, OpenClGivesWhatTheReferenceGives) {
  ExpectOk(Build(R"({"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64], "shared_bytes": 32768})"));
  Write("bench.settings.json", "{\"version\": 1, \"processes\": 1, \"iterations\": 1, \"warmup\": 0, \"seed\": 1}");
  const CommandResult result =
      Run({HONE_BENCH, "--lib", "out", "--settings", "bench.settings.json", "--out", "bench.json"});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(result);
  const report::BenchFile bench = Must(report::ReadBenchFile(Path("bench.json")));
  EXPECT_TRUE(bench.verification.ok);
  EXPECT_LT(bench.verification.max_error, 1e-4);
}
#endif

TEST_F(GpuNetworkTest, CudaHasItsKernelsInside) {
  const CommandResult built = Build(R"({"kind": "cuda", "arch": "sm_80"})");
  if (const std::string why = Lacks(built, "NVRTC"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(built);
  const std::string library = Read("out/libresnet18.so");
  // A cubin is ELF for machine 190; the library contains its header unchanged.
  const std::string magic = std::string(1, '\x7f') + "ELF";
  size_t cubins = 0;
  for (size_t at = library.find(magic, 1); at != std::string::npos; at = library.find(magic, at + 1)) {
    cubins += at + 20 <= library.size() && static_cast<unsigned char>(library[at + 18]) == 190;
  }
  EXPECT_GT(cubins, 0u);
  EXPECT_NE(library.find("libdl.so.2"), std::string::npos) << "where dlopen is on older systems";
}

}  // namespace
}  // namespace hone
