// Which of a task's recorded configurations may be the best in the network.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/best_file.h"
#include "record/store.h"

namespace hone::command {

struct FoundFinalists {
  std::string fingerprint;                    // of the machine that measured them
  std::vector<pipeline::Finalist> finalists;  // the fastest first
  bool marked = false;                        // the first was timed while others used the machine
};

// At most `count` (at least 1) of the store's trials that were correct and timed on the newest session's machine and
// that `allows` lets pass: kOk, each artifact once, none slower than kFinalistReach times the first, of equals the
// earliest trial first. A trial that was timed while others used the machine is in reach by its fastest run. The
// fastest of every template in that reach comes before second ones of another: what a kernel does to the caches around
// it differs most between algorithms. Empty if there is no such trial.
Result<FoundFinalists> FindFinalists(const record::Store& store, int count,
                                     const std::function<bool(const Config&)>& allows);

inline constexpr double kFinalistReach = 1.3;

}  // namespace hone::command
