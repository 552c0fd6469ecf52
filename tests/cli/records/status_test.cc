// hone-records status: the state of a work folder, from its files alone.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/text.h"
#include "records_folder.h"

namespace hone {
namespace {

class StatusTool : public RecordsFolder {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(Path("work/records/cpu")).ok()); }
  std::string Beside(const std::string& name) const { return "work/records/cpu/" + name; }
  void WriteProgress(const std::string& task, const std::string& state, int trials, int budget, double tuning) {
    Write(Beside(task + ".progress.json"),
          fmt::format(R"({{"version": 1, "task": "{}", "workload": "w", "state": "{}", "host": "h", "pid": 7,
                          "updated": "2026-01-02T03:04:05Z", "trials": {}, "budget": {}, "elapsed_seconds": 3,
                          "tuning_seconds": {}, "best": {{"trial": 3, "seconds": 4e-4}}}})",
                      task, state, trials, budget, tuning));
  }
  // The lock of a process on another host whose heartbeat is `age` old.
  void WriteFarLock(const std::string& task, double age) {
    const std::string path = Path(Beside(task + ".db.lock"));
    Write(Beside(task + ".db.lock"), "host far\nboot b\npidns p\npid 7\nstart 1\nsince 2026-01-02T03:04:05Z\n");
    timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= static_cast<time_t>(age);
    times[1] = times[0];
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::string Status() { return RecordsOk({"status", "work"}); }
};

TEST_F(StatusTool, AJobThatRunsElsewhereIsAliveByItsHeartbeat) {
  WriteProgress("a", "running", 32, 64, 16);  // half a second per trial
  WriteFarLock("a", 100);
  EXPECT_EQ(Status(),
            "a  running  32/64 trials, best 400 us, about 16 s left  (on h, 2026-01-02T03:04:05Z)\n"
            "1 running; about 16 s left\n");
  WriteFarLock("a", 140);
  ExpectHas(Status(), {"a  gone  32/64", "run the same command again"});
}

TEST_F(StatusTool, AKilledJobOfThisHostIsGoneAtOnce) {
  WriteProgress("a", "running", 32, 64, 16);
  ExpectHas(Status(), {"a  gone"});  // nobody holds its lock
  const pid_t child = fork();
  if (child == 0) {
    auto lock = FileLock::Acquire(Path(Beside("a.db.lock")));
    pause();
    _exit(0);
  }
  for (int i = 0; i < 1000 && !Has(Beside("a.db.lock")); ++i) usleep(5000);
  ExpectHas(Status(), {"a  running"});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ExpectHas(Status(), {"a  gone"});
}

TEST_F(StatusTool, WhatWaitsIsEstimatedFromWhatIsDone) {
  WriteProgress("a", "done", 64, 64, 32);         // half a second per trial
  WriteProgress("b", "interrupted", 16, 64, 16);  // a second per trial
  Write("work/tasks/net.cpu.tasks.json",
        fmt::format(R"({{"version": 2, "network": "net", "target": "{}", "target_name": "cpu", "tasks": [
                        {{"id": "a", "workload": "{}", "weight": 1, "flop": 10}},
                        {{"id": "c", "workload": "{}", "weight": 1, "flop": 10}}]}})",
                    kTarget, kWorkloadA, kWorkloadC));
  // b: 48 trials of a second; c: 64 with the median of 0.5 and 1 s: 48 s.
  EXPECT_EQ(Status(),
            "tasks        waiting         done  interrupted\n"
            "net.cpu            1            1            0\n"
            "\n"
            "a  done  64/64 trials, best 400 us  (on h, 2026-01-02T03:04:05Z)\n"
            "b  interrupted  16/64 trials, best 400 us, about 48 s left  (on h, 2026-01-02T03:04:05Z)\n"
            "1 waiting, 1 done, 1 interrupted; about 2 min left\n");
  // A stamp shows that it was done, whatever its progress file says.
  Write("work/stamps/c.cpu.done", "{}");
  ExpectHas(Status(), {"c  done\n2 done, 1 interrupted; about 48 s left\n"});
  WriteProgress("b", "failed", 64, 64, 64);
  ExpectHas(Status(), {"b  failed  64/64 trials", "\n2 done, 1 failed\n"});
}

