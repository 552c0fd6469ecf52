#include <fmt/format.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "build_folder.h"
#include "common/missing.h"
#include "report/bench_file.h"

namespace hone {
namespace {

class BenchToolTest : public BuildFolder {
 protected:
  void SetUp() override {
    BuildFolder::SetUp();
    ExtractAndBuild();
    Settings(2, 4);
  }
  void Settings(int processes, int iterations) {
    Write("settings/tiny.bench.json",
          fmt::format(R"({{"version": 1, "processes": {}, "iterations": {}, "warmup": 1, "seed": 1}})", processes,
                      iterations));
  }
  CommandResult Bench(const Words& more = {}) {
    return Run(Words{HONE_BENCH, "--lib", "out/tiny.cpu", "--settings", "settings/tiny.bench.json", "--out",
                     "bench/tiny.cpu.json"} +
               more);
  }
  report::BenchFile Written() const { return Must(report::ReadBenchFile(Path("bench/tiny.cpu.json"))); }
};

TEST_F(BenchToolTest, KeepsAllSamplesAndPrintsATable) {
  const CommandResult result = Bench({"--baseline", "out/tiny.cpu"});
  ExpectOk(result);
  ExpectHasNot(result.out, {"\ntuned"});  // it was built --untuned
  ExpectHas(result.out, {"\nbaseline", "\nuntuned", "median", "p10", "p90", "slowest layers", "% peak"});
  const report::BenchFile bench = Written();
  EXPECT_EQ(bench.network, "tiny");
  EXPECT_TRUE(bench.verification.ok);
  EXPECT_LT(bench.verification.max_error, 1e-4);
  EXPECT_GT(bench.peak_flops, 0);
  ASSERT_EQ(bench.libraries.size(), 2u);
  for (const auto& library : bench.libraries) {
    ASSERT_EQ(library.processes.size(), 2u);
    for (const auto& samples : library.processes) EXPECT_EQ(samples.size(), 4u);
    ASSERT_EQ(library.pace.size(), 2u);
    for (const auto& samples : library.pace) EXPECT_EQ(samples.size(), 4u);
    EXPECT_GT(library.start_seconds, 0);
    EXPECT_GT(library.resident_bytes, 17 * 17 * 9 * 4);  // at least the larger convolution's weights
    ASSERT_EQ(library.layers.size(), 5u);                // two convolutions, pooling, flatten, dense
    EXPECT_EQ(library.layers[0].source, "default");
    EXPECT_EQ(library.layers[2].source, "fixed");
    EXPECT_EQ(library.layers[2].task, "");
  }
  // A stale reference is not trusted.
  std::string reference = Read("out/tiny.cpu/tiny.reference");
  reference[60] = static_cast<char>(reference[60] ^ 0x7f);
  Write("out/tiny.cpu/tiny.reference", reference);
  ExpectOk(Bench());
  EXPECT_NE(Read("out/tiny.cpu/tiny.reference"), reference);
}

TEST_F(BenchToolTest, FiguresOfAnotherNetworkOrTaskAreRefusedBeforeAnythingIsTimed) {
  const pipeline::TaskList list = List();
  ASSERT_GE(list.tasks.size(), 2u);
  pipeline::BestFile best{"another", list.target, {}};
  for (const pipeline::TaskEntry& task : list.tasks) best.tasks.push_back({{}, task.id, task.workload});
  const auto bench = [&] {
    Write("best/tiny.cpu.json", pipeline::BestFileText(best));
    return Bench({"--best", "best/tiny.cpu.json"});
  };
  ExpectRefused(bench(), 2, {"best/tiny.cpu.json: it is about another on "});
  best.network = list.network;
  std::swap(best.tasks[0].id, best.tasks[1].id);
  ExpectRefused(bench(), 2, {"best/tiny.cpu.json: the entry of task " + best.tasks[0].id + " is of another one"});
  EXPECT_FALSE(Has("bench/tiny.cpu.json"));
  std::swap(best.tasks[0].id, best.tasks[1].id);
  ExpectOk(bench());
}

// The same tools with a library for a device: PoCL's in `make check`.
TEST_F(BenchToolTest, ADevicesLibraryIsTimedWithItsCopiesAndWithout) {
  setenv("POCL_KERNEL_CACHE", "0", 0);
  Write("targets/cpu.json", R"({"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64],
                                "shared_bytes": 32768})");
  ExtractAndBuild();
  ExpectHas(Read("out/tiny.cpu/tiny.h"), {"int tiny_run_device(tiny_net *net"});
  Settings(1, 3);
  const CommandResult result = Bench();
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(result);
  ExpectHas(result.out, {"\nand copies"});
  const report::BenchFile bench = Written();
  EXPECT_TRUE(bench.verification.ok);
  EXPECT_EQ(bench.fingerprint.substr(0, 7), "opencl=");
  const report::BenchLibrary& library = bench.libraries.at(0);
  EXPECT_EQ(library.Samples().size(), 3u);
  ASSERT_EQ(library.copies.size(), 1u);
  EXPECT_EQ(library.copies[0].size(), 3u);
}

// The graph beside the library has other parameters, as if kernels had been packed wrongly.
TEST_F(BenchToolTest, WrongOutputsAreFound) {
  const std::string graph = Read("out/tiny.cpu/tiny.graph.json"), manifest = Read("out/tiny.cpu/manifest.json");
  const std::string other = ReplaceAll(graph, "\"seed\": 3", "\"seed\": 4");
  ASSERT_NE(other, graph);
  Write("out/tiny.cpu/tiny.graph.json", other);
  Write("out/tiny.cpu/manifest.json", ReplaceAll(manifest, Digest128(graph).Hex(), Digest128(other).Hex()));
  ExpectRefused(Bench(), 1, {"is wrong"});
  EXPECT_FALSE(Written().verification.ok);  // for hone-report, which shows it on all its pages
}

