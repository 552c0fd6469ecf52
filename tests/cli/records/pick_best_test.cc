// hone-pick-best: what it picks, what it refuses, and when it leaves its output alone.
#include <sys/stat.h>

#include "base/rng.h"
#include "op/operator.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "records_folder.h"

namespace hone {
namespace {

class PickBestTool : public RecordsFolderTest {
 protected:
  pipeline::BestFile Best() {
    const Result<pipeline::BestFile> best = pipeline::ReadBestFile(Path("best/net.cpu.json"));
    EXPECT_TRUE(best.ok()) << best.status().message();
    return best.ok() ? *best : pipeline::BestFile();
  }

  void ExpectPicked(const CommandResult& result) {
    EXPECT_EQ(result.status.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
  }

  std::pair<int64_t, int64_t> Modified() {
    struct stat s {};
    EXPECT_EQ(stat(Path("best/net.cpu.json").c_str(), &s), 0);
    return {s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  }
};

TEST_F(PickBestTool, TakesTheFastestCorrectTrial) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 4e-3), Pruned(1, 1e-3), Ok(2, 2e-3), Ok(3, 2e-3), Failed(4, TrialError::kWrong, "x")});
  ExpectPicked(PickBest());
  const pipeline::BestEntry entry = Best().tasks.at(0);
  EXPECT_EQ(entry.source, pipeline::BestSource::kTuned);
  EXPECT_EQ(entry.trial, 2);  // the first of equals
  EXPECT_EQ(entry.median, 2e-3);
  EXPECT_EQ(entry.config->index, 2u);
  EXPECT_EQ(entry.host, "the-host");
  EXPECT_EQ(entry.recorded, "1970-01-01T00:16:40Z");
}

// Times of different machines are never compared: the newest session's machine counts.
TEST_F(PickBestTool, TakesTheNewestMachinesTimes) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 1e-3)}, "machine-1", 1000);
  Record("a", kWorkloadA, {Ok(1, 3e-3)}, "machine-2", 2000);
  ExpectPicked(PickBest());
  EXPECT_EQ(Best().tasks.at(0).trial, 1);
  EXPECT_EQ(Best().tasks.at(0).fingerprint, "machine-2");
}

TEST_F(PickBestTool, AMissingRecordFileIsAnErrorThatSaysWhatToDo) {
  WriteTaskList({{"a", kWorkloadA}});
  ExpectRefused(PickBest(), {"records/a.db: no records of task a", "ninja clean-stamps"});
  EXPECT_FALSE(Exists(Path("best/net.cpu.json")));
}

TEST_F(PickBestTool, AllowMissingTakesTheSameComputationElseTheDefault) {
  WriteTaskList({{"a", kWorkloadA}, {"b", kWorkloadB}, {"c", kWorkloadC}});
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 2e-3)});
  const CommandResult result = PickBest({"--allow-missing"});
  ExpectPicked(result);
  EXPECT_NE(result.err.find("warning: b "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("warning: c "), std::string::npos) << result.err;
  const pipeline::BestFile best = Best();
  ASSERT_EQ(best.tasks.size(), 3u);
  EXPECT_EQ(best.tasks[1].source, pipeline::BestSource::kAnchor);
  EXPECT_EQ(best.tasks[1].from, "a");
  EXPECT_EQ(best.tasks[1].trial, 1);
  EXPECT_EQ(best.tasks[2].source, pipeline::BestSource::kDefault);
  EXPECT_FALSE(best.tasks[2].config);
}

TEST_F(PickBestTool, AllowMissingWorksBeforeAnythingIsTuned) {
  WriteTaskList({{"a", kWorkloadA}});
  ExpectPicked(PickBest({"--allow-missing"}));
  EXPECT_EQ(Best().tasks.at(0).source, pipeline::BestSource::kDefault);
}

TEST_F(PickBestTool, ATaskWithoutACorrectTrialIsAnError) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Failed(0, TrialError::kCrash, "SIGSEGV"), Pruned(1, 1e-3)});
  ExpectRefused(PickBest(), {"records/a.db: no trial was correct and timed", "hone-records list records/a.db"});
  ExpectRefused(PickBest({"--allow-missing"}), {"records/a.db: "});
}

