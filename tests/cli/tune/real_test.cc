// hone-tune with the real compiler and the real clock, on a convolution that takes some microseconds.
#include <signal.h>

#include "tune_folder.h"

namespace hone {
namespace {

// Children of a process whose command line contains `word`.
std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word) {
  std::vector<pid_t> found;
  auto children = ReadFile(fmt::format("/proc/{0}/task/{0}/children", parent));
  if (!children.ok()) return found;
  for (const std::string& text : SplitWords(*children)) {
    auto pid = ParseInt(text);
    auto command = ReadFile(fmt::format("/proc/{}/cmdline", text));
    if (pid.ok() && command.ok() && command->find(word) != std::string::npos) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

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
  TuneOk({});
  ExpectAllRight();
  EXPECT_TRUE(Has("records/t.reference"));
  EXPECT_TRUE(Has("records/t.log"));
  // A finished job needs no children: it must not even look for the program.
  Delete(kStamp);
  TuneOk({"--worker", "/nowhere/hone-worker"});
  EXPECT_TRUE(Has(kStamp));

  ExpectHas(ExpectOk(TuneTask({"--db", kDb, "--explain", "0", "--show", "program"})).out,
            {"proposed by default", "program:"});
  EXPECT_EQ(TuneTask({"--db", kDb, "--explain", "6"}).status.code, kFailed);
}

TEST_F(RealTest, TheSpaceCanBeCompiledAndTriedPointByPoint) {
  // --compile-only tries 32 candidates, each once, and keeps nothing.
  const CommandResult compiled = ExpectOk(TuneTask({"--compile-only"}));
  Words lines = Split(Trim(compiled.out), '\n');
  ExpectHas(lines.back(), {"32 of 32 compiled, "});
  lines.pop_back();
  std::set<std::string> indices;
  for (const std::string& line : lines) indices.insert(SplitWords(line).at(0));
  EXPECT_EQ(indices.size(), 32u) << compiled.out;
  ExpectHas(ExpectOk(TuneTask({"--trial", *indices.begin()})).out, {"ok, "});
  EXPECT_FALSE(Has(kDb));
  ExpectHas(ExpectOk(TuneTask({"--list-sketches"})).out, {"sketch sums\n", "decide rows "});
  // With a smaller space: all of its points.
  WriteTask("dense(f32[1,2], f32[3,2])");
  ExpectHas(ExpectOk(TuneTask({"--compile-only"})).out, {" compiled, "});
  WriteTask("conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16)");
  ExpectHas(ExpectOk(TuneTask({"--list-sketches"})).out, {"sketch windows_lanes\nalgorithm lanes(pad=0)\n"});
}

// A product of activations has no template on CPUs: its schedules are derived. Its values are not scaled, so sums of
// many products are larger than those of layers with weights.
TEST_F(RealTest, ATaskWithoutTemplateIsTunedBySketches) {
  WriteTask("matmul(f32[2,37,300], f32[2,300,41])");
  ExpectHas(ExpectOk(TuneTask({"--list-sketches"})).out, {"sketch sums\ndecide rows ", "\nvectorize out j.i\n"});
  TuneOk({});
  ExpectAllRight();
  ExpectHas(ExpectOk(TuneTask({"--db", kDb, "--explain", "0"})).out, {"sums rows=", "cache_write out register"});
}

TEST_F(RealTest, ChildrenEndWithATunerThatIsKilled) {
  Subprocess process = Start(Command({}));
  std::vector<pid_t> children;
  while (process.Running() && children.empty()) children = ChildrenOf(process.pid(), "hone-worker");
  ASSERT_FALSE(children.empty());
  kill(process.pid(), SIGKILL);  // not its group: the kernel must end the children
  ASSERT_TRUE(process.Wait(60).ok());
  for (const pid_t child : children) {
    for (int i = 0; i < 5000 && kill(child, 0) == 0; ++i) RealClock()->SleepSeconds(0.002);
    EXPECT_NE(kill(child, 0), 0) << "child " << child << " is still there";
  }
  TuneOk({});
  ExpectAllRight();
}

// It does not include templates: task files have the versions of their own.
TEST_F(RealTest, AbiNamesCodeGenerationAndProtocol) {
  const std::string abi = RunOk({HONE_TUNE, "--abi"});
  ExpectHas(abi, {"codegen ", "measure "});
  ExpectHasNot(abi, {"conv2d"});
}

}  // namespace
}  // namespace hone
