// One class writes the text of the manifest, in a file per purpose: manifest.cc the order and the aliases,
// manifest_rules.cc pools and rules, manifest_tasks.cc the edges of tasks, manifest_network.cc those of networks,
// manifest_nightly.cc those of nightly runs. Only these files include this.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pipeline/manifest.h"
#include "pipeline/ninja_writer.h"
#include "pipeline/stamp_files.h"

namespace hone::pipeline {

// The pool of a device. The name must differ from Ninja's own pool `console`.
std::string PoolName(const TargetFile& target);
std::string PoolName(const TuneJob& task);

// An empty file, newer than all stamps of a job.
std::string GraphPath(const std::string& pipeline);
// The choices for building, without figures. `job` is NetworkJob::Name.
std::string ChoicePath(const std::string& job);
// The choices with all measured figures.
std::string FiguresPath(const NetworkJob& job);

class ManifestWriter {
 public:
  explicit ManifestWriter(const ManifestInput& input) : input_(input) {}

  // Returns kInvalid if two statements make the same path.
  Result<Manifest> Write();

 private:
  std::string Tool(const std::string& name) const { return input_.tools + "/" + name; }
  // A command: `exec`, so that an interrupt of Ninja waits for the tool itself; and the launcher if the work needs the
  // device's machine. The shell reads the launcher at run time, so that changing it changes no command.
  std::string Command(const std::string& tool, const std::string& arguments, bool launched = false) const;
  void Rule(const std::string& name, const std::string& command, const std::string& description,
            NinjaBindings more = {});
  void Build(NinjaBuild build);
  // An alias of `inputs`; without inputs, for a file that may be missing.
  void Alias(const std::string& name, std::vector<std::string> inputs = {});
  void Section(const std::string& title);

  void Head();
  void Rules();
  void ManifestEdge();
  void ExtractEdge(const NetworkJob& job);
  // Calibrates the network of a job with [quantise], and so makes the values of its parameters.
  void QuantiseEdge(const NetworkJob& job);
  // Writes an alias for a file of the user, so that a missing one is no error of Ninja, but of the tool that reads it.
  void MayBeMissing(const std::string& file);
  void DeviceEdges();
  void TuneEdges();
  void TuneEdge(const TuneJob& task);
  // Writes the rule of a task unless it exists; tasks with the same settings and pool share one. `behind_edge`: an edge
  // precedes it.
  void AddTuneRule(const TuneJob& task, bool behind_edge);
  std::string TuneRule(const TuneJob& task) const;  // the rule's name
  void WriteTuneRule(const std::string& name, const std::string& settings, NinjaBindings more);
  void RoundEdges(const Round& round);
  void PickEdge(const NetworkJob& job);
  void ConfirmEdge(const NetworkJob& job);
  void BenchEdge(const NetworkJob& job);
  void ReportEdge(const NetworkJob& job);
  void NetworkEdges(const NetworkJob& job);
  // Writes an edge that prints why extraction failed, and fails; returns its output. An alias of many jobs gets an edge
  // of its own, named with `suffix`, which runs after the other jobs (`after`).
  std::string FailedEdge(const NetworkJob& job, const std::string& suffix = "",
                         const std::vector<std::string>& after = {});
  void Aliases();
  void NightlyEdges();
  // The edge that measures `dir` tonight; returns its output.
  std::string NightEdge(const NetworkJob& job, const std::string& series, const std::string& dir);
  std::string ReplayEdges(const NetworkJob& job, const AcceptedJob& accepted);
  void VerdictEdge(const std::string& alias, const std::string& series, const std::vector<std::string>& jobs);
  // Builds the library in `dir`, from the choice `best` or untuned.
  NinjaBuild BuildEdge(const NetworkJob& job, const std::string& dir, const std::string& best, bool tuned) const;

  const ManifestInput& input_;
  NinjaWriter writer_;
  std::vector<NinjaBuild> builds_;
  std::unordered_set<std::string> made_;
  std::unordered_set<std::string> graphs_;                                 // networks whose graph already has an edge
  std::map<std::pair<std::string, std::string>, std::string> tune_rules_;  // (settings, pool) -> rule
  bool says_why_stamps_ = false;                                           // in front of the first rule that tunes
  std::string clash_;
};

// Adds the file of the network's parameters, if the pipeline names one, as an input and as flags.
void AddParameters(const NetworkJob& job, NinjaBuild* build);

}  // namespace hone::pipeline
