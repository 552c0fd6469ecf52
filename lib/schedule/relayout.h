// relayout: stores a constant input in another layout, in the order in which a kernel reads it.
//
// The stored tensor's dimensions are parts of the constant's. A part `d0/16%4` of dimension 0 takes index / 16 % 4;
// `d0%16` is its innermost 16, `d0/64` its outer indices, `d1` a whole dimension. The parts of a dimension must tile
// it: from the innermost one, each begins where the previous one ends, and the outermost one has no limit. Their order
// is free, so any split and permutation is possible. Where parts reach beyond a dimension's end, zeros are stored.
//
//   weight[o, k]  relayout weight d0/64 d1 d0%64 -> packed     packed[t, k, v] = weight[t * 64 + v, k], or 0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "te/tensor.h"

namespace hone::schedule {

// One dimension of the stored tensor: index / step % extent of the constant's dimension `source`.
struct LayoutPart {
  size_t source = 0;
  int64_t step = 1;
  int64_t extent = 0;  // as stored; for the outermost part of a dimension, enough for the rest
  bool outermost = false;

  ir::Expr Of(const std::vector<ir::Expr>& indices) const;
};

// Parses `words` ("d0/64", "d1", "d0%64") for a constant of `shape`. Returns kInvalid, in one line, for malformed parts
// and for parts that do not tile the dimensions.
Result<std::vector<LayoutPart>> ParseLayout(const std::vector<std::string>& words, const std::vector<int64_t>& shape);

// The constant stored by `parts`, as a constant computation `name`. If the constant is computed itself, its computation
// is merged into this one. REQUIRES: a placeholder, or a constant computation without a reduction; parts from
// ParseLayout for its shape.
te::Tensor StoreBy(const std::vector<LayoutPart>& parts, const te::Tensor& constant, const std::string& name);

}  // namespace hone::schedule
