// Facts about its task that a tuner may use beside the space. All of it is part of what its proposals are a function
// of, but for `threads`, which must not change them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/target.h"
#include "task/outcome.h"
#include "task/workload.h"

namespace hone::search {

// The history of another task: same template (at least one of them) and same target, any shape.
struct Donor {
  Workload workload;
  std::vector<Outcome> outcomes;  // their indices are of the donor's own space: use the values
};

// The loops of a point as scheduled, before anything is vectorized or unrolled (compile::LowerLoops). Thread-safe; an
// error means that the point cannot be lowered. `config` may be one of a donor's, with the donor's workload.
using LoopProgram = std::function<Result<ir::Function>(const Workload& workload, const Config& config)>;

// An operator's closed-form estimate of the cost of a point (op/estimate/estimate.h): the logarithm of an estimated
// time, in any unit, then features of it; of one length for all points of a template, on any shape. Empty: nothing is
// known. What it returns for a workload is for one thread.
using PointCost = std::function<std::vector<double>(const Config& config)>;
using CostEstimate = std::function<PointCost(const Workload& workload)>;

struct TunerContext {
  Workload workload;  // its op is empty for invented spaces
  Target target;
  int threads = 1;            // that a tuner may use for itself
  bool like_autotvm = false;  // the constants of AutoTVM's tuners instead of ours
  std::vector<Donor> donors;  // most useful first; the order is part of the input
  CostEstimate estimate;           // null: none
  std::vector<PointIndex> defaults;  // a sensible legal point of each template, as indices of the space
  LoopProgram loops;          // null: tuners whose features need it are refused
  int group = 0;              // trials that `auto` plans at a time; 0: as many as it likes best
};

}  // namespace hone::search
