// All data of a report, and figures derived from it. Plain data: lib/command/report/report.cc collects it from the
// files of a work folder, and each output (outputs.h) is a function of it alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/bench_file.h"
#include "report/speedup.h"
#include "task/outcome.h"

namespace hone::report {

struct TrialFact {
  int64_t ordinal = 0;
  TrialState state = TrialState::kFailed;
  TrialError error = TrialError::kNone;
  double seconds = 0;          // the median; a lower bound for a pruned trial; 0 for a failed one
  double measure_seconds = 0;  // duration of its timing
  Config config = {};
  bool disturbed = false;  // its time may be too long: other programs used the machine
  int64_t retaken = 0;     // runs repeated for that reason
};

// All failures of one kind in one task.
struct FailureFact {
  std::string kind;  // "compile", "wrong", ...
  int64_t count = 0;
  std::string message;  // the first one's message
  int64_t trial = 0;    // the first one's ordinal
  std::string explain;  // command that shows this trial
  std::string repeat;   // command that builds and measures only its configuration; empty if there is none
};

struct TaskFact {
  std::string id, workload;  // as in the task list
  int64_t weight = 1;        // number of times that the network computes it
  int64_t flop = 0;          // per computation
  int64_t uses = 1;          // number of times that the library does; 0: an alternative not built, or a replaced node
  // The choice for this task alone.
  std::string source;     // "tuned", "anchor", "default"
  std::string from;       // id of the task with the records; empty for "default"
  std::string config;     // for people; empty for "default"
  std::string algorithm;  // "direct", "Winograd F(4x4)"; empty for "default"
  double seconds = 0;     // its median; 0 for "default"
  int64_t trial = 0;      // its ordinal
  std::string repeat;     // command that builds and measures only it; empty for "default"
  std::string host, recorded;
  // The task's own records, from the machine (fingerprint) that measured the choice.
  std::string fingerprint;
  std::vector<TrialFact> trials;      // by ordinal
  int64_t foreign_trials = 0;         // from other machines, in the same file
  std::vector<FailureFact> failures;  // most frequent first
  std::string stopped;  // why tuning ended: "trials", "seconds", "early-stop", "space-exhausted"; empty: unknown
  double compile_seconds = 0, measure_seconds = 0;  // sums over these trials
  double wall_seconds = 0;                          // of their sessions; for a killed session, the time of its trials

  int64_t Count(TrialState state) const;
  bool HasCorrectTrial() const { return Count(TrialState::kOk) > 0; }
  double Flops() const { return seconds > 0 ? static_cast<double>(flop) / seconds : 0; }  // FLOP/s; 0: unknown
};

// A decision made by running the network both ways.
struct ChoiceFact {
  std::string what;  // "alternatives", "slices", "in_place"
  double with_seconds = 0, without_seconds = 0;
  bool kept = false;
};

// Which alternatives replace the one kernel per node.
struct PartitionFact {
  int64_t chosen = 0, built = 0;  // places: chosen by times measured alone, and kept after running the network
  double alone_seconds = 0;       // sum of the kernels of the network without alternatives; 0: unknown
  double chosen_seconds = 0;      // with the chosen alternatives
  bool exact = true;
};

// A network whose budget is shared in rounds (pipeline/shares.h), after one of them. Tasks that have not had the round
// yet count as after the one before.
struct RoundFact {
  int64_t round = 1;
  bool whole = true;     // every task has had it
  int64_t trials = 0;    // of all tasks so far
  double seconds = 0;    // that they took: of tuning with `seconds_total`, else of compiling and measuring, summed up
  double estimated = 0;  // sum of the tasks' best times x uses: the network without layers that are not tuned
  int64_t unknown = 0;   // tasks without a correct trial, missing in the sum
};

// "20.1 ms after round 1, 14.2 ms after 2".
std::string RoundsText(const std::vector<RoundFact>& rounds);

struct Totals {
  int64_t trials = 0, ok = 0, pruned = 0, failed = 0;
  std::map<std::string, int64_t> failures;  // by kind
  double compile_seconds = 0, measure_seconds = 0, wall_seconds = 0;
  int64_t disturbed = 0, retaken = 0;  // trials and runs, as in TrialFact
};

struct ReportData {
  std::string job;  // "resnet18.cpu": the stem of the bench file
  std::string network, target, target_name;
  std::string bench_path, tasks_path, best_path, records_path, out_path;  // as given
  std::string folder;   // the work folder: absolute, what the paths above are relative to
  std::string explain;  // command that shows where the choices come from; works in any folder
  BenchFile bench;
  std::vector<TaskFact> tasks;  // in the task list's order
  PartitionFact partition;
  std::vector<ChoiceFact> choices;
  std::vector<RoundFact> rounds;  // empty if each task has its own budget

