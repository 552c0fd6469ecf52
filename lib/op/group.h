// Groups of operators as one te DAG, composed of the members' DAGs: the computation of every group that has no template
// of its own (chain/chain.h). The first member is computed by any of its algorithms, the others by `direct`.
//
// Members may see the storage of a tensor between them with different axes: rows and columns, or heads, tokens and
// channels. All stages get the axes of the common refinement, so a reshape is nothing, and the others read each other
// by plain indices. Then element-wise outputs of members are inlined:
// - one that only moves elements, into every reader whose vectors still run along the last index;
// - any other, into element-wise readers with as many elements.
// This leaves the stages inside of members, an element-wise stage before a reduction, and the output. If the
// output reads a sum with its axes in another order (a transpose behind a product), the sum gets the output's order.
#pragma once

#include "op/operator.h"
#include "task/workload.h"

namespace hone::op {

// REQUIRES: semantics::InferOutput accepts the group. Placeholders have the names of the group's operands. Returns an
// error if a member does not have the algorithm, or if axes do not fit: one divides the tensor into parts of 6, another
// into parts of 4.
Result<Computation> ComputeGroup(const Workload& group, const Target& target, const Algorithm& algorithm = {});

// Whether the stages and axes are those of the first member alone, whose output has become the group's: what follows is
// element-wise. Schedules of the first member then fit the group.
bool HasStagesOfFirstMember(const Workload& group, const Target& target);

// A tensor and another one that has the same storage.
struct SameStorage {
  te::Tensor placeholder, made;
};
// Rebuilds all tensors with the axes of the common refinement, and without the placeholders of `same`, whose readers
// read `made`. `tensors` are in topological order, with the readers of a placeholder behind what makes it; `names` has
// the new name of each. Returns the new tensors in the same order, null for placeholders of `same`.
Result<std::vector<Tensor>> RefineAxes(const std::vector<Tensor>& tensors, const std::vector<std::string>& names,
                                       const std::vector<SameStorage>& same);

}  // namespace hone::op
