// A cover of a row of items by options, each item by exactly one, with the least sum of costs: how a network is cut
// into kernels. Items are nodes, in an order in which they can run; an option computes some of them by one kernel and
// may demand transforms (a tensor in another layout), each of which is paid once, however many ask for it.
//
// The recurrence: let S be what the items before i leave open: the options begun there that cover an item from i on,
// and the transforms paid there that an option from i on may demand. Then
//   best(i, S) = best(i + 1, S')                                   if an open option covers item i
//              = min over options o with first item i, that cover no item which an open one does, of
//                seconds(o) + sum of transforms(o) not paid in S + best(i + 1, S + o)                  otherwise
// and best(n, S) = 0. It is the dynamic program over a vertex order whose cost is bounded by the frontier (for paths,
// the segmentation of Bellman, "On the approximation of curves by line segments using dynamic programming", 1961; for
// the layouts of convolutions on CPUs, Liu et al., "Optimizing CNN Model Inference on CPUs", USENIX ATC 2019). Networks
// are nearly paths: the number of different S is small, and the result exact.
//
// Where there are more than `max_states` of them after an item, the cheapest go on (a beam). Then the result is a cover
// still but perhaps not the best one; `bound` says what no cover can be below.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"

namespace hone::graph {

struct PartitionOption {
  std::vector<int> items;  // ascending, at least one
  double seconds = 0;      // at least 0
  std::vector<int> transforms;
};

struct PartitionProblem {
  int items = 0;
  std::vector<PartitionOption> options;
  std::vector<double> transforms;  // seconds of each, at least 0
};

struct Partition {
  std::vector<int> options;  // of the problem, by their first item
  double seconds = 0;
  double bound = 0;  // equal to `seconds` if exact
  bool exact = true;
};

inline constexpr size_t kMaxPartitionStates = 4096;

// Equal problems give equal results. kInvalid if there is no cover (with a beam: none was found) or an
// index is none.
Result<Partition> SolvePartition(const PartitionProblem& problem, size_t max_states = kMaxPartitionStates);

}  // namespace hone::graph
