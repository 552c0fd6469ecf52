#include <cstddef>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/lock.h"
#include "build_folder.h"
#include "library/runtime/params_format.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "report/bench_file.h"

namespace hone {
namespace {

class BenchToolTest : public BuildFolderTest {
 protected:
  void SetUp() override {
    BuildFolderTest::SetUp();
    ASSERT_TRUE(Extract().status.ok());
    ASSERT_TRUE(Build().status.ok());
    Write("settings/tiny.bench.json",
          "{\"version\": 1, \"processes\": 2, \"iterations\": 4, \"warmup\": 1, \"seed\": 1}");
  }
  CommandResult Bench(std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {
        HONE_BENCH, "--lib", "out/tiny.cpu", "--settings", "settings/tiny.bench.json", "--out", "bench/tiny.cpu.json"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv);
  }
};

TEST_F(BenchToolTest, KeepsAllSamplesAndPrintsATable) {
  CommandResult result = Bench({"--baseline", "out/tiny.cpu"});
  ASSERT_TRUE(result.status.ok()) << result.err;
  EXPECT_EQ(result.out.find("\ntuned"), std::string::npos) << "it was built --untuned:\n" << result.out;
  for (const char* words : {"\nbaseline", "\nuntuned", "median", "p10", "p90", "slowest layers", "% peak"}) {
    EXPECT_NE(result.out.find(words), std::string::npos) << words << " in\n" << result.out;
  }
  auto bench = report::ReadBenchFile(Path("bench/tiny.cpu.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_EQ(bench->network, "tiny");
  EXPECT_TRUE(bench->verification.ok);
  EXPECT_LT(bench->verification.max_error, 1e-4);
  EXPECT_GT(bench->peak_flops, 0);
  ASSERT_EQ(bench->libraries.size(), 2u);
  for (const auto& library : bench->libraries) {
    ASSERT_EQ(library.processes.size(), 2u);
    for (const auto& samples : library.processes) EXPECT_EQ(samples.size(), 4u);
    EXPECT_GT(library.start_seconds, 0);
    EXPECT_GT(library.resident_bytes, 17 * 17 * 9 * 4);  // the larger convolution's weights at least
    ASSERT_EQ(library.layers.size(), 5u);                // two convolutions, pooling, flatten, dense
    EXPECT_EQ(library.layers[0].source, "default");
    EXPECT_EQ(library.layers[2].source, "fixed");
    EXPECT_EQ(library.layers[2].task, "");
  }
  EXPECT_TRUE(Exists(Path("out/tiny.cpu/tiny.reference")));
}

TEST_F(BenchToolTest, FiguresOfAnotherNetworkOrTaskAreRefusedBeforeAnythingIsTimed) {
  const auto list = pipeline::ReadTaskList(Path("tasks/tiny.cpu.tasks.json"));
  ASSERT_TRUE(list.ok() && list->tasks.size() >= 2);
  pipeline::BestFile best{"another", list->target, {}};
  for (const pipeline::TaskEntry& task : list->tasks) best.tasks.push_back({task.id, task.workload});
  const auto bench = [&] {
    Write("best/tiny.cpu.json", pipeline::BestFileText(best));
    return Bench({"--best", "best/tiny.cpu.json"});
  };
  ExpectRefused(bench(), 2, "best/tiny.cpu.json: it is about another on ");
  best.network = list->network;
  std::swap(best.tasks[0].id, best.tasks[1].id);
  ExpectRefused(bench(), 2, "best/tiny.cpu.json: the entry of task " + best.tasks[0].id + " is of another one");
  EXPECT_FALSE(Exists(Path("bench/tiny.cpu.json")));
  std::swap(best.tasks[0].id, best.tasks[1].id);
  EXPECT_TRUE(bench().status.ok());
}

// The same tools, a device's library: PoCL's in `make check`.
TEST_F(BenchToolTest, ADevicesLibraryIsTimedWithItsCopiesAndWithout) {
  setenv("POCL_KERNEL_CACHE", "0", 0);
  Write("targets/cpu.json", R"({"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64],
                                "shared_bytes": 32768})");
  ASSERT_TRUE(Extract().status.ok());
  ASSERT_TRUE(Build().status.ok());
  EXPECT_NE(Read("out/tiny.cpu/tiny.h").find("int tiny_run_device(tiny_net *net"), std::string::npos);
  Write("settings/tiny.bench.json",
        "{\"version\": 1, \"processes\": 1, \"iterations\": 3, \"warmup\": 1, \"seed\": 1}");
  const CommandResult result = Bench();
  if (result.err.find("no OpenCL") != std::string::npos) GTEST_SKIP() << result.err;
  ASSERT_TRUE(result.status.ok()) << result.err;
  EXPECT_NE(result.out.find("\nand copies"), std::string::npos) << result.out;
  auto bench = report::ReadBenchFile(Path("bench/tiny.cpu.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_TRUE(bench->verification.ok);
  EXPECT_EQ(bench->fingerprint.substr(0, 7), "opencl=");
  const report::BenchLibrary& library = bench->libraries.at(0);
  EXPECT_EQ(library.Samples().size(), 3u);
  ASSERT_EQ(library.copies.size(), 1u);
  EXPECT_EQ(library.copies[0].size(), 3u);
}

// NET_create looks at the header alone, and the kernels would be blamed for what the disk did.
TEST_F(BenchToolTest, DamagedParametersAreNamed) {
  std::string params = Read("out/tiny.cpu/tiny.params");
  const std::string good = params;
  params[params.size() / 2] = static_cast<char>(params[params.size() / 2] ^ 4);
  Write("out/tiny.cpu/tiny.params", params);
  ExpectRefused(Bench(), 1, "tiny.params: damaged: the values of `");
  Write("out/tiny.cpu/tiny.params", good.substr(0, good.size() - 64));
  ExpectRefused(Bench(), 1, "tiny.params: damaged: has ");
  params = good;
  params[sizeof(HoneParamsHeader) + 1] ^= 1;
  Write("out/tiny.cpu/tiny.params", params);
  ExpectRefused(Bench(), 1, "tiny.params: damaged in its table of contents");
  params = good;
  params[offsetof(HoneParamsHeader, digest)] ^= 1;
  Write("out/tiny.cpu/tiny.params", params);
  ExpectRefused(Bench(), 1, "tiny.params: belongs to another build");
  EXPECT_FALSE(Exists(Path("bench/tiny.cpu.json")));
}

// Every value of a parameter file doubled, with digests that agree: as if kernels had been packed wrongly.
std::string DoubledParameters(std::string params) {
  HoneParamsHeader header;
  std::memcpy(&header, params.data(), sizeof(header));
  header.table_checksum = 14695981039346656037u;
  for (uint32_t i = 0; i < header.count; ++i) {
    char* at = params.data() + sizeof(header) + i * sizeof(HoneParamsEntry);
    HoneParamsEntry entry;
    std::memcpy(&entry, at, sizeof(entry));
    for (uint64_t b = entry.offset; b < entry.offset + entry.bytes; b += sizeof(float)) {
      float value;
      std::memcpy(&value, params.data() + b, sizeof(value));
      value *= 2;
      std::memcpy(params.data() + b, &value, sizeof(value));
    }
    const std::string hex = Digest128(std::string_view(params).substr(entry.offset, entry.bytes)).Hex();
    for (size_t d = 0; d < 16; ++d)
      entry.digest[d] = static_cast<uint8_t>(std::stoi(hex.substr(2 * d, 2), nullptr, 16));
    std::memcpy(at, &entry, sizeof(entry));
    for (size_t b = 0; b < sizeof(entry); ++b) {
      header.table_checksum = (header.table_checksum ^ static_cast<unsigned char>(at[b])) * 1099511628211u;
    }
  }
  std::memcpy(params.data(), &header, sizeof(header));
  return params;
}

TEST_F(BenchToolTest, WrongOutputsAreFound) {
  Write("out/tiny.cpu/tiny.params", DoubledParameters(Read("out/tiny.cpu/tiny.params")));
  ExpectRefused(Bench(), 1, "is wrong");
  // For hone-report, which says it in all its pages.
  auto bench = report::ReadBenchFile(Path("bench/tiny.cpu.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_FALSE(bench->verification.ok);
}

// Nothing is timed while something compiles, and nothing compiles while something is timed.
TEST_F(BenchToolTest, BuildAndBenchTakeTurnsOnTheMachine) {
  auto lock = MachineLock::Open(MachineLock::DefaultPath("cpu"));
  ASSERT_TRUE(lock.ok()) << lock.status().message();
  ASSERT_TRUE(lock->LockExclusive().ok());
  CommandOptions wait;
  wait.cwd = Path("");
  wait.timeout_seconds = 1.5;
  auto build = RunCommand({HONE_BUILD, "--graph", "nets/tiny.graph.json", "--target", "targets/cpu.json", "--out",
                           "out/second", "--untuned"},
                          wait);
  EXPECT_EQ(build.status().kind(), StatusKind::kTimeout);  // it waited until it was killed
  EXPECT_FALSE(Exists(Path("out/second/libtiny.so")));
  ASSERT_TRUE(lock->LockShared().ok());
  EXPECT_TRUE(Build().status.ok());
  wait.timeout_seconds = 6;  // for the reference, on a machine with other work
  auto bench = RunCommand({HONE_BENCH, "--lib", "out/tiny.cpu"}, wait);
  EXPECT_EQ(bench.status().kind(), StatusKind::kTimeout);
  EXPECT_TRUE(Exists(Path("out/tiny.cpu/tiny.reference")));  // computing shares the machine, timing does not
}

TEST_F(BenchToolTest, AStaleReferenceIsNotTrusted) {
  ASSERT_TRUE(Bench().status.ok());
  std::string reference = Read("out/tiny.cpu/tiny.reference");
  reference[60] = static_cast<char>(reference[60] ^ 0x7f);
  Write("out/tiny.cpu/tiny.reference", reference);
  EXPECT_TRUE(Bench().status.ok());
  EXPECT_NE(Read("out/tiny.cpu/tiny.reference"), reference);
}

TEST_F(BenchToolTest, MistakesAreRefusedInOneLine) {
  ExpectRefused(Run({HONE_BENCH}), 2, "--lib");
  ExpectRefused(Run({HONE_BENCH, "--lib", "nowhere"}), 1, "hone-build");
  Write("settings/tiny.bench.json", "{\"version\": 1, \"proceses\": 2}");
  ExpectRefused(Bench(), 2, "did you mean `processes`");
  Write("settings/tiny.bench.json", "{\"version\": 1}");
  std::string params = Read("out/tiny.cpu/tiny.params");
  Write("out/tiny.cpu/tiny.params", params.substr(0, params.size() / 2));
  ExpectRefused(Bench(), 1, "tiny.params: damaged: has ");
}

}  // namespace
}  // namespace hone
