// hone-plan and bad input: one line that names the place, a code, and nothing half-written.
#include <algorithm>

#include "work_folder.h"

namespace hone {
namespace {

class Refuse : public WorkFolderTest {
 protected:
  void NinjaOkAfterPlan() {
    ASSERT_TRUE(RunPlan().status.ok());
    NinjaOk({"records-alpha-cpu"});
  }

  // Code 2: an input file is wrong; 1: the world is.
  void ExpectRefused(const std::string& part, int code = 2) {
    const CommandResult result = RunPlan();
    EXPECT_EQ(result.status.code, code);
    EXPECT_EQ(result.err.find("hone-plan: error: "), 0u) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(Refuse, AMalformedPipelineAndWritesNothing) {
  Write("pipelines/beta.toml", "network = \"resnet-34\"\ntargets = [\"cpu\"]\n[tune]\ntrails = 3\n");
  ExpectRefused("pipelines/beta.toml:4: unknown key `trails` in [tune]; did you mean `trials`?");
  EXPECT_FALSE(Exists(Path(project_ + "/work")));
}

TEST_F(Refuse, AMalformedPipelineAndLeavesAnEarlierManifestAlone) {
  ASSERT_TRUE(RunPlan().status.ok());
  const std::string before = Read("work/build.ninja"), settings = Read("work/settings/alpha.tune.json");
  WritePipeline("alpha", "resnet-18", 99);
  Write("pipelines/beta.toml", "network =\n");
  ExpectRefused("pipelines/beta.toml:1: ");
  EXPECT_EQ(Read("work/build.ninja"), before);
  EXPECT_EQ(Read("work/settings/alpha.tune.json"), settings);
  const CommandResult ninja = Ninja({"tune-alpha-cpu"});
  EXPECT_FALSE(ninja.status.ok());
  EXPECT_NE((ninja.out + ninja.err).find("pipelines/beta.toml:1: "), std::string::npos) << ninja.out << ninja.err;
}

TEST_F(Refuse, ATaskListThatIsDamaged) {
  Write("work/tasks/alpha.cpu.tasks.json", "{\"version\": 1, \"tasks\": [");
  ExpectRefused("tasks/alpha.cpu.tasks.json:1:");
}

TEST_F(Refuse, ATotalWithFewerTrialsThanTasks) {
  Write("pipelines/alpha.toml", "network = \"resnet-18\"\ntargets = [\"cpu\"]\n\n[tune]\ntrials_total = 1\n");
  ASSERT_TRUE(RunPlan().status.ok()) << "the tasks are not known yet";
  const CommandResult ninja = Ninja({"tune-alpha-cpu"});
  EXPECT_FALSE(ninja.status.ok());
  EXPECT_NE((ninja.out + ninja.err).find("alpha.toml:5: `trials_total` is 1, but alpha has 2 tasks on cpu"),
            std::string::npos)
      << ninja.out << ninja.err;
  for (const std::string& call : Calls()) EXPECT_EQ(call.find("tune"), std::string::npos) << call;
}

TEST_F(Refuse, DonorsThatAreNoTasks) {
  NinjaOkAfterPlan();
  Write("pipelines/alpha.toml", "network = \"resnet-18\"\ntargets = [\"cpu\"]\n[tune]\ntransfer = [\"bb\"]\n");
  ExpectRefused("pipelines/alpha.toml:4: `transfer`: no task `bb`");
}

TEST_F(Refuse, ToShareOutWhatIsNotThere) {
  NinjaOkAfterPlan();
  const auto expect = [this](const std::string& settings, const std::string& round, const std::string& part, int code) {
    CommandOptions options;
    options.cwd = Path(project_ + "/work");
    const Result<CommandResult> result =
        RunCommand({HONE_ALLOCATE, "--tasks", "tasks/alpha.cpu.tasks.json", "--settings", settings, "--round", round,
                    "--stamps", "stamps/alpha.cpu.r1", "--out", "new"},
                   options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->status.code, code) << result->err;
    EXPECT_NE(result->err.find(part), std::string::npos) << result->err;
    EXPECT_EQ(std::count(result->err.begin(), result->err.end(), '\n'), 1) << result->err;
    EXPECT_FALSE(Exists(Path(project_ + "/work/new")));
  };
  expect("settings/alpha.tune.json", "1", "/trials_total is 0, but there are 2 tasks", 2);
  expect("settings/alpha.tune.json", "5", "--round 5: the rounds are 1 to 4", 2);
  expect("settings/alpha.bench.json", "1", "settings/alpha.bench.json", 2);
  Write("work/total.json", "{\"version\": 1, \"trials_total\": 9}\n");
  expect("total.json", "2", "stamps/alpha.cpu.r1/a.done", 1);
  Write("work/stamps/alpha.cpu.r1/a.done", "a 4\n");
  expect("total.json", "2", "a.done:1", 2);
  Write("work/stamps/alpha.cpu.r1/a.done", "{\"version\": 1}\n");
  expect("total.json", "2", "/budget", 2);
}

TEST_F(Refuse, AnEmptyOrMissingPipelineFolder) {
  ASSERT_TRUE(Remove(Path(project_ + "/pipelines/alpha.toml")).ok());
  ASSERT_TRUE(Remove(Path(project_ + "/pipelines/beta.toml")).ok());
  ExpectRefused("pipelines: no pipeline", 1);
  ASSERT_TRUE(RemoveTree(Path(project_ + "/pipelines")).ok());
  ExpectRefused("pipelines", 1);
}

TEST_F(Refuse, AWorkFolderThatCannotBeMade) {
  Write("work", "a file");
  ExpectRefused("work", 1);
  EXPECT_EQ(Read("work"), "a file");
}

TEST_F(Refuse, AnUnknownFlag) {
  const CommandResult result = RunPlan({"--pipeline", "x"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_NE(result.err.find("--pipelines"), std::string::npos) << result.err;
}

TEST_F(Refuse, NothingForAToolThatIsMissingButSaysSo) {
  ASSERT_TRUE(Remove(Path(project_ + "/bin/hone-bench")).ok());
  Write("bin/hone-tune.abi", "");
  const CommandResult result = RunPlan();
  EXPECT_TRUE(result.status.ok());
  EXPECT_NE(result.err.find("hone-bench: not there"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hone-tune: does not answer --abi"), std::string::npos) << result.err;
  EXPECT_EQ(Read("work/abi/hone-tune.txt"), "unversioned\n");
  // As far as the tools go the pipeline goes, and the missing one is named.
  EXPECT_TRUE(Ninja({"best-alpha-cpu"}).status.ok());
  const CommandResult bench = Ninja({"bench-alpha-cpu"});
  EXPECT_FALSE(bench.status.ok());
  EXPECT_NE((bench.out + bench.err).find("hone-bench"), std::string::npos);
}

TEST_F(Refuse, NothingTheSecondTimeAndWritesNothingThen) {
  ASSERT_TRUE(RunPlan().status.ok());
  const Result<std::vector<std::string>> before = ListDir(Path(project_ + "/work"));
  ASSERT_TRUE(before.ok());
  Touch("work/build.ninja");
  ASSERT_TRUE(RunPlan().status.ok());
  const Result<std::vector<std::string>> after = ListDir(Path(project_ + "/work"));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(*before, *after);
}

}  // namespace
}  // namespace hone
