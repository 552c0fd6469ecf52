// hone-pick-best: what it picks, what it rejects, and when it leaves its output alone.
#include "base/hash.h"
#include "base/rng.h"
#include "op/operator.h"
#include "pipeline/best_file.h"
#include "propose/propose.h"
#include "records_folder.h"

namespace hone {
namespace {

class PickBestTool : public RecordsFolder {
 protected:
  // Reads best/net.cpu.json.
  pipeline::BestFile Best() const { return Must(pipeline::ReadBestFile(Path("best/net.cpu.json"))); }
  // The stderr output of a successful run.
  std::string Picked(const Words& more = {}) {
    const CommandResult result = PickBest(more);
    ExpectOk(result);
    EXPECT_EQ(result.out, "");
    return result.err;
  }
  // The task list contains only task a, with these records.
  void TaskA(const std::vector<Outcome>& outcomes) {
    WriteTaskList({{"a", kWorkloadA}});
    Record("a", kWorkloadA, outcomes);
  }
};

TEST_F(PickBestTool, TakesTheFastestCorrectTrial) {
  TaskA({Ok(0, 4e-3), Pruned(1, 1e-3), Ok(2, 2e-3), Ok(3, 2e-3), Failed(4, TrialError::kWrong, "x")});
  Picked();
  const pipeline::BestEntry entry = Best().tasks.at(0);
  EXPECT_EQ(entry.source, pipeline::BestSource::kTuned);
  EXPECT_EQ(entry.trial, 2);  // the first of equals
  EXPECT_EQ(entry.median, 2e-3);
  EXPECT_EQ(entry.config->index, 2u);
  EXPECT_EQ(entry.host, "the-host");
  EXPECT_EQ(entry.recorded, "1970-01-01T00:16:40Z");
  // Times of different machines are never compared: only the newest session's machine counts.
  Record("a", kWorkloadA, {Ok(5, 3e-3)}, "machine-2", 2000);
  Picked();
  EXPECT_EQ(Best().tasks.at(0).trial, 5);
  EXPECT_EQ(Best().tasks.at(0).fingerprint, "machine-2");
}

TEST_F(PickBestTool, WarnsOfATimeThatWasTakenBesideOthers) {
  Outcome marked = Ok(1, 2e-3);
  marked.disturbed = 1;
  TaskA({Ok(0, 4e-3), marked});
  EXPECT_THAT(Picked(), HasSubstr("trial 1 was timed while other programs used the machine"));
  Record("a", kWorkloadA, {Ok(2, 1e-3)});
  EXPECT_EQ(Picked(), "");
}

// A recorded candidate is built and checked against the numerics, even if no template of this version makes it.
TEST_F(PickBestTool, TakesTrialsWhoseTemplateIsGone) {
  Outcome gone = Ok(0, 1e-3);
  gone.config.template_name = "of_long_ago";
  gone.steps = "algorithm winograd(m=6)\nunroll out k\n";
  TaskA({Ok(1, 2e-3), gone});
  Picked();
  pipeline::BestEntry entry = Best().tasks.at(0);
  EXPECT_EQ(entry.config->template_name, "of_long_ago");
  ASSERT_TRUE(entry.candidate.has_value());
  EXPECT_EQ(entry.candidate->Text(), gone.steps);
  EXPECT_EQ(entry.steps_digest, Digest128(gone.steps).Hex());
  Picked({"--winograd", "4"});
  entry = Best().tasks.at(0);
  EXPECT_EQ(entry.config->template_name, "dense");
  EXPECT_EQ(entry.candidate->Text(), "unroll out k\n");
}

// The measuring child rejects such times, but records may come from anywhere.
TEST_F(PickBestTool, SkipsTimesThatNoMachineCanReach) {
  constexpr char kLarge[] = "dense(f32[64,1024], f32[1024,1024])";  // 134 MFLOP
  WriteTaskList({{"a", kLarge}});
  Record("a", kLarge, {Ok(0, 4e-3), Ok(1, 1e-9), Ok(2, 2e-3)}, "cpu=A CPU; cores=4");
  const std::string err = Picked();
  ExpectHas(err,
            {"warning: a: trial 1: 1.00 ns for 134 MFLOP; the machine does at most 1.28 TFLOP/s: that is impossible; "
             "the trial is skipped"});
  EXPECT_EQ(Best().tasks.at(0).trial, 2);
  for (const pipeline::Finalist& finalist : Best().tasks.at(0).finalists) EXPECT_NE(finalist.trial, 1);
  // Without a machine that is known, there is no bound.
  Record("a", kLarge, {Ok(5, 1e-9)}, "machine-2", 2000);
  Picked();
  EXPECT_EQ(Best().tasks.at(0).trial, 3);
}

TEST_F(PickBestTool, SkipsTimesThatAreNoPositiveNumbers) {
  TaskA({Ok(0, 4e-3), Ok(1, 1e-3), Ok(2, 1e-3), Ok(3, 1e-3), Ok(4, 1e-3), Ok(5, 2e-3)});
  Sql("records/a.db",
      "UPDATE trial SET median = -1 WHERE ordinal = 1; UPDATE trial SET median = 0 WHERE ordinal = 2;"
      "UPDATE trial SET median = 9e999 WHERE ordinal = 3; UPDATE trial SET median = -9e999 WHERE ordinal = 4");
  const std::string err = Picked();
  ExpectHas(err, {"warning: a: trial 1: a time of -1 seconds", "warning: a: trial 2: a time of 0 seconds",
                  "warning: a: trial 3: a time of inf seconds",
                  "warning: a: further trials with impossible times, also skipped: 1"});
  EXPECT_EQ(Best().tasks.at(0).trial, 5);
  Sql("records/a.db", "UPDATE trial SET median = 9e999 WHERE ordinal IN (0, 5)");
  const CommandResult none = PickBest();
  EXPECT_EQ(none.status.code, 1);
  ExpectHas(none.err, {"records/a.db: no trial was correct and timed"});
}

TEST_F(PickBestTool, AMissingRecordFileIsAnErrorUnlessAllowed) {
  WriteTaskList({{"a", kWorkloadA}, {"b", kWorkloadB}, {"c", kWorkloadC}});
  ExpectRefused(PickBest(), 1, {"records/a.db: no records of task a", "ninja clean-stamps"});
  EXPECT_FALSE(Has("best/net.cpu.json"));
  Picked({"--allow-missing"});  // before anything is tuned
  EXPECT_EQ(Best().tasks.at(0).source, pipeline::BestSource::kDefault);
  // The same computation, else the default.
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 2e-3)});
  ExpectHas(Picked({"--allow-missing"}), {"warning: b ", "warning: c "});
  const pipeline::BestFile best = Best();
  ASSERT_EQ(best.tasks.size(), 3u);
  EXPECT_EQ(best.tasks[1].source, pipeline::BestSource::kAnchor);
  EXPECT_EQ(best.tasks[1].from, "a");
  EXPECT_EQ(best.tasks[1].trial, 1);
  EXPECT_EQ(best.tasks[2].source, pipeline::BestSource::kDefault);
  EXPECT_FALSE(best.tasks[2].config);
}

