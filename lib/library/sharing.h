// Memory that tensors of a network share: kernels that may write their output over their residual, and concatenations
// without copying.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "library/kernels.h"
#include "target/target.h"

namespace hone::library {

// The operand `residual` of a workload with an addition in its epilogue, in op::Operator::Operands order; -1 without
// one.
int ResidualOperand(const Workload& workload, const Target& target);

// For each kernel: whether its output may lie where its residual lies.
//
// Element i of the output needs only element i of the residual. So it suffices that a kernel writes each element once,
// after it has read the residual there: no partial sums in the output, and no tile that a ragged edge computes twice.
// Templates do not promise that, so each kernel is tested: it runs in one thread on random values, once with separate
// memory and once in place; equal bytes mean yes. The addresses that a kernel accesses do not depend on the values, and
// elements do not depend on each other's order, so the answer holds for all values and any number of threads.
//
// REQUIRES: this machine can run the target's code.
Result<std::vector<bool>> InPlaceKernels(const std::vector<NetworkKernel>& kernels, const Target& target);

// Concatenations without copying: the parts are slices of the whole, and the kernel that computes a part writes it
// directly into its place.

struct Slice {
  std::string whole;   // a concatenation, which may itself be a slice of another one
  int64_t offset = 0;  // bytes from its start
};

struct ConcatSlices {
  std::map<std::string, Slice> parts;     // by tensor
  std::map<std::string, int64_t> wholes;  // size in bytes of each concatenation that becomes unnecessary

  // The place of a tensor in the outermost whole. A tensor that is not a part is its own whole.
  Slice Find(const std::string& tensor) const;
};

// A concatenation of channels becomes unnecessary if each part is contiguous in the result and a node computes it for
// this concatenation alone, where it occurs once. Contiguous means: one image (doc/internals/graph.md, Memory, explains
// why not several), and parts that fill whole blocks of channels (except the last part) or, if stored plainly, whole
// lines of 64 bytes (Backend::slice_alignment: devices have their own). The concatenation stays if it or a part is an
// input or output of the network, as these belong to the caller. REQUIRES: canonical workloads.
ConcatSlices FindConcatSlices(const graph::Graph& graph, const Target& target);

}  // namespace hone::library
