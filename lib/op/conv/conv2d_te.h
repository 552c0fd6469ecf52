// The parts of a convolution's te DAG that its templates share.
#pragma once

#include <functional>

#include "ir/expr.h"
#include "op/conv/conv2d_shape.h"
#include "te/tensor.h"

namespace hone::op {

// "pad": the padded input, `ph` x `pw` in the last spatial axes, from blocked [n, co, h, w, ci] or plain [n, c, h, w]
// data; outside stands `value`. Axes n co ih iw ci, or n c ih iw. Conditions that always hold are left out.
te::Tensor MakePad(const te::Tensor& data, int64_t top, int64_t left, int64_t ph, int64_t pw, double value = 0);

// The weight [o, c, ..] as [out, in, ..], whole blocks of channels with zeros in what is not there: a constant
// "NAME.blocked", or `raw` itself where nothing is missing. REQUIRES: out and in are no less than the weight's own.
te::Tensor WholeBlocks(const te::Tensor& raw, int64_t out, int64_t in);

// 0 <= position < extent, without what the range low .. high of the position makes certain; null if nothing is left.
ir::Expr WithinExtent(const ir::Expr& position, int64_t low, int64_t high, int64_t extent);
// a && b, of which either may be null.
ir::Expr BothOf(const ir::Expr& a, const ir::Expr& b);

}  // namespace hone::op
