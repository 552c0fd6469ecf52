// Tuner: proposes which points of a space to try next. A pure function of (space, context, seed, history): resuming
// means replaying the history, and equal histories give equal proposals, whatever the number of threads. It does not
// measure, use a clock or write files. A tuner knows a point by its place in the space, from which it takes steps;
// everybody else by its values (Config::ValueDigest), which also mean something in another space.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"
#include "search/tuner/context.h"
#include "task/outcome.h"

namespace hone::search {

class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual const char* name() const = 0;
  // Does what the first NextBatch needs and what needs no history. Optional: NextBatch does it otherwise.
  virtual void Prepare() {}
  // Up to n indices of legal points that were neither proposed by this object nor in the history. Fewer near the end of
  // the space, or if a tuner waits for outcomes before it continues. Empty, with no proposal outstanding, if no points
  // are left.
  virtual std::vector<PointIndex> NextBatch(int n) = 0;
  // Reports the outcomes of proposals, in any grouping but in the order of proposal. A config's index must be that in
  // the space, or kNoIndex if it is not a point of it.
  virtual void Update(const std::vector<Outcome>& outcomes) = 0;
  // The expected gain of the next batch over the fastest outcome, as a share of its time (0.03 is 3 %). Call it between
  // batches. Nothing if this tuner has no expectation (yet).
  virtual std::optional<double> ExpectedGain() const { return std::nullopt; }
};

// `name` is one of TunerNames() or an alias. Returns kInvalid, with a suggestion and the list, for an unknown name;
// kUnsupported, with what to do, for a tuner that this build lacks or that needs loops where context.loops is missing.
// `space` must outlive the tuner; `context` is copied as needed.
Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const TaskSpace& space, uint64_t seed,
                                         const TunerContext& context = {});
// `annealing`, which has no options (annealing_tuner.cc).
std::unique_ptr<Tuner> MakeAnnealingTuner(const TaskSpace& space, uint64_t seed);
// The errors of MakeTuner that depend only on the name.
Status CheckTunerName(const std::string& name);
// "random", "grid", "ga", "annealing", "xgb", ..., without aliases ("gridsearch", "sa").
std::vector<std::string> TunerNames();

}  // namespace hone::search
