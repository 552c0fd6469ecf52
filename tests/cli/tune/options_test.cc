// What a job may ask of tuning beside a tuner and a budget: a cap on numerics, donors, AutoTVM's ways, an expected
// gain.
#include <algorithm>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "target/target.h"
#include "task/workload.h"
#include "tune_folder.h"

namespace hone {
namespace {

constexpr char kLarger[] = "conv2d(f32[1,64,14,14], f32[64,64,3,3], pad=1,1,1,1) + bias";

class OptionsTest : public TuneFolder {
 protected:
  static constexpr size_t kTrials = 200;  // of the tests of a cap: few points of a space are Winograd's

  void RunOk(const std::vector<std::string>& more) {
    const CommandResult result = Run(more);
    ASSERT_EQ(result.status.code, kDone) << result.err;
  }

  // The largest m of the Winograd trials from `begin` on; 0 if there are none.
  int64_t LargestTile(size_t begin) const {
    int64_t largest = 0;
    const auto trials = Trials();
    for (size_t i = begin; i < trials.size(); ++i) {
      const Config& config = trials[i].outcome.config;
      if (config.template_name == "conv2d_winograd") largest = std::max(largest, config.Number("m"));
    }
    return largest;
  }

  void WriteCap(int cap) {
    WriteSettings(static_cast<int>(kTrials), ", \"numerics\": {\"winograd\": " + std::to_string(cap) + "}");
  }