TEST_F(PickBestTool, RecordsThatCannotBeUsedAreRefusedAndLeaveTheOutputAlone) {
  TaskA({Failed(0, TrialError::kCrash, "SIGSEGV"), Pruned(1, 1e-3)});
  ExpectRefused(PickBest(), 1, {"records/a.db: no trial was correct and timed", "hone-records list records/a.db"});
  ExpectRefused(PickBest({"--allow-missing"}), 1, {"records/a.db: "});
  Record("a", kWorkloadA, {Ok(2, 1e-3)}, "machine-1", 2000);
  Picked();
  const std::string before = Read("best/net.cpu.json");
  Delete("records/a.db");
  Record("a", kWorkloadC, {Ok(0, 1e-3)});
  ExpectRefused(PickBest(), 2, {"records/a.db: its records are of `dense(f32[1,16]"});
  Write("tasks/net.cpu.tasks.json", "{\"version\": 9}");
  ExpectRefused(PickBest(), 2, {"tasks/net.cpu.tasks.json: /version: version 9 is newer than this Hone reads (3)"});
  EXPECT_EQ(Read("best/net.cpu.json"), before);
}

// The finalists for hone-confirm: correct and timed, once each, not far behind the first.
TEST_F(PickBestTool, KeepsTheFinalists) {
  Record("a", kWorkloadA, {Ok(9, 1e-3)}, "another-machine", 500);
  Outcome twin = Ok(6, 2.1e-3), other = Ok(7, 2.5e-3);
  twin.artifact_digest = "2";  // the artifact of trial 3
  other.config.template_name = "another_template";
  TaskA({Ok(0, 4e-3), Pruned(1, 1e-3), Ok(2, 2e-3), Ok(3, 2.2e-3), Ok(4, 2.3e-3), twin, other,
         Failed(5, TrialError::kWrong, "x")});
  Picked({"--finalists", "3"});
  const pipeline::BestEntry entry = Best().tasks.at(0);
  ASSERT_EQ(entry.finalists.size(), 3u);  // the fastest of the other template instead of a third of this one
  EXPECT_EQ(entry.finalists[0].config, *entry.config);
  EXPECT_EQ(entry.finalists[0].median, 2e-3);
  EXPECT_EQ(entry.finalists[1].config.index, 3u);
  EXPECT_EQ(entry.finalists[2].config.template_name, "another_template");
  EXPECT_EQ(entry.finalists[2].trial, 7);
  Picked({"--finalists", "0"});
  EXPECT_TRUE(Best().tasks.at(0).finalists.empty());
}