TEST_F(PickBestTool, RecordsOfAnotherTaskAreRefused) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadC, {Ok(0, 1e-3)});
  ExpectRefused(PickBest(), {"records/a.db: its records are of `dense(f32[1,16]"}, 2);
}

TEST_F(PickBestTool, DamagedAndNewerInputsAreRefusedAndLeaveTheOutputAlone) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 1e-3)});
  ExpectPicked(PickBest());
  const std::string before = Read("best/net.cpu.json");
  Write("records/a.db", Read("records/a.db").substr(0, 5000));
  ExpectRefused(PickBest(), {"records/a.db: the record file is cut short"});
  Write("tasks/net.cpu.tasks.json", "{\"version\": 9}");
  ExpectRefused(PickBest(), {"tasks/net.cpu.tasks.json: /version: version 9 is newer than this Hone reads (3)"}, 2);
  ASSERT_TRUE(Remove(Path("tasks/net.cpu.tasks.json")).ok());
  ExpectRefused(PickBest(), {"tasks/net.cpu.tasks.json: "});
  EXPECT_EQ(Read("best/net.cpu.json"), before);
}

// Those that hone-confirm compares: correct and timed, once each, not far behind the first.
TEST_F(PickBestTool, KeepsTheFinalists) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(9, 1e-3)}, "another-machine", 500);
  Outcome twin = Ok(6, 2.1e-3), other = Ok(7, 2.5e-3);
  twin.artifact_digest = "2";  // what trial 3 compiled
  other.config.template_name = "another_template";
  Record("a", kWorkloadA,
         {Ok(0, 4e-3), Pruned(1, 1e-3), Ok(2, 2e-3), Ok(3, 2.2e-3), Ok(4, 2.3e-3), twin, other,
          Failed(5, TrialError::kWrong, "x")});
  ExpectPicked(PickBest({"--finalists", "3"}));
  const pipeline::BestEntry entry = Best().tasks.at(0);
  ASSERT_EQ(entry.finalists.size(), 3u);  // the fastest of the other template rather than a third of this one
  EXPECT_EQ(entry.finalists[0].config, *entry.config);
  EXPECT_EQ(entry.finalists[0].median, 2e-3);
  EXPECT_EQ(entry.finalists[1].config.index, 3u);
  EXPECT_EQ(entry.finalists[2].config.template_name, "another_template");
  EXPECT_EQ(entry.finalists[2].trial, 7);
  ExpectPicked(PickBest({"--finalists", "0"}));
  EXPECT_TRUE(Best().tasks.at(0).finalists.empty());
}

// Timing the same choice again changes the figures, and not what hone-build reads.
TEST_F(PickBestTool, WritesTheChoiceWithoutFigures) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 1e-3), Ok(1, 2e-3)});
  ExpectPicked(PickBest({"--choice", "best/net.cpu.choice.json"}));
  const std::string best = Read("best/net.cpu.json"), choice = Read("best/net.cpu.choice.json");
  EXPECT_EQ(choice.find("median"), std::string::npos);
  Record("a", kWorkloadA, {Ok(0, 9e-4)}, "machine-1", 3000);
  ExpectPicked(PickBest({"--choice", "best/net.cpu.choice.json"}));
  EXPECT_NE(Read("best/net.cpu.json"), best);
  EXPECT_EQ(Read("best/net.cpu.choice.json"), choice);
  Record("a", kWorkloadA, {Ok(2, 8e-4)}, "machine-1", 4000);
  ExpectPicked(PickBest({"--choice", "best/net.cpu.choice.json"}));
  EXPECT_NE(Read("best/net.cpu.choice.json"), choice);
}

// Ninja's restat: trials that found nothing better stop the chain here.
TEST_F(PickBestTool, TheSameChoicesKeepTheFile) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 1e-3)});
  ExpectPicked(PickBest());
  const auto before = Modified();
  ExpectPicked(PickBest());
  EXPECT_EQ(Modified(), before);
  Record("a", kWorkloadA, {Ok(1, 5e-4)}, "machine-1", 3000);
  ExpectPicked(PickBest());
  EXPECT_NE(Modified(), before);
  EXPECT_EQ(Best().tasks.at(0).trial, 1);
}

