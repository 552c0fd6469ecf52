// Shared parts of the te DAGs of convolution templates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "te/tensor.h"

namespace hone::op {

// "pad": blocked [n, co, .., ci] or plain [n, c, ..] data of two or three spatial axes (id) ih iw with zeros around it,
// or `outside`: `before` of them in front, `extents` elements in total. Omits conditions that always hold.
te::Tensor MakePad(const te::Tensor& data, const std::vector<int64_t>& before, const std::vector<int64_t>& extents,
                   const ir::Expr& outside = ir::Expr());

// The weight [o, c, ..] as [out, in, ..], whole blocks of channels padded with zeros: a constant "NAME.blocked", or
// `raw` itself if nothing is missing. REQUIRES: out and in are at least the weight's own.
te::Tensor WholeBlocks(const te::Tensor& raw, int64_t out, int64_t in);
// The name of that tensor, for use in steps; the weight has o x c channels.
std::string WholeBlocksName(const std::string& raw, int64_t o, int64_t c, int64_t out, int64_t in);

// 0 <= position < extent, without the comparisons that the range low .. high of the position makes certain; null if
// none remains. They follow `before`, which may be null.
ir::Expr WithinExtent(const ir::Expr& position, int64_t low, int64_t high, int64_t extent,
                      const ir::Expr& before = ir::Expr());
// a && b, either of which may be null.
ir::Expr BothOf(const ir::Expr& a, const ir::Expr& b);
// `value` where `inside` holds (null: everywhere), else 0 or `outside`. Evaluates `value` only there.
ir::Expr ZeroOutside(const ir::Expr& inside, const ir::Expr& value, const ir::Expr& outside = ir::Expr());

}  // namespace hone::op
