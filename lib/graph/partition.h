// Covers a sequence of items by options, each item by exactly one, with the least sum of costs: this is how a network
// is cut into kernels. Items are nodes, in an order in which they can run. An option computes some of them by one
// kernel and may need transforms (a tensor in another layout); each transform is paid once, however many options need
// it.
//
// The recurrence: let S be the state before item i: the chosen options that cover an item from i on, and the paid
// transforms that an option from i on may need. Then
//   best(i, S) = best(i + 1, S')                                   if an open option covers item i
//              = min over options o with first item i, whose items no open option covers, of
//                seconds(o) + sum of transforms(o) not paid in S + best(i + 1, S + o)                  otherwise
// and best(n, S) = 0. It is the dynamic program over a vertex order whose cost is bounded by the frontier (for paths,
// the segmentation of Bellman, "On the approximation of curves by line segments using dynamic programming", 1961; for
// the layouts of convolutions on CPUs, Liu et al., "Optimizing CNN Model Inference on CPUs", USENIX ATC 2019). Networks
// are nearly paths, so there are few different S and the result is exact.
//
// If there are more than `max_states` states after an item, only the cheapest continue (beam search). The result is
// then still a cover, but perhaps not the best one; `bound` is a lower bound for all covers.
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
  std::vector<int> options;  // options of the problem, by their first item
  double seconds = 0;
  double bound = 0;  // equal to `seconds` if exact
  bool exact = true;
};

inline constexpr size_t kMaxPartitionStates = 4096;

// Equal problems give equal results. Returns kInvalid if there is no cover (with a beam: it found no cover) or an index
// is out of range.
Result<Partition> SolvePartition(const PartitionProblem& problem, size_t max_states = kMaxPartitionStates);

}  // namespace hone::graph
