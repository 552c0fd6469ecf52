// Which of a task's recorded configurations may be the best in the network.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/best_file.h"
#include "record/store.h"

namespace hone::command {

// The store's trials that were correct and timed (kOk) on the newest session's machine and that `allows` lets pass.
struct CorrectTrials {
  std::string fingerprint;                      // of that machine; empty: there was no session
  std::map<int64_t, record::Session> sessions;  // on it, by id
  std::vector<record::Trial> trials;            // the fastest first, of equals the earliest
};
Result<CorrectTrials> FindCorrectTrials(const record::Store& store, const std::function<bool(const Config&)>& allows);

struct FoundFinalists {
  std::string fingerprint;                    // of the machine that measured them
  std::vector<pipeline::Finalist> finalists;  // the fastest first
  bool marked = false;                        // the first was timed while others used the machine
};

// At most `count` (at least 1) of those: each artifact once, none slower than kFinalistReach times the first. A trial
// that was timed while others used the machine is in reach by its fastest run. The fastest of every template in that
// reach comes before second ones of another: what a kernel does to the caches around it differs most between
// algorithms. Empty if there is no such trial.
Result<FoundFinalists> FindFinalists(const record::Store& store, int count,
                                     const std::function<bool(const Config&)>& allows);

inline constexpr double kFinalistReach = 1.3;

}  // namespace hone::command
