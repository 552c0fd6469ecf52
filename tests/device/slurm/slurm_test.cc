// The chain under a real Slurm: inside one allocation, one allocation an edge, and through what clusters do to jobs.
// Times are invented, so that results can be compared exactly with a run without any cluster.
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "chain_folder.h"
#include "cluster.h"

namespace hone {
namespace {

constexpr uint64_t kSeed = 11;
// -X: ^C goes to the tool at once. One CPU a step, so that four run side by side.
constexpr const char* kStep = "srun -X --exact -N1 -n1 -c1";
constexpr const char* kAllocation = "srun -X -Q -N1 -n1 -c1";

class SlurmTest : public ChainFolder {
 protected:
  static void SetUpTestSuite() {
    missing_ = SlurmCluster::Missing();
    if (!missing_.empty()) return;
    auto cluster = SlurmCluster::Start();
    if (cluster.ok()) {
      cluster_ = cluster->release();
    } else {
      why_not_ = cluster.status().message();
    }
  }
  static void TearDownTestSuite() { delete cluster_; }

  void SetUp() override {
    if (!missing_.empty()) GTEST_SKIP() << missing_ << " is not installed (slurmctld, slurmd, slurm-client, munge)";
    if (!cluster_) GTEST_SKIP() << "no Slurm can be run here: " << why_not_;
    ChainFolder::SetUp();
    InventTimes(kSeed);
    ASSERT_TRUE(Plan().status.ok());
  }

  // The script of doc/tutorial/cluster.md with these words in it, as somebody copies and adapts it: these folders and
  // goals, and one CPU a job.
  std::string DocScript(const std::string& words, const std::string& goals) {
    const Result<std::string> doc = ReadFile("doc/tutorial/cluster.md");
    EXPECT_TRUE(doc.ok()) << doc.status().message();
    const std::vector<std::pair<std::string, std::string>> adapted = {
        {"/shared/work/array.log", Path("job.log")},
        {"/shared/work/rest.log", Path("job.log")},
        {"/shared/hone/bin/hone-plan", Path("bin/hone-plan") + " --tools " + Path("bin")},
        {"/shared/work", Path("work")},
        {"cpus-per-task=8", "cpus-per-task=1"},
        {"-c8", "-c1"},
        {"tune-all", goals}};
    const std::string fence = "\n```";
    for (size_t at = 0; doc.ok() && (at = doc->find(fence + "sh\n", at)) != std::string::npos;) {
      at += fence.size() + 3;
      std::string script = doc->substr(at, doc->find(fence, at) + 1 - at);
      if (script.find(words) == std::string::npos) continue;
      for (const auto& [from, to] : adapted) script = ReplaceAll(script, from, to);
      return script;
    }
    ADD_FAILURE() << "doc/tutorial/cluster.md has no script with `" << words << "`";
    return "exit 1\n";
  }

