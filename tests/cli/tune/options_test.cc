// Options of a job besides tuner and budget: donors, AutoTVM's ways, an expected gain.
#include "base/sandbox.h"
#include "tune_folder.h"

namespace hone {
namespace {

constexpr char kLarger[] = "conv2d(f32[1,64,14,14], f32[64,64,3,3], pad=1,1,1,1) + bias";

class OptionsTest : public TuneFolder {
 protected:
  // The trials of a separate job.
  std::vector<uint64_t> Tried(const Words& more) {
    Reset();
    TuneOk(more);
    return Indices();
  }
  std::string SettingsOfStamp() const { return Stamp()["inputs"]["settings"]; }

  // Tunes kLarger into other.db; afterwards the task file is this folder's own again.
  void TuneOther() {
    const std::string mine = Read("t.json");
    WriteTask(kLarger);
    ExpectOk(TuneTask({"--settings", "s.json", "--db", "other.db", "--stamp", "other.done", "--fake-measure", "7"}));
    Write("t.json", mine);
  }
};

TEST_F(OptionsTest, DonorsAreReadAndNamedInTheStampOrRefused) {
  TuneOther();
  const auto with = Tried(kFake + Words{"--donor", "other.db"});
  EXPECT_EQ(Stamp()["donors"], Json::array({TaskId(*Workload::Parse(kLarger), HostTarget()->Text())}));
  EXPECT_EQ(Tried(kFake), with) << "the tuner of this job learns nothing";
  // Replays a job's records with donors, which are read, rejected and reported as in a job.
  const auto replay = [&](const std::string& donor) {
    return Run({HONE_REPLAY, kDb, "--seeds", "2", "--trials", "8", "--donor", donor});
  };
  const CommandResult good = replay("other.db");
  ExpectOk(good);
  ExpectHas(good.out, {"| auto |"});
  ExpectHasNot(good.err, {"donor"});
  const CommandResult self = replay(kDb);
  EXPECT_EQ(self.status.code, kMisused);
  ExpectHas(self.err, {"these are the records of this task itself"});
  // It seems to be another machine, by its simulated times.
  const std::string rejected = "donor rejected: other.db";
  Reset();
  ExpectHas(TuneOk({"--fake-measure", "8", "--donor", "other.db"}).err,
            {rejected + ": 40 of its 40 trials are of another machine"});
  ExpectHas(ExpectOk(replay("other.db")).err, {rejected});
  // From another device.
  Reset();
  ASSERT_TRUE(record::Store::OpenForWriting(Path("device.db"), {"x", kLarger, "cpu -features=none", {}}).ok());
  ExpectMisused(Tune({"--fake-measure", "8", "--donor", "device.db"}), "of the device `cpu -features=none`");
  EXPECT_FALSE(Has(kDb));
}

// AutoTVM's first generation has 100 points, Hone's 16: from the 17th trial on, one of them has learnt.
TEST_F(OptionsTest, LikeIsAFlagOrASettingAndReachesTheTuner) {
  const Words ga = {"--fake-measure", "7", "--tuner", "ga"};
  const std::vector<uint64_t> ours = Tried(ga);
  const std::string settings = SettingsOfStamp();
  const std::vector<uint64_t> theirs = Tried(ga + Words{"--like", "autotvm"});
  ASSERT_EQ(ours.size(), 40U);
  ASSERT_EQ(theirs.size(), 40U);
  EXPECT_NE(theirs, ours);
  EXPECT_NE(SettingsOfStamp(), settings);
  WriteSettings(40, R"(, "like": "autotvm")");
  EXPECT_EQ(Tried(ga), theirs);
  Reset();
  ExpectMisused(Tune(ga + Words{"--like", "autotmv"}), "--like: knows no `autotmv`; did you mean `autotvm`?");
  ExpectMisused(Tune(ga + Words{"--mode", "boht"}), "--mode: knows no `boht`; did you mean `both`?");
}

// Templates and a sketch of one's own in one pool, or one kind of them.
TEST_F(OptionsTest, TheModeChoosesWhoProposes) {
  Write("mine.sketch", "sketch mine\ndecide rows 1 2 7\nsplit out oh [{rows}] -> o i\nparallel out o\n");
  const auto proposers = [&](const Words& more) {
    Reset();
    TuneOk(kFake + Words{"--tuner", "auto"} + more);
    std::set<std::string> names;
    for (const record::Trial& trial : Trials()) names.insert(trial.outcome.config.template_name);
    return names;
  };
  WriteTask(kDense);
  EXPECT_EQ(proposers({}), (std::set<std::string>{"dense_packed", "sums"}));
  EXPECT_EQ(proposers({"--mode", "templates"}), std::set<std::string>{"dense_packed"});
  EXPECT_EQ(proposers({"--mode", "sketches"}), std::set<std::string>{"sums"});
  WriteTask(kConv);
  const Words own = {"--sketch", "mine.sketch"};
  const std::set<std::string> sketches = {"mine",           "sums",           "transformed_m2",
                                          "transformed_m4", "transformed_m5", "transformed_m6"};
  EXPECT_EQ(proposers(own), sketches);
  EXPECT_EQ(proposers(own + Words{"--mode", "templates"}), sketches) << "it has no template";
  std::string mine;
  for (const record::Trial& trial : Trials()) {
    if (trial.outcome.config.Text() == "mine rows=1") mine = std::to_string(trial.ordinal);
  }
  ExpectHas(ExpectOk(TuneTask({"--db", kDb, "--explain", mine})).out, {"mine rows=1", "split out oh [1] -> o i"});
  // Winograd is listed as far as it is allowed.
  const auto list = [&](const Words& more) { return ExpectOk(TuneTask(more + Words{"--list-sketches"})).out; };
  ExpectHas(list({}), {"sketch sums\n", "sketch transformed_m4\nalgorithm winograd(m=4, tiles="});
  WriteSettings(40, R"(, "mode": "sketches", "numerics": {"winograd": 2})");
  const Words settings = {"--settings", "s.json"};
  ExpectHas(list(settings), {"sketch sums\n", "sketch transformed_m2\n"});
  EXPECT_THAT(list(settings), Not(HasSubstr("transformed_m4")));
  WriteSettings(40, R"(, "mode": "sketches", "numerics": {"winograd": 0})");
  EXPECT_THAT(list(settings), Not(HasSubstr("algorithm")));
  Reset();
  TuneOk(kFake + Words{"--tuner", "random"});
  for (const record::Trial& trial : Trials()) EXPECT_EQ(trial.outcome.config.template_name, "sums");
  WriteSettings(40);
  // A sketch that comes when the budget is spent.
  Reset();
  TuneOk(kFake);
  ExpectHas(TuneOk(kFake + Words{"--sketch", "mine.sketch"}).err, {"sketch `mine` has not been tried: raise `trials`"});
  Write("mine.sketch", "sketch mine\nparalel out oh\n");
  Reset();
  ExpectMisused(Tune(kFake + Words{"--sketch", "mine.sketch"}), "mine.sketch:2:1: unknown step `paralel`");
}

// A trial becomes a sketch that gives the same steps: with the decisions of a sketch, or plain for a template.
TEST_F(OptionsTest, ATrialIsWrittenAsASketchAndReadBack) {
  Write("mine.sketch", "sketch mine\ndecide rows 1 2 7\nsplit out oh [{rows}] -> o i\nparallel out o\n");
  const auto written = [&](const Words& own) {
    Reset();
    TuneOk(kFake + Words{"--tuner", "auto"} + own);
    std::set<std::string> names;
    for (const record::Trial& trial : Trials()) {
      const std::string& by = trial.outcome.config.template_name;
      const Words write = {"--db", kDb, "--write-sketch", std::to_string(trial.ordinal)};
      if (trial.outcome.steps.empty() || !names.insert(by).second) continue;  // of a failed trial
      const std::string text = ExpectOk(TuneTask(write + own)).out;
      EXPECT_EQ(text.find("sketch " + by + ".trial" + std::to_string(trial.ordinal) + "\n"), 0U) << text;
      const bool tiles = by.starts_with("transformed_m");
      EXPECT_EQ(text.find("\nalgorithm winograd(m=") != std::string::npos, tiles) << text;
      const std::string rows = by == "mine" ? fmt::format("decide rows {}\n", trial.outcome.config.Number("rows")) : "";
      EXPECT_EQ(text.find("\ndecide ") != std::string::npos, by != "dense_packed") << text;
      EXPECT_THAT(text, HasSubstr(rows));
      Write("again.sketch", text);
      const std::string db = "records/" + by + ".db";
      ExpectOk(Run(Words{HONE_TUNE, "--task", "t.json", "--settings", "s.json", "--db", db, "--stamp", "stamps/again"} +
                   kFake + Words{"--tuner", "auto", "--mode", "sketches", "--sketch", "again.sketch"}));
      const auto trials = Must(Must(record::Store::OpenForReading(Path(db)))->Trials());
      const auto again = std::find_if(trials.begin(), trials.end(), [](const record::Trial& t) {
        return t.outcome.config.template_name.find(".trial") != std::string::npos;
      });
      EXPECT_NE(again, trials.end()) << by;
      if (again != trials.end()) {
        EXPECT_EQ(again->outcome.steps, trial.outcome.steps);
      }
    }
    return names;
  };
  const std::set<std::string> names = written({"--sketch", "mine.sketch"});
  for (const char* by : {"mine", "sums", "transformed_m4"}) EXPECT_EQ(names.count(by), 1U) << by;
  WriteTask(kDense);
  EXPECT_EQ(written({}).count("dense_packed"), 1U);
}

TEST_F(OptionsTest, TheTunerOfTheCommandLineIsTheJobs) {
  const std::vector<uint64_t> in_order = Tried(kFake + Words{"--tuner", "grid"});
  const std::string settings = SettingsOfStamp();
  const std::vector<uint64_t> random = Tried(kFake);  // as in the settings
  ASSERT_EQ(in_order.size(), 40U);
  // The first is the default.
  EXPECT_TRUE(std::is_sorted(in_order.begin() + 1, in_order.end()));
  EXPECT_FALSE(std::is_sorted(random.begin() + 1, random.end()));
  EXPECT_NE(SettingsOfStamp(), settings);
  Reset();
  ExpectMisused(Tune(kFake + Words{"--tuner", "gird"}), "--tuner: unknown tuner `gird`; did you mean `grid`?");
  EXPECT_FALSE(Has(kDb));
}

TEST_F(OptionsTest, AnExpectedGainThatNothingReachesEndsItAndTheStampSaysSo) {
  WriteSettings(400, R"(, "expected_gain": 1)");
  const Words by_auto = kFake + Words{"--tuner", "auto"};
  const CommandResult result = TuneOk(by_auto);
  EXPECT_EQ(Stamp()["met_by"], "expected-gain");
  EXPECT_EQ(Stamp()["trials"].get<int>() % 16, 0);
  ExpectHas(result.err, {"the tuner expects to gain less than 100 %"});
  const auto trials = Indices();
  TuneOk(by_auto);
  EXPECT_EQ(Indices(), trials);
}

// With the real compiler and clock. Each sample is a block of runs, so there are as many samples as blocks.
TEST_F(OptionsTest, NumberAndRepeatTimeInBlocks) {
  WriteSettings(3, R"(, "measure": {"number": 2, "repeat": 4, "min_repeat_ms": 0.2, "timeout_seconds": 120,
                                    "finalists": 0})");
  TuneOk({});
  const auto trials = Trials();
  ASSERT_EQ(trials.size(), 3u);
  for (const record::Trial& trial : trials) {
    ASSERT_EQ(trial.outcome.state, TrialState::kOk) << trial.outcome.error_text;
    if (!trial.outcome.samples.empty()) {
      EXPECT_EQ(trial.outcome.samples.size(), 4u);
    }
  }
  // Times of the adaptive protocol are not compared with these.
  WriteSettings(3, R"(, "measure": {"candidate_seconds": 0.02, "timeout_seconds": 120, "finalists": 0})");
  TuneOk({});
  EXPECT_EQ(Trials().size(), 6u);
}

// The doctor only looks at the machine: it needs no task or files.
TEST_F(OptionsTest, TheDoctorSaysWhatTheMachineIs) {
  const std::string out = "\n" + RunOk({HONE_DOCTOR});
  ExpectHas(out, {"\ncpu ", "\nload ", "\nsandbox ", "\ncompiler ", "\ncuda ", "\nopencl "});
  for (const bool device : {false, true}) {
    const auto layers = TrySandbox(device ? DeviceSandbox() : SandboxOptions());
    ASSERT_TRUE(layers.ok());
    for (const TriedLayer& layer : *layers) {
      ExpectHas(out, {(device ? "\ngpu sandbox " : "\nsandbox     ") + layer.name + ": " +
                      (layer.holds ? layer.text : "does not hold\n            ! " + layer.advice) + "\n"});
    }
  }
}

}  // namespace
}  // namespace hone