// Ninja's restat: trials that found nothing better stop the chain here. Timing the same choice again changes the
// figures, but not what hone-build reads.
TEST_F(PickBestTool, TheSameChoicesKeepTheFiles) {
  const Words with_choice = {"--choice", "best/net.cpu.choice.json"};
  TaskA({Ok(0, 1e-3), Ok(1, 2e-3)});
  Picked(with_choice);
  const std::string modified = Snapshot("best");
  const std::string best = Read("best/net.cpu.json"), choice = Read("best/net.cpu.choice.json");
  ExpectHasNot(choice, {"median"});
  Picked(with_choice);
  Record("a", kWorkloadA, {Ok(4, 2e-3), Failed(5, TrialError::kCompile, "x")}, "machine-1", 3000);
  Picked(with_choice);
  EXPECT_EQ(Snapshot("best"), modified);
  Record("a", kWorkloadA, {Ok(0, 9e-4)}, "machine-1", 4000);
  Picked(with_choice);
  EXPECT_NE(Read("best/net.cpu.json"), best);
  EXPECT_EQ(Read("best/net.cpu.choice.json"), choice);
  Record("a", kWorkloadA, {Ok(2, 8e-4)}, "machine-1", 5000);
  Picked(with_choice);
  EXPECT_NE(Read("best/net.cpu.choice.json"), choice);
}

