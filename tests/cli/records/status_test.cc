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
