#include "op/conv/conv2d_te.h"

namespace hone::op {

using ir::Expr;

te::Tensor MakePad(const te::Tensor& data, const std::vector<int64_t>& before, const std::vector<int64_t>& extents,
                   const Expr& outside) {
  const size_t rank = before.size();
  const bool blocked = data.shape().size() == rank + 3;
  std::vector<int64_t> shape = data.shape();
  std::vector<std::string> axes = {"n", blocked ? "co" : "c"};
  for (size_t i = 0; i < rank; ++i) {
    shape[2 + i] = extents[i];
    axes.push_back("i" + std::string("dhw").substr(i + 3 - rank, 1));
  }
  if (blocked) axes.push_back("ci");
  return te::Compute("pad", shape, axes, [&](const std::vector<ir::Var>& x) {
    Expr inside;
    std::vector<Expr> at(x.begin(), x.end());
    for (size_t i = 2; i < 2 + rank; ++i) {
      const int64_t first = before[i - 2], end = data.shape()[i] + first;
      if (first > 0) inside = BothOf(inside, x[i] >= first);
      if (extents[i - 2] > end) inside = BothOf(inside, x[i] < end);
      at[i] = x[i] - first;
    }
    return ZeroOutside(inside, data(at), outside);
  });
}

std::string WholeBlocksName(const std::string& raw, int64_t o, int64_t c, int64_t out, int64_t in) {
  return o == out && c == in ? raw : raw + ".blocked";
}

te::Tensor WholeBlocks(const te::Tensor& raw, int64_t out, int64_t in) {
  std::vector<int64_t> shape = raw.shape();
  const std::string name = WholeBlocksName(raw.name(), shape[0], shape[1], out, in);
  if (name == raw.name()) return raw;
  shape[0] = out, shape[1] = in;
  std::vector<std::string> axes = {"o", "c"};
  for (size_t i = 2; i < shape.size(); ++i) axes.push_back("k" + std::to_string(i - 2));
  return te::ComputeConstant(name, shape, axes, [&](const std::vector<ir::Var>& x) {
    return te::ReadOrZero(raw, {x.begin(), x.end()}, shape);
  });
}

Expr BothOf(const Expr& a, const Expr& b) { return !a.defined() ? b : b.defined() ? a && b : a; }

Expr WithinExtent(const Expr& position, int64_t low, int64_t high, int64_t extent, const Expr& before) {
  Expr inside = before;
  if (low < 0) inside = BothOf(inside, Expr(0) <= position);
  if (high >= extent) inside = BothOf(inside, position < Expr(extent));
  return inside;
}

Expr ZeroOutside(const Expr& inside, const Expr& value, const Expr& outside) {
  if (!inside.defined()) return value;
  return te::IfThenElse(inside, value, outside.defined() ? outside : ir::Imm(value.type(), 0));
}

}  // namespace hone::op
