// The chain under a real Slurm: inside one allocation, with one allocation per edge, and through the usual
// interruptions of jobs. Times are simulated, so that results can be compared exactly with a run without a cluster.
#include <signal.h>
#include <stdlib.h>

#include "chain_folder.h"
#include "cluster.h"

namespace hone {
namespace {

constexpr uint64_t kSeed = 11;
// -X: ^C goes to the tool at once. One CPU per step, so that four run side by side.
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
    ASSERT_NE(cluster_, nullptr) << "Slurm is installed and does not start: " << why_not_;
    ChainFolder::SetUp();
    InventTimes(kSeed);
    ExpectOk(Plan());
  }

  // The script of doc/tutorial/cluster.md that contains these words, adapted to these folders and goals, with one CPU
  // per job.
  std::string DocScript(const std::string& words, const std::string& goals) {
    const std::string doc = Must(ReadFile("doc/tutorial/cluster.md"));
    const std::vector<std::pair<std::string, std::string>> adapted = {
        {"/shared/work/array.log", Path("job.log")},
        {"/shared/work/rest.log", Path("job.log")},
        {"/shared/hone/bin/hone-plan", Path("bin/hone-plan") + " --tools " + Path("bin")},
        {"/shared/work", Path("work")},
        {"cpus-per-task=8", "cpus-per-task=1"},
        {"-c8", "-c1"},
        {"tune-all", goals}};
    const std::string fence = "\n```";
    for (size_t at = 0; (at = doc.find(fence + "sh\n", at)) != std::string::npos;) {
      at += fence.size() + 3;
      std::string script = doc.substr(at, doc.find(fence, at) + 1 - at);
      if (script.find(words) == std::string::npos) continue;
      for (const auto& [from, to] : adapted) script = ReplaceAll(script, from, to);
      return script;
    }
    ADD_FAILURE() << "doc/tutorial/cluster.md has no script with `" << words << "`";
    return "exit 1\n";
  }

  CommandResult NinjaWith(const std::string& launcher, const Words& arguments) {
    return Run(Words{"env", "HONE_LAUNCHER=" + launcher, "ninja", "-C", "work"} + arguments);
  }

  // Submits a script and returns the job's id.
  std::string Submit(const std::string& script, const Words& flags = {}) {
    Write("job.sh", "#!/bin/sh\n" + script + "\n");
    const Words argv = {"sbatch", "--parsable", "--open-mode=append", "-o", Path("job.log")};
    return std::string(Trim(RunOk(argv + flags + Words{Path("job.sh")})));
  }
  // Submits Ninja as a job whose edges are steps; `flags` are for sbatch.
  std::string SubmitNinja(const std::string& arguments, const Words& flags, const std::string& before = "") {
    return Submit(
        fmt::format("export HONE_LAUNCHER='{}'\n{}exec ninja -C {} {}", kStep, before, Path("work"), arguments), flags);
  }
  std::string State(const std::string& job) {  // "PENDING", "RUNNING", ...; empty once Slurm has forgotten it
    return std::string(Trim(Run({"squeue", "-h", "-j", job, "-t", "all", "-o", "%T"}).out));
  }
  bool WaitForState(const std::string& job, const std::set<std::string>& states, double seconds) {
    return WaitFor(seconds, [&] { return states.count(State(job)) > 0; });
  }
  bool WaitForTrials(size_t count, double seconds) {
    return WaitFor(seconds, [&] {
      size_t found = 0;
      if (!Has("work/tasks/one.cpu.tasks.json")) return false;
      for (const std::string& task : Tasks("one")) found += Exists(Db(task)) ? CountProgress(task) : 0;
      return found >= count;
    });
  }
  std::string JobLog() { return Has("job.log") ? Read("job.log") : "no log"; }

