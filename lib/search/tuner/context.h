// Facts about its task that a tuner may use in addition to the space. Its proposals are a function of all of them,
// except for `threads`, which must not change them.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/target.h"
#include "task/outcome.h"
#include "task/workload.h"

namespace hone::search {

// The history of another task with the same target and at least one common template, and any shape.
struct Donor {
  Workload workload;
  std::vector<Outcome> outcomes;  // their indices belong to the donor's space: use the values
};

// The loops of a point as scheduled, before anything is vectorized or unrolled (compile::LowerLoops). Thread-safe; an
// error means that the point cannot be lowered. `config` may be a donor's, with the donor's workload.
using LoopProgram = std::function<Result<ir::Function>(const Workload& workload, const Config& config)>;

// An operator's closed-form estimate of the cost of a point (op/estimate/estimate.h): the logarithm of an estimated
// time, in any unit, then features of it; of equal length for all points and shapes of a template. Empty: no estimate.
// The returned function must be used by one thread only.
using PointCost = std::function<std::vector<double>(const Config& config)>;
using CostEstimate = std::function<PointCost(const Workload& workload)>;

struct TunerContext {
  Workload workload;  // its op is empty for artificial spaces
  Target target;
  int threads = 1;                   // that a tuner may use itself
  bool like_autotvm = false;         // use the constants of AutoTVM's tuners
  std::vector<Donor> donors;         // most useful first; the order affects the result
  CostEstimate estimate;             // null: no estimate
  std::vector<PointIndex> defaults;  // a sensible legal point of each template, as indices of the space
  LoopProgram loops;                 // null: tuners whose features need it are rejected
  int group = 0;                     // trials that `auto` plans at a time; 0: its own default
};

}  // namespace hone::search
