#include "op/conv/conv2d_te.h"

#include <utility>
#include <vector>

namespace hone::op {

using ir::Expr;

te::Tensor MakePad(const te::Tensor& data, int64_t top, int64_t left, int64_t ph, int64_t pw, double value) {
  std::vector<int64_t> shape = data.shape();
  int64_t h = shape[2], w = shape[3];
  shape[2] = ph, shape[3] = pw;
  std::vector<std::string> axes = {"n", "co", "ih", "iw", "ci"};
  if (shape.size() == 4) axes = {"n", "c", "ih", "iw"};
  return te::Compute("pad", shape, axes, [&](const std::vector<ir::Var>& x) {
    Expr inside;
    auto require = [&](Expr condition) { inside = inside.defined() ? inside && condition : condition; };
    if (top > 0) require(x[2] >= top);
    if (ph > h + top) require(x[2] < h + top);
    if (left > 0) require(x[3] >= left);
    if (pw > w + left) require(x[3] < w + left);
    std::vector<Expr> at(x.begin(), x.end());
    at[2] = x[2] - top;
    at[3] = x[3] - left;
    Expr read = data(at);
    return inside.defined() ? te::IfThenElse(inside, read, ir::Imm(data.type(), value)) : read;
  });
}

te::Tensor WholeBlocks(const te::Tensor& raw, int64_t out, int64_t in) {
  std::vector<int64_t> shape = raw.shape();
  if (out == shape[0] && in == shape[1]) return raw;
  shape[0] = out, shape[1] = in;
  std::vector<std::string> axes = {"o", "c"};
  for (size_t i = 2; i < shape.size(); ++i) axes.push_back("k" + std::to_string(i - 2));
  return te::ComputeConstant(raw.name() + ".blocked", shape, axes, [&](const std::vector<ir::Var>& x) {
    return te::ReadOrZero(raw, {x.begin(), x.end()}, shape);
  });
}

Expr BothOf(const Expr& a, const Expr& b) { return !a.defined() ? b : b.defined() ? a && b : a; }

Expr WithinExtent(const Expr& position, int64_t low, int64_t high, int64_t extent) {
  Expr above, below;
  if (low < 0) above = Expr(0) <= position;
  if (high >= extent) below = position < Expr(extent);
  return BothOf(above, below);
}

}  // namespace hone::op
