// A sum as a nest of loops: what a rule asks about a computation, whatever its operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "te/tensor.h"

namespace hone::sketch {

// An index of a tensor is a sum of such terms: coefficient * (axis / divisor % modulus).
struct Term {
  size_t axis = 0;  // of SumNest::axes
  int64_t coefficient = 1, divisor = 1, modulus = INT64_MAX;
  bool steady = false;  // the same for all indices of a tile: see SumNest::Run
};

// A tensor that the sum reads.
struct SumRead {
  te::Tensor tensor;
  std::vector<std::vector<Term>> indices;  // one list for each dimension
  bool constant = false;                   // the prepare function may store it in another order

  int64_t bytes() const { return tensor.type().bytes(); }  // of an element
  // Whether the indices of a tile along an axis read different elements.
  bool Uses(size_t axis) const;
  // Elements that are read while each axis runs over `cover` of its indices.
  double Elements(const std::vector<int64_t>& cover) const;
};

// A digit of a constant's index as a number: `unit` is the weight of this axis, `highest` marks the most significant
// one.
struct Digit {
  size_t axis = 0, dimension = 0;
  int64_t unit = 1;
  bool highest = false;
};

// A reduce axis that some tensor indexes by blocks (axis / size and axis % size) counts as two axes, named NAME.b for
// the blocks and NAME.r.
struct BlockedAxis {
  std::string name;
  int64_t size = 1;
};

struct SumNest {
  te::Tensor out;  // element-wise in `sum`, or the sum itself
  te::Tensor sum;
  te::Tensor source;              // no reduction (a padded copy), and read by the sum; may be null
  std::vector<ir::IterVar> axes;  // of the output, then of the reduction
  size_t outputs = 0;             // how many are axes of the output
  std::vector<BlockedAxis> blocked;
  // Axes of the output that a condition on the products asks for, such as the rows of a convolution whose taps in
  // padding count as 0. A tile with several of their indices would have to ask at each step.
  std::vector<size_t> asked;
  std::vector<SumRead> reads;

  size_t last() const { return outputs - 1; }  // the axis of the vectors
  std::vector<int64_t> Extents() const;
  // Whether the source, if there is one, reads only arguments of the kernel.
  bool SourceReadsArguments() const;
  // An axis of the output that some tensor lacks, which reads the same values for all its indices.
  bool IsLacked(size_t axis) const;
  // Whether the same tensors have both axes.
  bool SameReads(size_t a, size_t b) const;
  // A reduce axis that shares an index with an axis of the output, as those of a convolution's window do.
  bool IsWindow(size_t axis) const;
  int64_t Steps() const;            // of the reduction
  bool IsAsked(size_t axis) const;  // one of `asked`
  // How many successive indices of an output's axis read the same elements of some tensor, such as all blocks of
  // channels of a group: a tile must not cross their ends. 0: of no tensor.
  int64_t Run(size_t axis) const;
  // The digits of all indices. Nothing if an index is not such a number, or does not cover its dimension.
  std::optional<std::vector<Digit>> DigitsOf(const SumRead& read) const;
};

// `constants` are the names of the arguments that are constants. Nothing unless
// - `out` is a sum of f32 or i32, or element-wise in one;
// - each tensor that the sum reads is an argument, a constant, or (at most one) a stage without a reduction;
// - indices are sums of terms, and no value is read under a condition; if `streams`, all may be under one, else 0;
// - if `streams`: each tensor has the output's last axis as its last index, or not at all; or it is a constant with
//   DigitsOf. Then tiles stay within the runs of each axis;
// - some tensor lacks an axis.
std::optional<SumNest> SumNestOf(const te::Tensor& out, const std::vector<std::string>& constants, bool streams = true);

}  // namespace hone::sketch