  const BenchLibrary& tuned() const;           // REQUIRES: bench as ReadBenchFile returns it
  const BenchLibrary* untuned() const;         // null without a baseline
  std::optional<Speedup> FromUntuned() const;  // nothing without a baseline
  // Share of the peak that applies to the workload (BenchFile::PeakOf); 0: unknown.
  double PeakShare(const std::string& workload, int64_t flop, double seconds) const;
  // "355 GFLOP/s", and where bytes are multiplied "355 GFLOP/s, for bytes 1.4 TFLOP/s"; empty: unknown.
  std::string PeakText() const;
  std::vector<const BenchLayer*> SlowestLayers() const;  // of the tuned library, slowest first
  Totals Sum() const;
  const TaskFact* TaskOf(const BenchLayer& layer) const;  // null if the layer has nothing to tune
  // For a layer of the tuned library; empty for its default, or if it has nothing to tune.
  std::string AlgorithmOf(const BenchLayer& layer) const;
  // The median time of its kernel alone, by which it was chosen; 0 without records.
  double AloneSeconds(const BenchLayer& layer) const;
  // The time of the same nodes in the untuned library. For a fused layer, named after its last node, it is a sum: each
  // earlier member counts with the nearest node before the next member's that has its workload and that the tuned
  // library lacks. A file has no edges: of parallel branches of equal workloads, this may be another branch's node. 0:
  // unknown.
  double UntunedSeconds(const BenchLayer& layer) const;
  // Names of its layers that compute several nodes: "conv1, conv5"; may be empty.
  std::string FusedText() const;
  // How many of its layers use each algorithm, the most frequent first: "12 direct, 8 Winograd F(4x4)".
  std::string AlgorithmsText() const;
};

// The algorithm of a configuration: one word for its template, with the output tile of Winograd.
std::string AlgorithmText(const std::string& workload, const Config& config);

// "64 trials: 40 ok, 20 pruned, 3 compile, 1 wrong"; "no trials".
std::string CountsText(const Totals& totals);
Totals TotalsOf(const TaskFact& task);

// How far other programs disturbed tuning; empty if less than one trial in a hundred was marked or one run repeated for
// every hundred trials: a machine is seldom quite idle.
std::string DisturbedText(const Totals& totals);

// "alternatives" and so on in words: "fused kernels", "concatenations without copies", "sums in place".
std::string ChoiceText(const std::string& what);
// "used" or "left out"; for a choice that is used although the run without it was faster, also why.
std::string VerdictText(double with_seconds, double without_seconds, bool kept);

// A workload in a few words: "conv2d 64x56x56 -> 64, 3x3 s2 +bias +relu"; all members of a chain: "conv2d 3x224x224 ->
// 64, 7x7 s2 +bias +relu, then max_pool2d 3x3 s2"; the text itself if it has another form.
std::string ShortWorkload(const std::string& workload);

// "largest error 3.1e-07 of the reference's standard deviation, allowed 1.0e-04".
std::string VerificationText(const Verification& verification);

// "12.3 %", or "-" for 0 (unknown).
std::string PercentText(double share);

// How the times of a task's trials depend on one of its knobs.
struct KnobFact {
  std::string template_name, knob;
  std::vector<std::string> values;  // values that were tried, at least two: numbers by size, then words by name
  struct Use {
    const TrialFact* trial = nullptr;  // one of the task's
    size_t value = 0;                  // index into `values`
  };
  std::vector<Use> uses;  // all trials of the template, including failed ones
  // Share of the variance of the times' logarithms that the values explain, corrected for the number of values
  // (Kelley's epsilon squared, "An unbiased correlation ratio measure", 1935), at least 0. A pruned trial counts with
  // its bound.
  double explained = 0;
};

inline constexpr size_t kKnobsTold = 5;  // per task, in pages and report.json

// For each template of the task's trials, the knobs with more than one value, at most kKnobsTold; those that explain
// most come first.
std::vector<KnobFact> KnobFacts(const TaskFact& task);

}  // namespace hone::report