TEST_F(StatusTool, ATableCountsTheTasksOfEachNetwork) {
  WriteProgress("a", "done", 64, 64, 32);
  const auto list = [&](const std::string& network, const std::vector<std::string>& ids) {
    pipeline::TaskList tasks{network, kTarget, "cpu", {}};
    for (const std::string& id : ids) tasks.tasks.push_back({id, kWorkloadA, 1, 10});
    Write("work/tasks/" + network + ".cpu.tasks.json", pipeline::TaskListText(tasks));
  };
  list("one", {"a"});
  list("another", {"a", "c", "d"});  // shares a with the first
  EXPECT_EQ(Status(),
            "tasks            waiting         done\n"
            "another.cpu            2            1\n"
            "one.cpu                0            1\n"
            "\n"
            "a  done  64/64 trials, best 400 us  (on h, 2026-01-02T03:04:05Z)\n"
            "2 waiting, 1 done; about 64 s left\n");
}

// A network whose total is shared in rounds: two of three are done for task a, one for c and for an alternative.
TEST_F(StatusTool, ATableShowsATotalThatIsSharedInRounds) {
  pipeline::TaskList tasks{"net", kTarget, "cpu", {}};
  tasks.tasks = {{"a", kWorkloadA, 3, 2'000'000}, {"c", kWorkloadC, 1, 50'000'000}, {"alternative", kWorkloadA, 1, 10}};
  tasks.tasks[2].optional = true;
  Write("work/tasks/net.cpu.tasks.json", pipeline::TaskListText(tasks));
  Write("work/settings/net.tune.json", R"({"version": 1, "trials_total": 300, "rounds": 3})");
  Write(
      "work/build.ninja",
      "# rounds\n"
      "build settings/net.cpu.r1/a.tune.json settings/net.cpu.r1/c.tune.json $\n    settings/net.cpu.r1/d.tune.json: "
      "$\n"
      "    allocate tasks/net.cpu.tasks.json\n  job = net.cpu\n  settings = settings/net.tune.json\n"
      "build stamps/net.cpu.tuned: tuned | $\n    stamps/net.cpu.r3/a.done stamps/net.cpu.r3/c.done\n  job = net.cpu\n"
      "build stamps/more.cpu.tuned: tuned | stamps/net.cpu.r3/d.done\n  job = more.cpu\n");
  const auto stamp = [&](int round, const std::string& task, int trials, const std::string& improvements, double best) {
    Write(fmt::format("work/stamps/net.cpu.r{}/{}.done", round, task),
          fmt::format(R"({{"version": 1, "budget": {{"trials": {0}}}, "search": {{"trials": {0}, "seconds": {1},
                          "trial_seconds": {2}, "improvements": [{3}]}}}})",
                      trials, best, trials / 2, improvements));
  };
  stamp(1, "a", 34, "[1, 4e-4], [20, 1e-4]", 1e-4);
  stamp(2, "a", 84, "[1, 4e-4], [20, 1e-4], [70, 8e-5]", 8e-5);
  stamp(1, "c", 33, "[1, 2e-3]", 2e-3);
  stamp(1, "alternative", 33, "[2, 5e-3]", 5e-3);
  WriteProgress("a", "done", 84, 84, 42);
  WriteProgress("c", "running", 40, 99, 20);
  WriteFarLock("c", 10);
  const std::string text = Status();
  const std::string expected = R"(tasks        running      waiting         done
net.cpu            1            1            1

c  running  40/99 trials, best 400 us  (on h, 2026-01-02T03:04:05Z)

net.cpu                   name                                       uses     time  GFLOP/s  trials  last gain
c                         dense 16 -> 8                                 1   400 us    125.0      40  80.0 %, trial 40
a                         dense 4 -> 8 +bias +relu                      3  80.0 us     25.0      84  20.0 %, trial 70
alternative               dense 4 -> 8 +bias +relu                    alt  5.00 ms      0.0      33  -
estimated total: 2.30 ms after round 1, 640 us after 2 so far
157 of 300 trials, 74 s of compiling and measuring; next: round 2 of 3