TEST_F(PickBestTool, TrialsThatFoundNothingBetterKeepTheFile) {
  WriteTaskList({{"a", kWorkloadA}});
  Record("a", kWorkloadA, {Ok(0, 1e-3)});
  ExpectPicked(PickBest());
  const std::string before = Read("best/net.cpu.json");
  Record("a", kWorkloadA, {Ok(1, 2e-3), Failed(2, TrialError::kCompile, "x")}, "machine-1", 3000);
  ExpectPicked(PickBest());
  EXPECT_EQ(Read("best/net.cpu.json"), before);
}

// Two 3x3 convolutions of 32 channels with weights of their own, and what was measured of them: Winograd with tiles of
// 4 and 2 and a direct kernel, whose weights take 36/9, 16/9 and 1 times those of the network.
class PickBestWithinMemory : public PickBestTool {
 protected:
  void SetUp() override {
    PickBestTool::SetUp();
    Write("net.graph.json", R"json({"version": 1, "name": "net", "seed": 1,
      "inputs": [{"name": "data", "shape": [1,32,14,14]}], "outputs": ["c2"],
      "parameters": [{"name": "w1", "shape": [32,32,3,3], "init": "he", "fan_in": 288},
                     {"name": "w2", "shape": [32,32,3,3], "init": "he", "fan_in": 288}],
      "nodes": [{"name": "c1", "workload": "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)", "inputs": ["data", "w1"]},
                {"name": "c2", "workload": "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + relu",
                 "inputs": ["c1", "w2"]}]})json");
    const std::string plain = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)", relu = plain + " + relu";
    const std::string a = TaskId(*op::ParseChecked(plain), kTarget), b = TaskId(*op::ParseChecked(relu), kTarget);
    WriteTaskList({{a, plain}, {b, relu}});
    Record(a, plain, {Timed(plain, 4, 1e-3), Timed(plain, 2, 1.1e-3), Timed(plain, 0, 2e-3), Timed(plain, 0, 2.1e-3)});
    Record(b, relu, {Timed(relu, 4, 1e-3), Timed(relu, 2, 1.4e-3), Timed(relu, 0, 1.5e-3)});
  }

  // A legal point of Winograd with tiles of m, or (0) of a direct kernel; each time another one.
  Outcome Timed(const std::string& workload, int64_t m, double seconds) {
    const Result<Workload> w = op::ParseChecked(workload);
    const Result<search::TaskSpace> space = op::MakeTaskSpace(*w, *Target::Parse(kTarget));
    EXPECT_TRUE(space.ok()) << space.status().message();
    Outcome outcome = Ok(++made_, seconds);
    for (int i = 0; i < 1000; ++i) {
      const Config config = space->At(*space->SampleLegal(rng_));
      if ((config.template_name == "conv2d_winograd" ? config.Number("m") : 0) != m) continue;
      outcome.config = config;
      return outcome;
    }
    ADD_FAILURE() << "no point with m = " << m;
    return outcome;
  }

  // The tiles that were chosen; and no finalist takes more memory.
  std::vector<int64_t> Tiles() {
    std::vector<int64_t> tiles;
    for (const pipeline::BestEntry& entry : Best().tasks) {
      const auto m = [](const Config& c) { return c.template_name == "conv2d_winograd" ? c.Number("m") : 0; };
      tiles.push_back(m(*entry.config));
      for (const pipeline::Finalist& f : entry.finalists) EXPECT_LE(m(f.config), tiles.back());
    }
    return tiles;
  }

  std::vector<int64_t> TilesWithin(const std::string& times, const std::string& line) {
    const CommandResult result = PickBest({"--graph", "net.graph.json", "--memory", times});
    ExpectPicked(result);
    EXPECT_EQ(result.err, line.empty() ? "" : line + "\n");
    return Tiles();
  }

 private:
  Rng rng_{1};
  int64_t made_ = 0;
};

using M = std::vector<int64_t>;