  // Expects that every task has `count` distinct trials, which begin with those of `before`.
  void ExpectGoneOn(size_t count, const std::map<std::string, std::vector<uint64_t>>& before) {
    for (auto [task, trials] : AllTrials("one")) {
      EXPECT_EQ(trials.size(), count) << task << "\n" << JobLog();
      EXPECT_EQ(std::set<uint64_t>(trials.begin(), trials.end()).size(), count) << task;
      const auto was = before.find(task);
      if (was == before.end()) continue;
      trials.resize(was->second.size());
      EXPECT_EQ(trials, was->second) << task;
    }
  }
  // Expects the same choices from scratch without a cluster.
  void ExpectSameWithoutCluster() {
    const auto trials = AllTrials("one");
    const std::string choices = ChoicesText(Best("one.cpu"));
    Delete("work");
    InventTimes(kSeed);
    ExpectOk(Plan());
    NinjaOk({"best-one-cpu"});
    EXPECT_EQ(AllTrials("one"), trials);
    EXPECT_EQ(ChoicesText(Best("one.cpu")), choices);
  }

  static inline SlurmCluster* cluster_ = nullptr;
  static inline std::string missing_, why_not_;

 private:
  // The number of trials so far. Reads the record file, which belongs to its owner; on one machine, a reader does no
  // harm.
  size_t CountProgress(const std::string& task) {
    auto store = record::Store::OpenForReading(Db(task));
    return store.ok() ? Trials(task).size() : 0;
  }
};

TEST_F(SlurmTest, InOneAllocation) {
  const std::string job = Submit(DocScript("--ntasks=4", "build-one-cpu build-two-cpu"));
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED"}, 120)) << JobLog();
  ASSERT_TRUE(Has("work/out/one.cpu/libone.so")) << JobLog();
  ExpectGoneOn(8, {});
  // A different launcher, or no launcher, makes nothing out of date.
  ExpectNoWork("build-one-cpu");
  ExpectHas(NinjaWith(kAllocation, {"build-two-cpu"}).out, {"no work to do"});
  ExpectRecordsAreWhole();
}

TEST_F(SlurmTest, AnAllocationForEachEdgeGivesTheSameResults) {
  ExpectOk(NinjaWith(kAllocation, {"-j", "4", "best-one-cpu"}));
  ExpectSameWithoutCluster();
}

// Arrays from an exported list, by the scripts of doc/tutorial/cluster.md: a job of an array fails, the last job
// (Ninja) repeats it, and a second round contains only new work.
TEST_F(SlurmTest, ArraysFromAnExportedJobList) {
  NinjaOk({"build.ninja"});
  for (const char* name : {"hone-job.sh", "hone-rest.sh", "submit.sh"}) {
    Write(name, DocScript(std::string("# ") + name + ":", "best-one-cpu"));
  }
  // One task cannot be tuned: its record file is not a database.
  const std::string broken = Tasks("one")[1];
  Write("work/records/cpu/" + broken + ".db", "somebody's notes, which are no record file at all");
  const auto submit = [this] {
    return SplitWords(RunOk({"sh", "submit.sh"})).back();  // "Submitted batch job 7"
  };
  std::string last = submit();
  ASSERT_TRUE(WaitForState(last, {"", "FAILED", "COMPLETED"}, 120)) << State(last) << JobLog();
  EXPECT_THAT(Read("stages"), StartsWith("1 1-3 3 jobs: tune"));
  EXPECT_FALSE(Has("work/best/one.cpu.json")) << "one task is missing";
  for (const std::string& task : Tasks("one")) EXPECT_EQ(Exists(Stamp(task)), task != broken) << task;

  Must(Remove(Db(broken)));
  const auto before = AllTrials("one");
  last = submit();
  ASSERT_TRUE(WaitForState(last, {"", "FAILED", "COMPLETED"}, 120)) << State(last) << JobLog();
  EXPECT_THAT(Read("stages"), StartsWith("1 1-1 1 job: tune"));
  ASSERT_TRUE(Has("work/best/one.cpu.json")) << JobLog();
  ExpectGoneOn(8, before);
  ExpectNoWork("best-one-cpu");
  ExpectRecordsAreWhole();
}

