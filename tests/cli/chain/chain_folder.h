// A small but complete temporary project: two little networks as graph files, pipelines, the real tools in a folder of
// their own, and work/ under a real Ninja. For tests of the whole chain and of killing it.
#pragma once

#include <cstdint>

#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "record/store.h"
#include "test_folder.h"

namespace hone {

class ChainFolder : public TestFolder {
 protected:
  // Networks "one" and "two": each has a first convolution, one with a residual, and a dense layer; the convolutions
  // are the same tasks in both. Not planned yet. bin/ has every tool as a script that starts the real one.
  void SetUp() override;
  // Expects that no process of this work folder outlives its test.
  void TearDown() override;

  std::string Work(const std::string& name) const { return Path("work/" + name); }

  // pipelines/models/NAME.json.
  void WriteNetwork(const std::string& name, int classes, int channels = 64);
  // pipelines/NAME.toml with few and short measurements.
  void WritePipeline(const std::string& name, int trials, const std::string& tuner = "auto", bool alternatives = false);
  static constexpr uint64_t kSeed = 7;  // seed of simulated times
  // From now on hone-tune simulates its times: a pure function of `seed` and the candidate. Each trial sleeps that
  // long. Ninja ignores a replaced script, by design: tools are order-only inputs.
  void InventTimes(uint64_t seed, double sleep_seconds = 0);
  // As above, and no candidate of these tasks is correct.
  void FailTasks(const std::set<std::string>& tasks);
  void RealTimes();  // again
  // From now on the tools claim these versions of their parts, "sums=9,codegen=4" (base/version.h).
  void Pretend(const std::string& versions);

  // Runs a tool of bin/.
  CommandResult Tool(const std::string& name, const Words& arguments) {
    return Run(Words{Path("bin/" + name)} + arguments);
  }
  CommandResult Plan(const Words& more = {}) { return Tool("hone-plan", Words{"--tools", Path("bin")} + more); }
  Subprocess StartNinja(const Words& arguments) { return Start(Words{"ninja", "-C", "work"} + arguments); }
  // Expects that the target is up to date.
  void ExpectNoWork(const std::string& target) { ExpectHas(NinjaOk({target}), {"ninja: no work to do.\n"}); }

  pipeline::TaskList List(const std::string& network) const;
  // Ids of a network's tasks, in order.
  std::vector<std::string> Tasks(const std::string& network) const;
  std::string Db(const std::string& task) const { return Work("records/cpu/" + task + ".db"); }
  std::string Stamp(const std::string& task) const { return Work("stamps/" + task + ".cpu.done"); }
  // The index in the space of each trial of a task. Empty without records.
  std::vector<uint64_t> Trials(const std::string& task) const;
  std::map<std::string, std::vector<uint64_t>> AllTrials(const std::string& network) const;
  pipeline::BestFile Best(const std::string& job) const;  // "one.cpu", "one.cpu.choice"
  // Expects that `hone-records verify` accepts every database.
  void ExpectRecordsAreWhole() { ExpectOk(Tool("hone-records", {"verify", "work/records/cpu"})); }
  // Expects a benchmark with correct results.
  void ExpectVerified(const std::string& job) const;

  // Ids of the processes whose current folder is below this project and whose command line contains `word`.
  std::vector<pid_t> Processes(const std::string& word = "") const;
  // Waits until all of them have ended by themselves; false on timeout.
  bool WaitForProcesses(double seconds) const;

 private:
  void WriteTool(const std::string& name);

  std::string invented_, pretended_;  // flags for these
  std::set<std::string> failing_;
};

// The choices of a best file, without their dates: equal texts mean equal libraries.
std::string ChoicesText(const pipeline::BestFile& best);

}  // namespace hone