TEST_F(PickBestWithinMemory, TheLimitTakesTheKernelsThatCostTheLeastTime) {
  ExpectPicked(PickBest({"--graph", "net.graph.json"}));
  EXPECT_EQ(Tiles(), (M{4, 4}));
  // 73.7 KB are the network's own.
  EXPECT_EQ(TilesWithin("4", "net: parameters: 295 kB of at most 295 kB"), (M{4, 4}));
  EXPECT_EQ(TilesWithin("3",
                        "net: parameters: 213 kB of at most 221 kB; 1 of 2 tasks have another kernel for it, "
                        "100 us more in all"),
            (M{2, 4}));
  EXPECT_EQ(TilesWithin("2",
                        "net: parameters: 131 kB of at most 147 kB; 2 of 2 tasks have another kernel for it, "
                        "500 us more in all"),
            (M{2, 2}));
  EXPECT_EQ(TilesWithin("1.5",
                        "net: parameters: 102 kB of at most 111 kB; 2 of 2 tasks have another kernel for it, "
                        "600 us more in all"),
            (M{2, 0}));
  EXPECT_EQ(TilesWithin("1",
                        "net: parameters: 73.7 kB of at most 73.7 kB; 2 of 2 tasks have another kernel for it, "
                        "1.50 ms more in all"),
            (M{0, 0}));
}

// The reach of a finalist is that of the fastest which is allowed: a direct kernel that is close behind the first
// direct one is compared, too, though Winograd is twice as fast.
TEST_F(PickBestWithinMemory, FinalistsAreThoseWithinTheLimit) {
  ExpectPicked(PickBest({"--graph", "net.graph.json", "--memory", "1"}));
  ASSERT_EQ(Best().tasks.at(0).finalists.size(), 2u);
  EXPECT_EQ(Best().tasks.at(0).finalists[0].median, 2e-3);
  EXPECT_EQ(Best().tasks.at(0).finalists[1].median, 2.1e-3);
}

TEST_F(PickBestWithinMemory, WhereTheLimitIsOutOfReachTheSmallestAreTakenWithAWarning) {
  // No direct kernel of the first task was measured.
  const std::string plain = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)";
  const std::string a = TaskId(*op::ParseChecked(plain), kTarget);
  ASSERT_TRUE(Remove(Path("records/" + a + ".db")).ok());
  Record(a, plain, {Timed(plain, 4, 1e-3), Timed(plain, 2, 1.1e-3)});
  const CommandResult result = PickBest({"--graph", "net.graph.json", "--memory", "1.25"});
  ExpectPicked(result);
  EXPECT_EQ(
      result.err,
      "hone-pick-best: warning: net: parameters: 102 kB with the smallest kernels that were measured; the limit of "
      "1.25 times 73.7 kB is 92.2 kB\n");
  EXPECT_EQ(Tiles(), (M{2, 0}));
}

// What is not tuned is built with its default, whose weights count.
TEST_F(PickBestWithinMemory, UntunedTasksCountAsTheirDefault) {
  const std::string plain = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)";
  const std::string a = TaskId(*op::ParseChecked(plain), kTarget);
  ASSERT_TRUE(Remove(Path("records/" + a + ".db")).ok());
  const CommandResult result = PickBest({"--graph", "net.graph.json", "--memory", "1.5", "--allow-missing"});
  ExpectPicked(result);
  EXPECT_NE(result.err.find("net: parameters: 102 kB of at most 111 kB"), std::string::npos) << result.err;
}

TEST_F(PickBestWithinMemory, ALimitThatIsNoneIsRefused) {
  for (const char* value : {"0.99", "0", "-2", "nan", "1e9", "inf", "much"}) {
    SCOPED_TRACE(value);
    ExpectRefused(PickBest({"--graph", "net.graph.json", "--memory", value}), {"hone-pick-best", "--memory"}, 2);
  }
  ExpectRefused(PickBest({"--memory", "1.25"}), {"--memory goes with --graph"}, 2);
  EXPECT_FALSE(Exists(Path("best/net.cpu.json")));
}

TEST_F(PickBestTool, MisuseIsExplained) {
  const CommandResult result = Run(HONE_PICK_BEST, {"--task", "x", "--records", "r", "--out", "o"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_EQ(result.err, "hone-pick-best: unknown flag --task; did you mean --tasks?\n");
}

}  // namespace
}  // namespace hone
