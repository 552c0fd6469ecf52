// hone-tune with the real compiler and the real clock, on a convolution of some microseconds.
#include <signal.h>

#include <set>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "tune_folder.h"

namespace hone {
namespace {

class RealTest : public TuneFolder {
 protected:
  void SetUp() override {
    TuneFolder::SetUp();
    WriteSettings(6, R"(, "measure": {"candidate_seconds": 0.02, "timeout_seconds": 120, "finalists": 2})");
  }

  void ExpectAllRight() {
    const auto trials = Trials();
    EXPECT_EQ(trials.size(), 6u);
    for (const record::Trial& trial : trials) {
      EXPECT_NE(trial.outcome.state, TrialState::kFailed)
          << trial.outcome.config.Text() << ": " << trial.outcome.error_text;
      EXPECT_FALSE(trial.outcome.steps.empty());
      EXPECT_EQ(trial.outcome.artifact_digest.size(), 32u);
    }
  }
};

TEST_F(RealTest, TunesStampsAndIsDone) {
  const CommandResult result = Run({});
  ASSERT_EQ(result.status.code, kDone) << result.err;
  ExpectAllRight();
  EXPECT_TRUE(Exists(Path("records/t.reference")));
  EXPECT_TRUE(Exists(Path("records/t.log")));
  // A finished job needs no children: it must not even look for the program.
  ASSERT_TRUE(Remove(Stamp()).ok());
  const CommandResult again = Run({"--worker", "/nowhere/hone-worker"});
  EXPECT_EQ(again.status.code, kDone) << again.err;
  EXPECT_TRUE(Exists(Stamp()));

  const CommandResult explained =
      RunOnly({"--task", Path("t.json"), "--db", Db(), "--explain", "0", "--show", "program"});
  EXPECT_EQ(explained.status.code, kDone) << explained.err;
  EXPECT_NE(explained.out.find("proposed by default"), std::string::npos) << explained.out;
  EXPECT_NE(explained.out.find("program:"), std::string::npos) << explained.out;
  EXPECT_EQ(RunOnly({"--task", Path("t.json"), "--db", Db(), "--explain", "6"}).status.code, kFailed);
}

TEST_F(RealTest, CompileOnlyTakes32CandidatesEachOnceAndKeepsNothing) {
  const CommandResult result = RunOnly({"--task", Path("t.json"), "--compile-only"});
  ASSERT_EQ(result.status.code, kDone) << result.err;
  std::vector<std::string> lines = Split(std::string(Trim(result.out)), '\n');
  EXPECT_EQ(lines.back().find("32 of 32 compiled, "), 0u) << lines.back();
  lines.pop_back();
  std::set<std::string> indices;
  for (const std::string& line : lines) indices.insert(SplitWords(line).at(0));
  EXPECT_EQ(indices.size(), 32u) << result.out;
  EXPECT_FALSE(Exists(Db()));

  // A space of fewer: all that there are.
  WriteTask("dense(f32[1,2], f32[3,2])");
  const CommandResult few = RunOnly({"--task", Path("t.json"), "--compile-only"});
  EXPECT_EQ(few.status.code, kDone) << few.err;
  EXPECT_NE(few.out.find(" compiled, "), std::string::npos) << few.out;
}

TEST_F(RealTest, ChildrenThatAreKilledAreReplacedAndNoCandidateIsBlamed) {
  Subprocess process = Start({});
  int killed = 0;
  const double end = RealClock()->NowSeconds() + 100;
  while (process.Running() && killed < 2 && RealClock()->NowSeconds() < end) {
    const auto children = ChildrenOf(process.pid(), killed == 0 ? "compile" : "measure");
    if (!children.empty() && kill(children[0], SIGKILL) == 0) ++killed;
    RealClock()->SleepSeconds(0.001);
  }
  auto status = process.Wait(120);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->code, kDone);
  EXPECT_EQ(killed, 2);
  ExpectAllRight();
}

TEST_F(RealTest, ChildrenEndWithATunerThatIsKilled) {
  Subprocess process = Start({});
  std::vector<pid_t> children;
  while (process.Running() && children.empty()) children = ChildrenOf(process.pid(), "hone-worker");
  ASSERT_FALSE(children.empty());
  kill(process.pid(), SIGKILL);  // not its group: the kernel must see to the children
  ASSERT_TRUE(process.Wait(60).ok());
  for (const pid_t child : children) {
    for (int i = 0; i < 5000 && kill(child, 0) == 0; ++i) RealClock()->SleepSeconds(0.002);
    EXPECT_NE(kill(child, 0), 0) << "child " << child << " is still there";
  }
  ASSERT_EQ(Run({}).status.code, kDone);
  ExpectAllRight();
}

TEST_F(RealTest, TheSpaceCanBeListedCompiledAndTriedPointByPoint) {
  const CommandResult list = RunOnly({"--task", Path("t.json"), "--list-space"});
  EXPECT_EQ(list.status.code, kDone) << list.err;
  EXPECT_NE(list.out.find("are legal"), std::string::npos) << list.out;
  const size_t at = list.out.find("default: ");
  ASSERT_NE(at, std::string::npos) << list.out;
  const std::string index = list.out.substr(at + 9, list.out.find(' ', at + 9) - at - 9);
  const CommandResult one = RunOnly({"--task", Path("t.json"), "--trial", index});
  EXPECT_EQ(one.status.code, kDone) << one.err << one.out;
  EXPECT_NE(one.out.find("ok, "), std::string::npos) << one.out;
}

// Templates are not in it: task files carry the versions of their own.
TEST_F(RealTest, AbiNamesCodeGenerationAndProtocol) {
  const CommandResult abi = RunOnly({"--abi"});
  EXPECT_EQ(abi.status.code, kDone);
  for (const char* word : {"codegen ", "measure "}) {
    EXPECT_NE(abi.out.find(word), std::string::npos) << abi.out;
  }
  EXPECT_EQ(abi.out.find("conv2d"), std::string::npos) << abi.out;
}

}  // namespace
}  // namespace hone
