// Finds the recorded configurations of a task that may be the best in the network.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/best_file.h"
#include "record/store.h"

namespace hone::command {

using Allows = std::function<bool(const Outcome&)>;

// The store's correct trials (kOk) with a possible time, from one machine, that `allows` accepts.
struct CorrectTrials {
  std::string fingerprint;                      // that machine's; empty without sessions
  std::map<int64_t, record::Session> sessions;  // the sessions on it, by id
  std::vector<record::Trial> trials;            // fastest first; the earliest of equals first
  std::vector<std::string> impossible;  // correct ones with an impossible time (possible_time.h): "trial 3: <why>"
};
// `fingerprint`: the machine's; empty: that of the newest session.
Result<CorrectTrials> FindCorrectTrials(const record::Store& store, const Allows& allows,
                                        const std::string& fingerprint = "");

struct FoundFinalists {
  std::string fingerprint;                    // of the measuring machine
  std::vector<pipeline::Finalist> finalists;  // fastest first
  bool marked = false;                        // the first was timed while others used the machine
  std::vector<std::string> impossible;        // CorrectTrials::impossible
};

// Returns at most `count` (at least 1) of the correct trials: each artifact once, and only those within kFinalistReach
// times the fastest. A trial that was timed while others used the machine counts with its fastest run. Each template's
// fastest trial goes before any template's second one, because kernels of different algorithms differ most in what they
// do to the caches. Empty if there is no correct trial. `candidate` returns what a trial was built from; if it
// fails, the finalist has no candidate.
using CandidateOfTrial = std::function<Result<hone::Candidate>(const Outcome&)>;
Result<FoundFinalists> FindFinalists(const record::Store& store, int count, const Allows& allows,
                                     const CandidateOfTrial& candidate, const std::string& fingerprint = "");

inline constexpr double kFinalistReach = 1.3;

}  // namespace hone::command