// Nothing is timed while something compiles, and the other way round.
TEST_F(BenchToolTest, BuildAndBenchTakeTurnsOnTheMachine) {
  MachineLock lock = Must(MachineLock::Open(MachineLock::DefaultPath("cpu")));
  Must(lock.LockExclusive());
  Subprocess build = Start({HONE_BUILD, "--graph", "nets/tiny.graph.json", "--target", "targets/cpu.json", "--out",
                            "out/second", "--untuned"});
  EXPECT_EQ(build.Wait(1.5).status().kind(), StatusKind::kTimeout);
  build.KillAndWait();
  EXPECT_FALSE(Has("out/second/libtiny.so"));
  lock.Unlock();
  ExpectOk(Build());
  // Computing shares the machine, timing does not. Another test's program that waits to time lets nobody share: then
  // again, once it had its turn.
  bool computed = false;
  for (int attempt = 0; attempt < 20 && !computed; ++attempt) {
    Must(lock.LockShared());
    Subprocess bench = Start({HONE_BENCH, "--lib", "out/tiny.cpu"});
    for (int i = 0; i < 50 && !computed; ++i) {
      RealClock()->SleepSeconds(0.1);
      computed = Has("out/tiny.cpu/tiny.reference");
    }
    EXPECT_EQ(bench.Wait(1.5).status().kind(), StatusKind::kTimeout);
    bench.KillAndWait();
    lock.Unlock();
  }
  EXPECT_TRUE(computed);
}

TEST_F(BenchToolTest, SamplesOfEqualInputsStay) {
  ExpectOk(Bench({"--baseline", "out/tiny.cpu"}));
  const std::string first = Read("bench/tiny.cpu.json");
  const CommandResult same = Bench({"--baseline", "out/tiny.cpu"});
  ExpectOk(same);
  ExpectHas(same.err, {"bench/tiny.cpu.json: nothing changed since ", "--again"});
  ExpectHas(same.out, {"\nbaseline", "speedup"});
  EXPECT_EQ(Read("bench/tiny.cpu.json"), first) << "too few processes are no reason";
  // Other settings, another set of libraries, the user's word and a damaged file are reasons.
  const auto moves = [&](const Words& more) {
    const std::string before = Read("bench/tiny.cpu.json");
    ExpectHasNot(Bench(more).err, {"nothing changed"});
    EXPECT_NE(Read("bench/tiny.cpu.json"), before);
  };
  moves({"--baseline", "out/tiny.cpu", "--again"});
  moves({});
  Settings(2, 5);
  moves({});
  Write("bench/tiny.cpu.json", "{}");
  moves({});
  // So are other figures of tuning, and a manifest that says other things about the same library.
  const pipeline::TaskList list = List();
  pipeline::BestFile best{list.network, list.target, {}};
  for (const pipeline::TaskEntry& task : list.tasks) best.tasks.push_back({{}, task.id, task.workload});
  const Words with_best = {"--best", "best/tiny.cpu.json"};
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  moves(with_best);
  ExpectHas(Bench(with_best).err, {"nothing changed"});
  best.partition = {.alone_seconds = 2, .chosen_seconds = 1, .taken = 1};
  Write("best/tiny.cpu.json", pipeline::BestFileText(best));
  moves(with_best);
  const std::string manifest = Read("out/tiny.cpu/manifest.json");
  Write("out/tiny.cpu/manifest.json", ReplaceAll(manifest, "\"default\"", "\"tuned\""));
  ASSERT_NE(Read("out/tiny.cpu/manifest.json"), manifest);
  moves({});
  EXPECT_EQ(Written().libraries.at(0).layers.at(0).source, "tuned");
}

TEST_F(BenchToolTest, ResultsOfABusyMachineAndWrongOnesAreMeasuredAgain) {
  const Words both = {"--baseline", "out/tiny.cpu"};
  ExpectOk(Bench(both));
  // The same file with enough processes: quiet ones stay, and ones that vary by 30 % do not.
  const auto with = [&](double noise) {
    report::BenchFile bench = Written();
    for (report::BenchLibrary& library : bench.libraries) {
      library.processes.clear();
      library.pace.clear();
      for (int i = 0; i < 8; ++i) library.processes.push_back({1e-4 * (1 + noise * i / 7), 1e-4 * (1 + noise * i / 7)});
    }
    Write("bench/tiny.cpu.json", report::BenchFileText(bench));
  };
  with(0.01);
  const std::string quiet = Read("bench/tiny.cpu.json");
  ExpectHas(ExpectOk(Bench(both)).err, {"nothing changed"});
  EXPECT_EQ(Read("bench/tiny.cpu.json"), quiet);
  with(0.3);
  ExpectHasNot(ExpectOk(Bench(both)).err, {"nothing changed"});
  EXPECT_EQ(Written().libraries.at(0).processes.size(), 2u);

  report::BenchFile wrong = Written();
  wrong.verification.ok = false;
  Write("bench/tiny.cpu.json", report::BenchFileText(wrong));
  ExpectHasNot(ExpectOk(Bench(both)).err, {"nothing changed"});
  EXPECT_TRUE(Written().verification.ok);
}

TEST_F(BenchToolTest, MistakesAreRefusedInOneLine) {
  ExpectRefused(Run({HONE_BENCH}), 2, {"--lib"});
  ExpectRefused(Run({HONE_BENCH, "--lib", "nowhere"}), 1, {"hone-build"});
  Write("settings/tiny.bench.json", "{\"version\": 1, \"proceses\": 2}");
  ExpectRefused(Bench(), 2, {"did you mean `processes`"});
}

}  // namespace
}  // namespace hone