  // Records of kLarger, in other.db; the task file is this folder's own again.
  void TuneOther() {
    const std::string mine = *ReadFile(Path("t.json"));
    WriteTask(kLarger);
    const CommandResult result = RunOnly({"--task", Path("t.json"), "--settings", Path("s.json"), "--db",
                                          Path("other.db"), "--stamp", Path("other.done"), "--fake-measure", "7"});
    ASSERT_EQ(result.status.code, kDone) << result.err;
    ASSERT_TRUE(WriteFileAtomic(Path("t.json"), mine).ok());
  }
};

TEST_F(OptionsTest, ACapIsKeptAndEachCapMeasuresWhatItIsMissing) {
  WriteTask("conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias");
  WriteCap(0);
  RunOk(kFake);
  ASSERT_EQ(Trials().size(), kTrials);
  EXPECT_EQ(LargestTile(0), 0);
  WriteCap(6);
  RunOk(kFake);
  ASSERT_EQ(Trials().size(), 2 * kTrials) << "what was found without Winograd does not stand for a search with it";
  EXPECT_GT(LargestTile(kTrials), 2) << "choose another seed for this test";
  WriteCap(2);
  RunOk(kFake);
  const size_t all = Trials().size();
  EXPECT_GT(all, 2 * kTrials);
  EXPECT_LT(all, 3 * kTrials) << "some trials of the wider search are allowed";
  EXPECT_LE(LargestTile(2 * kTrials), 2);
  for (const int cap : {0, 2, 6}) {
    WriteCap(cap);
    RunOk(kFake);
    EXPECT_EQ(Trials().size(), all) << cap;
  }
}

TEST_F(OptionsTest, ADenseLayerIsNotMeasuredAgainForACap) {
  WriteTask("dense(f32[1,64], f32[128,64])");
  WriteCap(6);
  RunOk(kFake);
  const size_t all = Trials().size();
  for (const int cap : {0, 4, 6}) {
    WriteCap(cap);
    RunOk(kFake);
    EXPECT_EQ(Trials().size(), all) << cap;
  }
}

TEST_F(OptionsTest, DonorsAreReadAndNamedInTheStamp) {
  TuneOther();
  std::vector<std::string> arguments = kFake;
  arguments.insert(arguments.end(), {"--donor", Path("other.db")});
  RunOk(arguments);
  const Json stamp = *ParseJson(StampText(), "stamp");
  const std::string id = TaskId(*Workload::Parse(kLarger), HostTarget()->Text());
  EXPECT_EQ(stamp["donors"], Json::array({id}));
  // The tuner of this job learns nothing: its trials are the same.
  const auto with = Indices();
  Reset();
  RunOk(kFake);
  EXPECT_EQ(Indices(), with);
}

// A job's records replayed with donors: read, refused and said as those of a job.
TEST_F(OptionsTest, AReplayTakesDonorsAsAJobDoes) {
  TuneOther();
  RunOk(kFake);
  const auto with = [&](const std::string& donor) {
    return RunTool({HONE_REPLAY, Db(), "--seeds", "2", "--trials", "8", "--donor", donor});
  };
  const CommandResult good = with(Path("other.db"));
  EXPECT_EQ(good.status.code, kDone) << good.err;
  EXPECT_NE(good.out.find("| auto |"), std::string::npos) << good.out;
  EXPECT_EQ(good.err.find("donor"), std::string::npos) << good.err;
  const CommandResult self = with(Db());
  EXPECT_EQ(self.status.code, kMisused) << self.err;
  EXPECT_NE(self.err.find("these are the records of this task itself"), std::string::npos) << self.err;
  Reset();
  RunOk({"--fake-measure", "8"});
  const CommandResult foreign = with(Path("other.db"));
  EXPECT_EQ(foreign.status.code, kDone) << foreign.err;
  EXPECT_NE(foreign.err.find("donor rejected: " + Path("other.db")), std::string::npos) << foreign.err;
}

TEST_F(OptionsTest, DonorsOfAnotherMachineAreSaidAndOfAnotherDeviceRefused) {
  TuneOther();
  const CommandResult foreign = Run({"--fake-measure", "8", "--donor", Path("other.db")});
  EXPECT_EQ(foreign.status.code, kDone) << foreign.err;
  EXPECT_NE(foreign.err.find("donor rejected: " + Path("other.db") + ": 40 of its 40 trials are of another machine"),
            std::string::npos)
      << foreign.err;
  Reset();
  auto store = record::Store::OpenForWriting(Path("device.db"), {"x", kLarger, "cpu -features=none", {}});
  ASSERT_TRUE(store.ok());
  store->reset();
  const CommandResult device = Run({"--fake-measure", "8", "--donor", Path("device.db")});
  EXPECT_EQ(device.status.code, kMisused) << device.err;
  EXPECT_NE(device.err.find("of the device `cpu -features=none`"), std::string::npos) << device.err;
  EXPECT_EQ(Split(Trim(device.err), '\n').size(), 1u) << device.err;
  EXPECT_FALSE(Exists(Stamp()));
  EXPECT_FALSE(Exists(Db()));
}

TEST_F(OptionsTest, LikeIsAFlagOrASettingAndNothingElse) {
  RunOk({"--fake-measure", "7", "--like", "autotvm"});
  const std::string by_flag = (*ParseJson(StampText(), "stamp"))["inputs"]["settings"];
  Reset();
  RunOk(kFake);
  EXPECT_NE((*ParseJson(StampText(), "stamp"))["inputs"]["settings"], by_flag);
  const CommandResult result = Run({"--fake-measure", "7", "--like", "autotmv"});
  EXPECT_EQ(result.status.code, kMisused);
  EXPECT_NE(result.err.find("--like: knows no `autotmv`; did you mean `autotvm`?"), std::string::npos) << result.err;
}

// AutoTVM's first generation is of 100, ours of 16: from the 17th trial on one of them has learnt.
TEST_F(OptionsTest, LikeReachesTheTunerOfAJob) {
  const std::vector<std::string> ga = {"--fake-measure", "7", "--tuner", "ga"};
  RunOk(ga);
  const std::vector<uint64_t> ours = Indices();
  ASSERT_EQ(ours.size(), 40U);
  Reset();
  RunOk({"--fake-measure", "7", "--tuner", "ga", "--like", "autotvm"});
  const std::vector<uint64_t> theirs = Indices();
  ASSERT_EQ(theirs.size(), 40U);
  EXPECT_NE(theirs, ours);
  Reset();
  WriteSettings(40, R"(, "like": "autotvm")");
  RunOk(ga);
  EXPECT_EQ(Indices(), theirs);
}

TEST_F(OptionsTest, TheTunerOfTheCommandLineIsTheJobs) {
  RunOk({"--fake-measure", "7", "--tuner", "grid"});
  std::vector<uint64_t> rest = Indices();
  ASSERT_EQ(rest.size(), 40U);
  rest.erase(rest.begin());  // the default
  EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
  const std::string by_flag = (*ParseJson(StampText(), "stamp"))["inputs"]["settings"];
  Reset();
  RunOk(kFake);  // as the settings say: at random
  const std::vector<uint64_t> random = Indices();
  EXPECT_FALSE(std::is_sorted(random.begin() + 1, random.end()));
  EXPECT_NE((*ParseJson(StampText(), "stamp"))["inputs"]["settings"], by_flag);
  Reset();
  const CommandResult unknown = Run({"--fake-measure", "7", "--tuner", "gird"});
  EXPECT_EQ(unknown.status.code, kMisused);
  EXPECT_NE(unknown.err.find("--tuner: unknown tuner `gird`; did you mean `grid`?"), std::string::npos) << unknown.err;
  EXPECT_EQ(Split(Trim(unknown.err), '\n').size(), 1u) << unknown.err;
  EXPECT_FALSE(Exists(Db()));
}

TEST_F(OptionsTest, AnExpectedGainThatNothingReachesEndsItAndTheStampSaysSo) {
  WriteSettings(400, R"(, "expected_gain": 1)");
  auto text = ReadFile(Path("s.json"));
  ASSERT_TRUE(text.ok());
  ASSERT_TRUE(WriteFileAtomic(Path("s.json"), ReplaceAll(*text, "random", "auto")).ok());
  const CommandResult result = Run(kFake);
  ASSERT_EQ(result.status.code, kDone) << result.err;
  const Json stamp = *ParseJson(StampText(), "stamp");
  EXPECT_EQ(stamp["met_by"], "expected-gain");
  EXPECT_EQ(stamp["trials"].get<int>() % 16, 0);
  EXPECT_NE(result.err.find("the tuner expects to gain less than 100 %"), std::string::npos) << result.err;
  const auto trials = Indices();
  RunOk(kFake);
  EXPECT_EQ(Indices(), trials);
}

// With the real compiler and clock. Each sample is a block of runs, so there are as many samples as blocks.
TEST_F(OptionsTest, NumberAndRepeatTimeInBlocks) {
  WriteSettings(3, R"(, "measure": {"number": 2, "repeat": 4, "min_repeat_ms": 0.2, "timeout_seconds": 120,
                                    "finalists": 0})");
  RunOk({});
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
  RunOk({});
  EXPECT_EQ(Trials().size(), 6u);
}

// The doctor looks at the machine alone: no task, no files.
TEST_F(OptionsTest, TheDoctorSaysWhatTheMachineIs) {
  const CommandResult result = RunTool({HONE_DOCTOR});
  EXPECT_EQ(result.status.code, kDone) << result.err;
  for (const char* subject : {"cpu ", "load ", "sandbox ", "compiler ", "cuda ", "opencl "}) {
    EXPECT_NE(("\n" + result.out).find("\n" + std::string(subject)), std::string::npos) << subject << "\n"
                                                                                        << result.out;
  }
  const auto sandbox = TrySandbox();
  ASSERT_TRUE(sandbox.ok());
  EXPECT_NE(result.out.find("candidates cannot use: " + sandbox->Text() + "\n"), std::string::npos) << result.out;
  const auto device = TrySandbox(DeviceSandbox());
  ASSERT_TRUE(device.ok());
  EXPECT_NE(result.out.find("GPUs cannot use: " + device->Text() + "\n"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace hone