// Two 3x3 convolutions of 32 channels with weights of their own and these measurements: Winograd with tiles of 4 and 2,
// and a direct kernel, whose weights take 36/9, 16/9 and 1 times those of the network.
class PickBestWithinMemory : public PickBestTool {
 protected:
  void SetUp() override {
    Write("net.graph.json", R"json({"version": 1, "name": "net", "seed": 1,
      "inputs": [{"name": "data", "shape": [1,32,14,14]}], "outputs": ["c2"],
      "parameters": [{"name": "w1", "shape": [32,32,3,3], "init": "he", "fan_in": 288},
                     {"name": "w2", "shape": [32,32,3,3], "init": "he", "fan_in": 288}],
      "nodes": [{"name": "c1", "workload": "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)", "inputs": ["data", "w1"]},
                {"name": "c2", "workload": "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + relu",
                 "inputs": ["c1", "w2"]}]})json");
    first_ = TaskId(*op::ParseChecked(kPlain), kTarget);
    const std::string second = TaskId(*op::ParseChecked(kWithRelu), kTarget);
    WriteTaskList({{first_, kPlain}, {second, kWithRelu}});
    Record(first_, kPlain,
           {Timed(kPlain, 4, 1e-3), Timed(kPlain, 2, 1.1e-3), Timed(kPlain, 0, 2e-3), Timed(kPlain, 0, 2.1e-3)});
    Record(second, kWithRelu, {Timed(kWithRelu, 4, 1e-3), Timed(kWithRelu, 2, 1.4e-3), Timed(kWithRelu, 0, 1.5e-3)});
  }

  static int64_t SizeOf(const Config& c) {
    return c.template_name.starts_with("transformed_m") ? c.template_name.back() - '0' : 0;
  }

  // A legal point of Winograd with tiles of m, or (0) of a direct kernel; a new one each time.
  Outcome Timed(const std::string& workload, int64_t m, double seconds) {
    const Result<Workload> w = op::ParseChecked(workload);
    const search::TaskSpace space = Must(propose::MakeTaskSpace(*w, *Target::Parse(kTarget)));
    Outcome outcome = Ok(++made_, seconds);
    for (int i = 0; i < 1000; ++i) {
      const Config config = space.At(*space.SampleLegal(rng_));
      if (SizeOf(config) != m) continue;
      outcome.config = config;
      outcome.steps = Must(propose::Instantiate(*w, *Target::Parse(kTarget), config)).Text();
      return outcome;
    }
    ADD_FAILURE() << "no point with m = " << m;
    return outcome;
  }

  // The chosen tiles; also checks that no finalist takes more memory.
  std::vector<int64_t> Tiles() {
    std::vector<int64_t> tiles;
    for (const pipeline::BestEntry& entry : Best().tasks) {
      tiles.push_back(SizeOf(*entry.config));
      for (const pipeline::Finalist& f : entry.finalists) EXPECT_LE(SizeOf(f.config), tiles.back());
    }
    return tiles;
  }

  // The stderr output with a limit of this multiple of the network's own weights.
  std::string PickedWithin(const std::string& times, const Words& more = {}) {
    return Picked(Words{"--graph", "net.graph.json", "--memory", times} + more);
  }

  static constexpr char kPlain[] = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1)";
  static constexpr char kWithRelu[] = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + relu";
  std::string first_;  // id of the first task

 private:
  Rng rng_{1};
  int64_t made_ = 0;
};

using M = std::vector<int64_t>;

TEST_F(PickBestWithinMemory, TheLimitTakesTheKernelsThatCostTheLeastTime) {
  Picked({"--graph", "net.graph.json"});
  EXPECT_EQ(Tiles(), (M{4, 4}));
  struct Row {
    std::string times, line;
    M tiles;
  };
  const std::string with = " tasks have another kernel for it, ";
  // The network's own weights take 73.7 KB.
  for (const Row& row :
       std::vector<Row>{{"4", "295 kB of at most 295 kB", {4, 4}},
                        {"3", "213 kB of at most 221 kB; 1 of 2" + with + "100 us more in all", {2, 4}},
                        {"2", "131 kB of at most 147 kB; 2 of 2" + with + "500 us more in all", {2, 2}},
                        {"1.5", "102 kB of at most 111 kB; 2 of 2" + with + "600 us more in all", {2, 0}},
                        {"1", "73.7 kB of at most 73.7 kB; 2 of 2" + with + "1.50 ms more in all", {0, 0}}}) {
    EXPECT_EQ(PickedWithin(row.times), "net: parameters: " + row.line + "\n");
    EXPECT_EQ(Tiles(), row.tiles) << row.times;
  }
  // A finalist's reach is relative to the fastest allowed kernel: a direct kernel close to the best direct one is also
  // compared, although Winograd is twice as fast.
  ASSERT_EQ(Best().tasks.at(0).finalists.size(), 2u);
  EXPECT_EQ(Best().tasks.at(0).finalists[0].median, 2e-3);
  EXPECT_EQ(Best().tasks.at(0).finalists[1].median, 2.1e-3);
}

