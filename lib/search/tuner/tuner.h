// Tuner: proposes which points of a space to try next. A pure function of (space, seed, history): resuming is replaying
// the history, and equal histories give equal proposals. It measures nothing, knows no clock, keeps no file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"
#include "task/outcome.h"

namespace hone::search {

class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual const char* name() const = 0;
  // Up to n indices of legal points that were neither proposed by this object nor in the history; fewer near the end of
  // the space; none when nothing is left.
  virtual std::vector<uint64_t> NextBatch(int n) = 0;
  // What became of proposals, in any grouping but in the order of proposal.
  virtual void Update(const std::vector<Outcome>& outcomes) = 0;
};

// `name`: "random" | "grid" (also "gridsearch"). An unknown name: kInvalid with a suggestion and the list. `space` must
// outlive the tuner.
Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const TaskSpace& space, uint64_t seed);
Status CheckTunerName(const std::string& name);  // what MakeTuner says of it
std::vector<std::string> TunerNames();

}  // namespace hone::search