  CommandResult NinjaWith(const std::string& launcher, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {"env", "HONE_LAUNCHER=" + launcher, "ninja", "-C", "work"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Run(argv);
  }

  // Submits a script; the job's id.
  std::string Submit(const std::string& script, std::vector<std::string> flags = {}) {
    Write("job.sh", "#!/bin/sh\n" + script + "\n");
    std::vector<std::string> argv = {"sbatch", "--parsable", "--open-mode=append", "-o", Path("job.log")};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.push_back(Path("job.sh"));
    const CommandResult result = Run(argv);
    EXPECT_TRUE(result.status.ok()) << result.err;
    return std::string(Trim(result.out));
  }
  std::string State(const std::string& job) {  // "PENDING", "RUNNING", ...; empty once it is forgotten
    return std::string(Trim(Run({"squeue", "-h", "-j", job, "-t", "all", "-o", "%T"}).out));
  }
  bool WaitForState(const std::string& job, const std::set<std::string>& states, double seconds) {
    const double deadline = RealClock()->NowSeconds() + seconds;
    while (RealClock()->NowSeconds() < deadline) {
      if (states.count(State(job)) > 0) return true;
      RealClock()->SleepSeconds(0.2);
    }
    return false;
  }
  bool WaitForTrials(size_t count, double seconds) {
    const double deadline = RealClock()->NowSeconds() + seconds;
    while (RealClock()->NowSeconds() < deadline) {
      if (!Exists(Work("tasks/one.cpu.tasks.json"))) {
        RealClock()->SleepSeconds(0.1);
        continue;
      }
      size_t found = 0;
      for (const std::string& task : Tasks("one")) found += Exists(Db(task)) ? CountProgress(task) : 0;
      if (found >= count) return true;
      RealClock()->SleepSeconds(0.1);
    }
    return false;
  }
  std::string JobLog() { return Exists(Path("job.log")) ? Read("job.log") : "no log"; }

  static inline SlurmCluster* cluster_ = nullptr;
  static inline std::string missing_, why_not_;

 private:
  // Trials so far; the file is its owner's, so progress.json would be the polite way. A reader that only looks does no
  // harm on one machine.
  size_t CountProgress(const std::string& task) {
    auto store = record::Store::OpenForReading(Db(task));
    return store.ok() ? Trials(task).size() : 0;
  }
};

TEST_F(SlurmTest, InOneAllocation) {
  const std::string job = Submit(DocScript("--ntasks=4", "build-one-cpu build-two-cpu"));
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED"}, 120)) << JobLog();
  ASSERT_TRUE(Exists(Work("out/one.cpu/libone.so"))) << JobLog();
  for (const auto& [task, trials] : AllTrials("one")) EXPECT_EQ(trials.size(), 8u) << task;
  // Another launcher, or none: nothing is out of date.
  ExpectNoWork("build-one-cpu");
  EXPECT_NE(NinjaWith(kAllocation, {"build-two-cpu"}).out.find("no work to do"), std::string::npos);
  ExpectRecordsAreWhole();
}

TEST_F(SlurmTest, AnAllocationForEachEdgeGivesTheSameResults) {
  const CommandResult result = NinjaWith(kAllocation, {"-j", "4", "best-one-cpu"});
  ASSERT_TRUE(result.status.ok()) << result.out << result.err;
  const auto trials = AllTrials("one");
  const std::string choices = ChoicesText(Best("one.cpu"));
  ASSERT_TRUE(Run({"rm", "-rf", Path("work")}).status.ok());
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(AllTrials("one"), trials);
  EXPECT_EQ(ChoicesText(Best("one.cpu")), choices);
}

// Arrays from an exported list, by the scripts of doc/tutorial/cluster.md: a job of an array fails, the last job,
// Ninja, sees to it, and a second round has only what is new.
TEST_F(SlurmTest, ArraysFromAnExportedJobList) {
  NinjaOk({"build.ninja"});
  for (const char* name : {"hone-job.sh", "hone-rest.sh", "submit.sh"}) {
    Write(name, DocScript(std::string("# ") + name + ":", "best-one-cpu"));
  }
  // One task cannot be tuned: its records are no database.
  const std::string broken = Tasks("one")[1];
  ASSERT_TRUE(MakeDirs(Work("records/cpu")).ok());
  Write("work/records/cpu/" + broken + ".db", "somebody's notes, which are no record file at all");
  const auto submit = [this] {
    const CommandResult result = Run({"sh", Path("submit.sh")});
    EXPECT_TRUE(result.status.ok()) << result.err;
    return std::string(Trim(result.out.substr(result.out.rfind(' ') + 1)));  // "Submitted batch job 7"
  };
  std::string last = submit();
  ASSERT_TRUE(WaitForState(last, {"", "FAILED", "COMPLETED"}, 120)) << State(last) << JobLog();
  EXPECT_TRUE(StartsWith(Read("stages"), "1 1-3 3 jobs: tune")) << Read("stages");
  EXPECT_FALSE(Exists(Work("best/one.cpu.json"))) << "one task is missing";
  for (const std::string& task : Tasks("one")) EXPECT_EQ(Exists(Stamp(task)), task != broken) << task;

  ASSERT_TRUE(Remove(Db(broken)).ok());
  const auto before = AllTrials("one");
  last = submit();
  ASSERT_TRUE(WaitForState(last, {"", "FAILED", "COMPLETED"}, 120)) << State(last) << JobLog();
  EXPECT_TRUE(StartsWith(Read("stages"), "1 1-1 1 job: tune")) << Read("stages");
  ASSERT_TRUE(Exists(Work("best/one.cpu.json"))) << JobLog();
  for (const auto& [task, trials] : AllTrials("one")) {
    EXPECT_EQ(trials.size(), 8u) << task;
    if (task != broken) {
      EXPECT_EQ(trials, before.at(task)) << task;
    }
  }
  ExpectNoWork("best-one-cpu");
  ExpectRecordsAreWhole();
}

TEST_F(SlurmTest, GoesOnAfterScancel) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.2);
  const std::string job =
      Submit(fmt::format("export HONE_LAUNCHER='{}'\nexec ninja -C {} -j 2 best-one-cpu", kStep, Path("work")),
             {"-N1", "-n2", "-c1"});
  ASSERT_TRUE(WaitForTrials(6, 60)) << JobLog();
  Run({"scancel", job});
  ASSERT_TRUE(WaitForState(job, {"", "CANCELLED"}, 30));
  ASSERT_TRUE(WaitForProcesses(20));
  ExpectRecordsAreWhole();
  const auto before = AllTrials("one");
  InventTimes(kSeed);
  ASSERT_TRUE(NinjaWith(kAllocation, {"best-one-cpu"}).status.ok());
  for (auto [task, trials] : AllTrials("one")) {
    EXPECT_EQ(trials.size(), 24u) << task;
    EXPECT_EQ(std::set<uint64_t>(trials.begin(), trials.end()).size(), 24u) << task;
    const auto was = before.find(task);
    if (was == before.end()) continue;
    trials.resize(was->second.size());
    EXPECT_EQ(trials, was->second) << task;
  }
}

// Slurm warns the steps before the limit; the tools stop, and say so by 75, which srun hands on.
TEST_F(SlurmTest, AWarningBeforeTheTimeLimitStopsResumable) {
  WritePipeline("one", 400);
  InventTimes(kSeed, 0.3);
  const std::string job =
      Submit(fmt::format("export HONE_LAUNCHER='{}'\nninja -C {} -j 2 records-one-cpu\necho ninja said $?", kStep,
                         Path("work")),
             {"-N1", "-n2", "-c1", "--time=1", "--signal=USR1@50"});
  ASSERT_TRUE(WaitForTrials(1, 60)) << JobLog();
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED", "TIMEOUT"}, 90)) << JobLog();
  EXPECT_NE(JobLog().find("ninja said"), std::string::npos) << "killed at the limit, not stopped before it:\n"
                                                            << JobLog();
  ExpectRecordsAreWhole();
  WritePipeline("one", 8);
  NinjaOk({"best-one-cpu"});
}

TEST_F(SlurmTest, PreemptedItIsRequeuedAndEndsWithTheSameTrials) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.15);
  const std::string job = Submit(fmt::format("export HONE_LAUNCHER='{}'\necho restarts ${{SLURM_RESTART_COUNT:-0}}\n"
                                             "exec ninja -C {} -j 4 best-one-cpu",
                                             kStep, Path("work")),
                                 {"-N2", "-n4", "-c1", "--requeue"});
  ASSERT_TRUE(WaitForTrials(4, 60)) << JobLog();
  ASSERT_TRUE(Run({"srun", "-Q", "-p", "high", "-N2", "-n4", "-c1", "true"}).status.ok());
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED"}, 120)) << State(job) << "\n" << JobLog();
  EXPECT_NE(JobLog().find("restarts 1"), std::string::npos) << JobLog();
  for (const auto& [task, trials] : AllTrials("one")) {
    EXPECT_EQ(trials.size(), 24u) << task << "\n" << JobLog();
    EXPECT_EQ(std::set<uint64_t>(trials.begin(), trials.end()).size(), 24u) << task;
  }
  const std::string choices = ChoicesText(Best("one.cpu"));
  ASSERT_TRUE(Run({"rm", "-rf", Path("work")}).status.ok());
  InventTimes(kSeed);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(ChoicesText(Best("one.cpu")), choices);
}

