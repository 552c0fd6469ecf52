#include "op/layout.h"

#include "op/defined_operator.h"
#include "op/plain_schedule.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Result<FixedKernel> BuildBlock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  int lanes = target.ChannelBlock();
  int64_t pixels = semantics::Product(s, 2, s.size()), blocks = CeilDiv(s[1], lanes);
  Tensor data = te::Placeholder("data", {s[0], s[1], pixels});
  Tensor out =
      te::Compute("out", {s[0], blocks, pixels, lanes}, {"n", "co", "x", "ci"}, [&](const std::vector<Var>& x) {
        Expr c = x[1] * lanes + x[3];
        if (s[1] % lanes == 0) return data(x[0], c, x[2]);
        return ir::MakeSelect(c < s[1], data(x[0], ir::Min(c, s[1] - 1), x[2]), ir::Imm(DType::Float(32), 0));
      });
  return FixedKernel{{{data}, {out}}, SpreadOut(s[0] * blocks, "x", pixels, target.threads)};
}

// Blocked [n, c, ..] to plain: a single pixel is copied, several are gathered along them.
Result<FixedKernel> BuildUnblock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  const int block = target.ChannelBlock(), lanes = target.FloatLanes();
  const bool blocked = semantics::CanBeBlocked(w.inputs[0]);
  const int64_t pixels = semantics::Product(s, 2, s.size()), blocks = CeilDiv(s[1], block);
  Tensor data, out;
  std::vector<std::string> outer;  // axes around the vectors
  if (!blocked) {
    data = te::Placeholder("data", {w.inputs[0].Elements()});
    out = te::Compute("out", {w.inputs[0].Elements()}, {"x"}, [&](const std::vector<Var>& x) { return data(x[0]); });
  } else if (pixels == 1) {
    data = te::Placeholder("data", {s[0], blocks * block});
    out = te::Compute("out", {s[0], s[1]}, {"n", "x"}, [&](const std::vector<Var>& x) { return data(x[0], x[1]); });
    outer = {"n", "x.o"};
  } else {
    data = te::Placeholder("data", {s[0], blocks, pixels, block});
    out = te::Compute("out", {s[0], s[1], pixels}, {"n", "c", "x"},
                      [&](const std::vector<Var>& x) { return data(x[0], x[1] / block, x[2], x[1] % block); });
    outer = {"n", "c"};
  }
  std::vector<Step> steps = {Split("out", "x", {lanes}, {"x.o", "x.i"}), Vectorize("out", "x.i")};
  if (!outer.empty()) steps.push_back(Fuse("out", outer, "task"));
  steps.push_back(Parallel("out", outer.empty() ? "x.o" : "task"));
  return FixedKernel{{{data}, {out}}, std::move(steps)};
}

Result<FixedKernel> BuildPad2d(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  std::vector<int64_t> p = semantics::Expanded(w, "pad", 4, 0);
  int lanes = target.ChannelBlock();
  int64_t blocks = CeilDiv(s[1], lanes), h = s[2], width = s[3];
  Tensor data = te::Placeholder("data", {s[0], blocks, h, width, lanes});
  Tensor out =
      te::Compute("out", {s[0], blocks, h + p[0] + p[2], width + p[1] + p[3], lanes}, {"n", "co", "y", "x", "ci"},
                  [&](const std::vector<Var>& x) {
                    Expr row = x[2] - p[0], column = x[3] - p[1];
                    Expr inside = row >= 0 && row < h && (column >= 0 && column < width);
                    return te::IfThenElse(inside, data(x[0], x[1], row, column, x[4]), ir::Imm(DType::Float(32), 0));
                  });
  return FixedKernel{{{data}, {out}}, SpreadOut(s[0] * blocks, "y", h + p[0] + p[2], target.threads)};
}

}  // namespace

const Operator& Block() {
  static const FixedOperator op("block", 1, BuildBlock);
  return op;
}
const Operator& Unblock() {
  static const FixedOperator op("unblock", 1, BuildUnblock);
  return op;
}
const Operator& Flatten() {
  static const FixedOperator op("flatten", 1, BuildUnblock);
  return op;
}
const Operator& Pad2d() {
  static const FixedOperator op("pad2d", 1, BuildPad2d);
  return op;
}

}  // namespace hone::op