1 running, 1 waiting, 1 done; about 72 s left
)";
  EXPECT_EQ(text, expected);
  for (const std::string& line : Split(text, '\n')) EXPECT_LE(line.size(), 120u);
  // A running round that has no stamp yet.
  Delete("work/stamps/net.cpu.r2");
  ExpectHas(Status(), {"after round 1, 700 us after 2 so far\n"});  // 3 x 100 + 400
  WriteProgress("c", "done", 99, 99, 20);
  stamp(2, "c", 99, "", 0);
  ExpectHas(Status(), {"nothing correct", "after 2 so far; 1 task without a correct trial not counted"});
  stamp(2, "a", 99, "", 0);
  stamp(2, "alternative", 99, "", 0);
  ExpectHas(Status(), {"next: round 3 of 3\n"});
  for (const char* task : {"a", "c", "alternative"}) stamp(3, task, 100, "[1, 1e-3]", 1e-3);
  ExpectHas(Status(), {"300 of 300 trials, 150 s of compiling and measuring; all rounds are done\n"});
  // Another network that the total pays for.
  pipeline::TaskList more{"more", kTarget, "cpu", {}};
  more.tasks = {{"d", kWorkloadC, 1, 10}};
  Write("work/tasks/more.cpu.tasks.json", pipeline::TaskListText(more));
  for (int round = 1; round <= 3; ++round) stamp(round, "d", 40, "[1, 2e-3]", 2e-3);
  ExpectHas(Status(),
            {"240 of 300 trials, 120 s of compiling and measuring (the total of net.cpu); all rounds are done\n",
             "340 of 300 trials, 170 s of compiling and measuring; all rounds are done\n"});
  // It is not read without its edge: the stamps may be of an earlier pipeline file.
  Write("work/build.ninja", "");
  ExpectHasNot(Status(), {"estimated total"});
}

TEST_F(StatusTool, OneBadFileDoesNotHideTheOthers) {
  WriteProgress("a", "done", 64, 64, 32);
  WriteProgress("b", "asleep", 1, 64, 32);
  WriteProgress("c", "done", 64, 64, 32);
  Write("work/tasks/net.cpu.tasks.json", "[]");
  const CommandResult result = Records({"status", "work"});
  EXPECT_EQ(result.status.code, 1) << "something was found";
  const std::vector<std::string> lines = Split(result.out, '\n');
  ASSERT_EQ(lines.size(), 6u) << result.out;
  ExpectHas(lines[0], {"cannot be read: work/records/cpu/b.progress.json: /state: \"asleep\""});
  ExpectHas(lines[1], {"cannot be read: work/tasks/net.cpu.tasks.json: "});
  ExpectHas(lines[2], {"a  done"});
  ExpectHas(lines[3], {"c  done"});
  EXPECT_EQ(lines[4], "2 done");
  Delete("work");
  ASSERT_TRUE(MakeDirs(Path("work")).ok());
  EXPECT_EQ(Status(), "no job has run here\n");
  ExpectRefused(Records({"status", "none"}), 1, {"none"});
}

TEST_F(StatusTool, TakesNoLockAndWritesNothing) {
  WriteProgress("a", "running", 32, 64, 16);
  Record("../work/records/cpu/a", kWorkloadA, {Ok(1, 1e-3)});
  WriteFarLock("a", 10);
  // Even with a record file in the middle of a transaction, or an invalid one.
  Write(Beside("a.db"), "nothing that can be opened");
  const std::string before = Snapshot("work");
  ExpectHas(Status(), {"a  running"});
  EXPECT_EQ(Snapshot("work"), before);
}

TEST_F(StatusTool, WatchesUntilItIsInterrupted) {
  WriteProgress("a", "done", 64, 64, 32);
  SpawnOptions options;
  options.argv = {HONE_RECORDS, "status", "--watch", Path("work")};
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  options.stdout_fd = ends[1];
  auto process = Subprocess::Spawn(options);
  close(ends[1]);
  ASSERT_TRUE(process.ok()) << process.status().message();
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  bool changed = false;
  while ((n = read(ends[0], buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(n));
    if (!changed && text.find("64/64") != std::string::npos) {
      changed = true;
      WriteProgress("a", "interrupted", 17, 64, 32);
    }
    if (text.find("17/64") != std::string::npos) break;
  }
  EXPECT_TRUE(changed);
  ExpectHas(text, {"a  interrupted  17/64"});
  ExpectHasNot(text, {"\x1b"});  // no escapes without a terminal
  process->Kill(SIGINT);
  const ExitStatus status = Must(process->Wait(20));
  close(ends[0]);
  EXPECT_EQ(status.code, 0);
}

}  // namespace
}  // namespace hone