// Which device a step got, Hone says itself: to each of them its own is the first. The driver is
// unit/device/fake_cuda.cc.
TEST_F(SlurmTest, TwoStepsGetTwoDevices) {
  if (!cluster_->has_devices()) GTEST_SKIP() << "only root can make device files";
  const CommandResult result =
      Run({"srun", "-Q", "-N1", "-n2", "-c1", "--gres=gpu:2", "--gpus-per-task=1", "--gpu-bind=single:1", "env",
           std::string("LD_PRELOAD=") + FAKE_CUDA, HONE_DOCTOR});
  ASSERT_TRUE(result.status.ok()) << result.err;
  std::set<std::string> devices;
  for (const std::string& line : Split(result.out, '\n')) {
    const size_t uuid = line.find("GPU-");
    if (line.rfind("cuda ", 0) == 0 && uuid != std::string::npos) devices.insert(line.substr(uuid, 40));
  }
  EXPECT_EQ(devices.size(), 2u) << result.out << result.err;
}

TEST_F(SlurmTest, ADeadNodeCostsNoTrial) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.2);
  const std::string job =
      Submit(fmt::format("export HONE_LAUNCHER='{}'\nexec ninja -C {} -j 2 best-one-cpu", kStep, Path("work")),
             {"-N1", "-n2", "-c1", "-w", "n2", "--no-requeue"});
  ASSERT_TRUE(WaitForTrials(4, 60)) << JobLog();
  ASSERT_TRUE(cluster_->StopNode("n2").ok());
  // The machine is gone, and all that ran on it.
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
  ASSERT_TRUE(WaitForProcesses(20));
  const auto before = AllTrials("one");
  InventTimes(kSeed);
  const CommandResult again = NinjaWith(std::string(kAllocation) + " -w n1", {"best-one-cpu"});
  EXPECT_TRUE(again.status.ok()) << again.out << again.err;
  for (auto [task, trials] : AllTrials("one")) {
    EXPECT_EQ(trials.size(), 24u) << task;
    const auto was = before.find(task);
    if (was == before.end()) continue;
    trials.resize(was->second.size());
    EXPECT_EQ(trials, was->second) << task;
  }
  ExpectRecordsAreWhole();
  Run({"scancel", "-f", job});
  ASSERT_TRUE(cluster_->StartNode("n2").ok());
}

}  // namespace
}  // namespace hone
