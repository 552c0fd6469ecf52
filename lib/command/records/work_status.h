// The state of a work folder, from its files alone: no lock is taken, no record file is opened, nothing is written, so
// that it works from any machine that sees the folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

enum class TuningState {
  kRunning,
  kGone,     // it says that it runs, but its process is not there any more, or silent for long
  kWaiting,  // planned, and never begun
  kDone,
  kInterrupted,
  kFailed,
};
const char* TuningStateName(TuningState state);

struct TuningStatus {
  std::string task, target;
  TuningState state = TuningState::kWaiting;
  std::string host, updated;  // updated: ISO 8601
  int64_t pid = 0;
  int64_t trials = 0, budget = 0;
  double best_seconds = 0;   // 0: nothing correct yet
  double trial_seconds = 0;  // what a trial cost on average, over all its sessions; 0: unknown
  double left_seconds = -1;  // until its budget is met, if all is spent; below 0: unknown
};

struct WorkStatus {
  std::vector<TuningStatus> jobs;   // by target, then task
  double left_seconds = -1;         // of all that run, wait or were cut off, one after the other; below 0: unknown
  std::vector<std::string> failed;  // of networks that could not be extracted, the messages
  std::vector<std::string> unread;  // of files that could not be read, the messages; their jobs are missing
};

// `folder`: a work folder, or one with record files (work/records/TARGET). Jobs that were never begun are known of a
// work folder only. Times a trial of jobs without trials are the median of the others'.
Result<WorkStatus> ReadWorkStatus(const std::string& folder);

// A line a file that could not be read, a line a job, and one for all.
std::string WorkStatusText(const WorkStatus& status);

}  // namespace hone::command
