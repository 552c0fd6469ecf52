// A temporary project that is the real thing in small: two little networks as graph files, pipelines, the real tools in
// a folder of their own, and work/ under a real Ninja. For tests of the whole chain and of what happens when it is
// killed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "pipeline/best_file.h"
#include "record/store.h"

namespace hone {

class ChainFolder : public testing::Test {
 protected:
  // Networks "one" and "two": each a first convolution, one with a residual, and a dense layer; the convolutions are
  // the same tasks in both. Not planned yet. bin/ has every tool as a script that starts the real one.
  void SetUp() override;
  // No process of this work folder may outlive its test.
  void TearDown() override;

  std::string Path(const std::string& name) const { return dir_->Join(name); }
  std::string Work(const std::string& name) const { return dir_->Join("work/" + name); }
  // Replaces a file; later than the end of the last run, in file times too.
  void Write(const std::string& name, const std::string& text);
  void Touch(const std::string& name);
  std::string Read(const std::string& name) const;

  // pipelines/NAME.toml with few and short measurements.
  void WritePipeline(const std::string& name, int trials, const std::string& tuner = "auto", bool alternatives = false);
  static constexpr uint64_t kSeed = 7;  // what the tests invent times from
  // From now on hone-tune invents its times: a pure function of `seed` and the candidate. Each trial sleeps that long.
  // A script that is replaced is no change to Ninja, by design: tools are order-only inputs.
  void InventTimes(uint64_t seed, double sleep_seconds = 0);
  // The same, and no candidate of these tasks comes out right.
  void FailTasks(const std::set<std::string>& tasks);
  void RealTimes();  // again
  // From now on the tools have these versions of their parts, "conv2d_direct=9,codegen=4" (base/version.h).
  void Pretend(const std::string& versions);

  CommandResult Plan();
  CommandResult Run(const std::vector<std::string>& argv);
  CommandResult Ninja(const std::vector<std::string>& arguments);
  std::string NinjaOk(const std::vector<std::string>& arguments);  // expects success; what it printed
  Subprocess StartNinja(const std::vector<std::string>& arguments);
  // Expects that the target is up to date.
  void ExpectNoWork(const std::string& target);

  // Ids of a network's tasks, in order.
  std::vector<std::string> Tasks(const std::string& network) const;
  std::string Db(const std::string& task) const { return Work("records/cpu/" + task + ".db"); }
  std::string Stamp(const std::string& task) const { return Work("stamps/" + task + ".cpu.done"); }
  // What was measured of a task: each trial as its index in the space. Empty without records.
  std::vector<uint64_t> Trials(const std::string& task) const;
  std::map<std::string, std::vector<uint64_t>> AllTrials(const std::string& network) const;
  pipeline::BestFile Best(const std::string& network) const;
  // Expects that every database is whole, by `hone-records verify`.
  void ExpectRecordsAreWhole();

  // Ids of the processes whose current folder is below this project, and whose command line contains `word`.
  std::vector<pid_t> Processes(const std::string& word = "") const;
  // Waits for all of them to end by themselves; false if they do not.
  bool WaitForProcesses(double seconds) const;

 private:
  void WaitForTick();
  void WriteTool(const std::string& name);

  std::optional<TempDir> dir_;
  std::string invented_, pretended_;  // flags for it
  std::set<std::string> failing_;
  bool ran_ = false;
};

// The choices of a best file, without when they were measured: equal texts mean equal libraries.
std::string ChoicesText(const pipeline::BestFile& best);

}  // namespace hone
