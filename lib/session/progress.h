// A tuning job's progress: progress.json (pipeline/progress_file.h) and, on a terminal, one live line. Without a
// terminal it prints one line a minute.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "session/history.h"

namespace hone::session {

struct ProgressOptions {
  std::string path;  // TASKID.progress.json
  std::string task;  // id
  std::string workload;
  double flop = 0;
  Budget budget;
};

class Progress {
 public:
  // `first_count` is the number of trials before this run.
  Progress(ProgressOptions options, int64_t first_count, Clock* clock);
  ~Progress();  // removes the live line

  // Writes at most two files and ten lines a second. `force` writes now.
  Status Update(const History& history, double peak_flops, bool force = false);
  // Writes the last state into progress.json: "done", "interrupted" or "failed".
  Status Finish(const History& history, double peak_flops, const std::string& state);

  // "34/64 trials, 0.8 s left, best 412 us (trial 17), 561 GFLOP/s, 93 % of peak, 38.1/s"; narrow terminals cut its
  // end. `ended` omits the time left.
  std::string Line(const History& history, double peak_flops, bool ended = false) const;

 private:
  Status Write(const History& history, double peak_flops, const std::string& state);

  ProgressOptions options_;
  Clock* clock_;
  double started_;
  int64_t first_count_;        // trials before this run
  double tuning_seconds_ = 0;  // of this run, up to its last trial
  double last_file_, last_line_, last_log_;
};

// For a job that found no correct candidate. Several lines: the number of trials per kind of failure, the first message
// of each kind, and the command that tries one of them alone, which is `command` with the trial's index appended.
// Without the command if no trial's index fits in 64 bits.
std::string FailureSummary(const std::vector<Outcome>& outcomes, const std::string& command);

// "61 ok, 2 pruned, 1 wrong", without verdicts that no trial has.
std::string CountText(const std::vector<Outcome>& outcomes);

}  // namespace hone::session