TEST_F(SlurmTest, GoesOnAfterScancel) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.2);
  const std::string job = SubmitNinja("-j 2 best-one-cpu", {"-N1", "-n2", "-c1"});
  ASSERT_TRUE(WaitForTrials(6, 60)) << JobLog();
  Run({"scancel", job});
  ASSERT_TRUE(WaitForState(job, {"", "CANCELLED"}, 30));
  ASSERT_TRUE(WaitForProcesses(20));
  ExpectRecordsAreWhole();
  const auto before = AllTrials("one");
  InventTimes(kSeed);
  ExpectOk(NinjaWith(kAllocation, {"best-one-cpu"}));
  ExpectGoneOn(24, before);
}

// Slurm warns the steps before the limit; the tools stop with exit code 75, which srun passes on.
TEST_F(SlurmTest, AWarningBeforeTheTimeLimitStopsResumable) {
  WritePipeline("one", 400);
  InventTimes(kSeed, 0.3);
  const std::string job =
      Submit(fmt::format("export HONE_LAUNCHER='{}'\nninja -C {} -j 2 records-one-cpu\necho ninja said $?", kStep,
                         Path("work")),
             {"-N1", "-n2", "-c1", "--time=2", "--signal=USR1@90"});
  ASSERT_TRUE(WaitForTrials(1, 60)) << JobLog();
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED", "TIMEOUT"}, 90)) << JobLog();
  ExpectHas(JobLog(), {"ninja said"});  // otherwise it was killed at the limit, not stopped before
  ExpectRecordsAreWhole();
  WritePipeline("one", 8);
  NinjaOk({"best-one-cpu"});
}

TEST_F(SlurmTest, PreemptedItIsRequeuedAndEndsWithTheSameTrials) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.15);
  const std::string job =
      SubmitNinja("-j 4 best-one-cpu", {"-N2", "-n4", "-c1", "--requeue"}, "echo restarts ${SLURM_RESTART_COUNT:-0}\n");
  ASSERT_TRUE(WaitForTrials(4, 60)) << JobLog();
  RunOk({"srun", "-Q", "-p", "high", "-N2", "-n4", "-c1", "true"});
  ASSERT_TRUE(WaitForState(job, {"", "COMPLETED", "FAILED"}, 120)) << State(job) << "\n" << JobLog();
  ExpectHas(JobLog(), {"restarts 1"});
  ExpectGoneOn(24, {});
  ExpectSameWithoutCluster();
}

// Hone itself reports which device a step got, as each step sees its device as the first. The driver is
// unit/device/fake_cuda.cc.
TEST_F(SlurmTest, TwoStepsGetTwoDevices) {
  if (!cluster_->has_devices()) GTEST_SKIP() << "only root can make device files";
  const std::string out = RunOk({"srun", "-Q", "-N1", "-n2", "-c1", "--gres=gpu:2", "--gpus-per-task=1",
                                 "--gpu-bind=single:1", "env", std::string("LD_PRELOAD=") + FAKE_CUDA, HONE_DOCTOR});
  std::set<std::string> devices;
  for (const std::string& line : Split(out, '\n')) {
    const size_t uuid = line.find("GPU-");
    if (line.rfind("cuda ", 0) == 0 && uuid != std::string::npos) devices.insert(line.substr(uuid, 40));
  }
  EXPECT_EQ(devices.size(), 2u) << out;
}

TEST_F(SlurmTest, ADeadNodeCostsNoTrial) {
  WritePipeline("one", 24);
  InventTimes(kSeed, 0.2);
  const std::string job = SubmitNinja("-j 2 best-one-cpu", {"-N1", "-n2", "-c1", "-w", "n2", "--no-requeue"});
  ASSERT_TRUE(WaitForTrials(4, 60)) << JobLog();
  ASSERT_TRUE(cluster_->StopNode("n2").ok());
  // Kills the machine and everything on it.
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
  ASSERT_TRUE(WaitForProcesses(20));
  const auto before = AllTrials("one");
  InventTimes(kSeed);
  ExpectOk(NinjaWith(std::string(kAllocation) + " -w n1", {"best-one-cpu"}));
  ExpectGoneOn(24, before);
  ExpectRecordsAreWhole();
  Run({"scancel", "-f", job});
  ASSERT_TRUE(cluster_->StartNode("n2").ok());
}

}  // namespace
}  // namespace hone
