// Bounds: how far each stage's loops run, and the values of a tensor's indices in terms of these loops.
//
// The first pass, as all others need its answers. It reads only the schedule and makes no statement.
//
// Idea: visit consumers before producers. The output computes its whole shape. An attached stage computes the region
// that its readers touch inside its place: arith/interval.h gives that region with the loops inside the place running
// and the loops outside it symbolic. Extents then go down through the stage's splits and fusions (schedule/relation.h),
// and the values of its axes come up.
//
// Invariants: a region covers every element that a reader touches, and may be larger. A split that does not divide its
// axis has either a shorter last loop or a Guard, so iterations beyond the axis store nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arith/simplify.h"
#include "base/result.h"
#include "ir/stmt.h"
#include "ir/visitor.h"
#include "lower/gpu_places.h"
#include "schedule/schedule.h"

namespace hone::lower {

struct Loop {
  std::string axis;
  ir::Var var;
  ir::Expr extent;  // in terms of loops outside it; counts from 0
};

// A condition that iterations beyond a tail must fail; needed where a tail could not become a shorter loop.
struct Guard {
  ir::Expr condition;
  int position = 0;  // of the innermost loop whose variable it reads
  bool reduce = false;
  bool edge = false;  // of the tensor's region, not of the loops: it fails inside the buffer
  bool fill = false;  // where it fails, zero is stored (lower/gpu_fill.cc)
};

struct StageBounds {
  std::vector<ir::Expr> min,
      extent;                 // the region that is computed, a pair a dimension; in terms of loops around the stage
  std::vector<int64_t> size;  // constant upper bounds of extent
  std::vector<int64_t> box;   // GPU, attached: how far the loops run; iterations beyond extent fail a guard
  std::vector<Loop> loops;    // one a leaf of the stage, outermost first
  std::vector<Guard> guards;
  ir::VarMap values;  // te's axes (spatial ones with the region's min) in terms of loops
};

struct Bounds {
  std::map<std::string, StageBounds> stages;  // without inlined ones
  arith::Analyzer analyzer;                   // knows the range of every loop variable
};

// Fills `bounds`, which must be empty. Any schedule that schedule/ accepted has bounds; the Status is for what may
// come. With `places` for a GPU: all loops have constant extents (tails are guards, since threads run in step), and
// regions in shared memory are those of a whole block.
Status InferBounds(const schedule::Schedule& schedule, Bounds* bounds, const GpuPlaces* places = nullptr);

}  // namespace hone::lower