// Their bytes are computed from the recorded algorithm and steps.
TEST_F(PickBestWithinMemory, TrialsWhoseTemplateIsGoneCount) {
  for (const char* workload : {kPlain, kWithRelu}) {
    std::vector<Outcome> outcomes;
    for (const auto& [m, seconds] : std::vector<std::pair<int64_t, double>>{{4, 8e-4}, {2, 9e-4}}) {
      Outcome outcome = Timed(workload, m, seconds);
      outcome.steps =
          propose::Instantiate(*op::ParseChecked(workload), *Target::Parse(kTarget), outcome.config)->Text();
      outcome.config.template_name = "of_long_ago";
      outcomes.push_back(std::move(outcome));
    }
    Record(TaskId(*op::ParseChecked(workload), kTarget), workload, outcomes, "machine-2", 2000);
  }
  const auto algorithms = [&] {
    std::vector<int64_t> m;
    for (const pipeline::BestEntry& entry : Best().tasks) m.push_back(entry.candidate->algorithm.Number("m", 0));
    return m;
  };
  PickedWithin("4");
  EXPECT_EQ(algorithms(), (M{4, 4}));
  EXPECT_EQ(PickedWithin("2"),
            "net: parameters: 131 kB of at most 147 kB; 2 of 2 tasks have another kernel for it, 200 us more in all\n");
  EXPECT_EQ(algorithms(), (M{2, 2}));
}

TEST_F(PickBestWithinMemory, ACapOnWinogradLeavesTheKernelsBeyondItOut) {
  Picked({"--graph", "net.graph.json", "--winograd", "2"});
  EXPECT_EQ(Tiles(), (M{2, 2}));
  Picked({"--graph", "net.graph.json", "--winograd", "off"});
  EXPECT_EQ(Tiles(), (M{0, 0}));
}

// If the limit is out of reach, the smallest kernels are taken with a warning; untuned tasks count as their default.
TEST_F(PickBestWithinMemory, WithoutASmallKernelOrRecordsOfATask) {
  Delete("records/" + first_ + ".db");
  ExpectHas(PickedWithin("1.5", {"--allow-missing"}), {"net: parameters: 107 kB of at most 111 kB"});
  Record(first_, kPlain, {Timed(kPlain, 4, 1e-3), Timed(kPlain, 2, 1.1e-3)});
  EXPECT_EQ(
      PickedWithin("1.25"),
      "hone-pick-best: warning: net: parameters: 102 kB with the smallest kernels that were measured; the limit of "
      "1.25 times 73.7 kB is 92.2 kB\n");
  EXPECT_EQ(Tiles(), (M{2, 0}));
}

TEST_F(PickBestWithinMemory, ALimitThatIsNoneIsRefused) {
  for (const char* value : {"0.99", "0", "-2", "nan", "1e9", "inf", "much"}) {
    SCOPED_TRACE(value);
    ExpectRefused(PickBest({"--graph", "net.graph.json", "--memory", value}), 2, {"hone-pick-best", "--memory"});
  }
  ExpectRefused(PickBest({"--memory", "1.25"}), 2, {"--memory goes with --graph"});
  EXPECT_FALSE(Has("best/net.cpu.json"));
}

}  // namespace
}  // namespace hone
