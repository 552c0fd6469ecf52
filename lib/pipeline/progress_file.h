// TASKID.progress.json: the state of a running tuning job (session/progress.h writes it), for those who look at its
// folder.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone::pipeline {

inline constexpr char kProgressEnding[] = ".progress.json";

struct JobProgress {
  std::string task;           // id
  std::string state;          // "running", "done", "interrupted" or "failed"
  std::string host, updated;  // updated: ISO 8601
  int64_t pid = 0;            // 0: unknown
  int64_t trials = 0, budget = 0;
  double best_seconds = 0;   // 0: no correct trial yet
  double trial_seconds = 0;  // average seconds per trial over all its sessions; 0: unknown
};

// The progress file beside the record file `db`, "X.db".
std::string ProgressPath(const std::string& db);

// Returns kNotFound without the file; else kInvalid or kUnsupported with `path`.
Result<JobProgress> ReadProgress(const std::string& path);

}  // namespace hone::pipeline
