// Bounds: how far each stage's loops run, and the values of a tensor's indices in terms of these loops.
//
// The first pass, as all others need its results. It only reads the schedule and creates no statements.
//
// Idea: visit consumers before producers. The output computes its whole shape. An attached stage computes the region
// that its readers access inside its place: arith/interval.h gives that region with the loops inside the place running
// and the loops outside it symbolic. Extents then propagate down through the stage's splits and fusions
// (schedule/relation.h), and the values of its axes propagate up.
//
// Invariants: a region covers every element that a reader accesses, and may be larger. A split that does not divide its
// axis has either a shorter last loop or a Guard, so iterations beyond the axis store nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arith/simplify.h"
#include "ir/visitor.h"
#include "lower/gpu_places.h"

namespace hone::lower {

struct Loop {
  std::string axis;
  Var var;
  Expr extent;  // in terms of loops outside it; counts from 0
};

// A condition that is false for iterations beyond a tail; needed if a tail could not become a shorter loop.
struct Guard {
  Expr condition;
  int position = 0;  // of the innermost loop whose variable it reads
  bool reduce = false;
  bool edge = false;  // the bound is the tensor's region, not the loops': a false guard is still inside the buffer
  bool fill = false;  // stores zero where it is false (lower/gpu_fill.cc)
};

struct StageBounds {
  std::vector<Expr> min,
      extent;                 // computed region, a pair per dimension, in terms of loops around the stage
  std::vector<int64_t> size;  // constant upper bounds of extent
  std::vector<int64_t> box;   // GPU, attached: extents of the loops; a guard excludes iterations beyond extent
  std::vector<Loop> loops;    // one per leaf of the stage, outermost first
  std::vector<Guard> guards;
  ir::VarMap values;  // te's axes (spatial ones with the region's min) in terms of loops
};

struct Bounds {
  std::map<std::string, StageBounds> stages;  // without inlined ones
  arith::Analyzer analyzer;                   // knows the range of every loop variable
};

// Fills `bounds`, which must be empty. With `places` for a GPU, all loops have constant extents (tails are guards,
// since threads run in step), and regions in shared memory are those of a whole block.
void InferBounds(const Schedule& schedule, Bounds* bounds, const GpuPlaces* places = nullptr);

}  // namespace hone::lower
