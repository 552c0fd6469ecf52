// hone-tune interrupted and repeated (tests/fault kills it), with simulated times, so that results can be compared
// exactly. Also its output while it runs: one live line on a terminal, no such line in a pipe, its files in both cases.
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cpu.h"
#include "tune_folder.h"

namespace hone {
namespace {

class ResumeTest : public TuneFolder {
 protected:
  // The trials and the stamp of an undisturbed run.
  void Undisturbed() {
    const CommandResult result = TuneOk(kFake);
    for (const char escape : {'\x1b', '\r'}) EXPECT_EQ(result.err.find(escape), std::string::npos) << "in a pipe";
    indices_ = Indices();
    stamp_ = StampText();
    ASSERT_EQ(indices_.size(), 40u);
    ASSERT_FALSE(stamp_.empty());
    Reset();
  }
  // Completes the run, and expects the undisturbed run's results.
  CommandResult GoOn() {
    const CommandResult result = TuneOk(kFake);
    EXPECT_EQ(Indices(), indices_);
    EXPECT_EQ(StampText(), stamp_);
    return result;
  }

  std::vector<uint64_t> indices_;
  std::string stamp_;
};

TEST_F(ResumeTest, EverySignalEndsItWith75AndTheSameCommandGoesOn) {
  Undisturbed();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    SCOPED_TRACE(signal);
    Subprocess process = Start(Command({"--fake-measure", "7,0.02"}));
    WaitForProgress(&process);
    process.Kill(signal);
    EXPECT_EQ(Must(process.Wait(60)).ToString(), "exited 75");
    EXPECT_FALSE(Has(kStamp));
    const size_t kept = Indices().size();
    EXPECT_GT(kept, 0u) << "what was measured is kept";
    EXPECT_LT(kept, indices_.size());
    EXPECT_EQ(ReadJson(kProgress)["state"], "interrupted");
    GoOn();
    Reset();
  }
}

TEST_F(ResumeTest, ASecondTunerWaitsForAMomentOrIfItIsToldSo) {
  Undisturbed();
  Subprocess first = Start(Command({"--fake-measure", "7,1"}));
  WaitForProgress(&first);
  first.Kill(SIGSTOP);  // it keeps its lock until it may go on
  const std::string holder = fmt::format("process {} on host {}", first.pid(), Hostname());
  ExpectFails(Tune(kFake), {"waiting for up to 10", holder, "last heartbeat "});
  const auto start_waiting = [&](const std::string& errors) {
    Subprocess process = Start(Words{"sh", "-c", "exec \"$@\" 2> " + errors, "sh"} + Command(kFake + Words{"--wait"}));
    EXPECT_TRUE(WaitFor(60, [&] {
      return Has(errors) && Read(errors).find("waiting: records/t.db.lock: held by " + holder) != std::string::npos;
    })) << errors;
    return process;
  };
  Subprocess second = start_waiting("second.txt"), third = start_waiting("third.txt");
  third.Kill(SIGTERM);
  EXPECT_EQ(Must(third.Wait(60)).ToString(), "exited 75");
  first.Kill(SIGTERM);
  first.Kill(SIGCONT);
  EXPECT_EQ(Must(first.Wait(60)).ToString(), "exited 75");
  EXPECT_EQ(Must(second.Wait(60)).ToString(), "exited 0") << Read("second.txt");
  EXPECT_EQ(Indices(), indices_);
  EXPECT_EQ(StampText(), stamp_);
}

TEST_F(ResumeTest, WhatAKilledTunerWasWritingGoes) {
  Undisturbed();
  const Words own = {"records/.t.progress.json.1.2.tmp", "stamps/.t.done.1.2.tmp"};
  const Words others = {"records/.other.progress.json.1.2.tmp", "stamps/.other.done.1.2.tmp"};
  for (const std::string& draft : own + others) Write(draft, "");
  GoOn();
  for (const std::string& draft : own) EXPECT_FALSE(Has(draft)) << draft;
  for (const std::string& draft : others) EXPECT_TRUE(Has(draft)) << draft;
}

TEST_F(ResumeTest, WhatIsDeletedIsMadeAgain) {
  Undisturbed();
  GoOn();
  const std::string records = Read(kDb);
  Delete(kStamp);
  ExpectHas(GoOn().err, {"nothing to do"});
  EXPECT_EQ(Read(kDb), records);
  Delete(kDb);
  ExpectHas(GoOn().err, {"are gone"});
}

TEST_F(ResumeTest, WhenEverythingFailsTheSummarySaysHowAndThereIsNoStamp) {
  for (int round = 0; round < 2; ++round) {
    const CommandResult result = Tune({"--fake-measure", "7,0,1"});
    EXPECT_EQ(result.status.code, kFailed);
    ExpectHas(result.err,
              {"no trial of 40 was correct", "x compile, first: fake", "to try one alone: hone-tune --task"});
    EXPECT_FALSE(Has(kStamp));
    EXPECT_EQ(Indices().size(), 40u);
  }
}

TEST_F(ResumeTest, ALiveLineOnATerminalWithWhatIsLeft) {
  int master = -1, slave = -1;
  winsize size = {40, 80, 0, 0};
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  SpawnOptions options;
  options.argv = Command({"--fake-measure", "1,0.01"});
  options.cwd = Path("");
  options.stderr_fd = slave;
  auto process = Subprocess::Spawn(options);
  close(slave);
  ASSERT_TRUE(process.ok()) << process.status().message();
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(master, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  EXPECT_TRUE(process->Wait(60).ok());
  close(master);
  // Overwritten in place, and removed at the end.
  ExpectHas(text, {"\r\x1b[K", "/40 trials, ", ", best ", " left"});
  const Json progress = ReadJson(kProgress);
  EXPECT_EQ(progress["state"], "done");
  EXPECT_EQ(progress["trials"], 40);
  EXPECT_GE(progress["tuning_seconds"], 0.01 * 30) << "forty trials of ten milliseconds, some of which do not compile";
  EXPECT_TRUE(Has("records/t.log"));
}

}  // namespace
}  // namespace hone
