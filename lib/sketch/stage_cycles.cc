#include "sketch/stage_cycles.h"

#include <algorithm>

namespace hone::sketch {

int64_t ElementsOf(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

double StageCycles::Of(const te::TensorNode& node) const {
  double cycles = 0;
  const auto call = [&](const ir::Call& op) {
    const bool fast = op.fn == ir::Intrinsic::kAbs || op.fn == ir::Intrinsic::kFloor || op.fn == ir::Intrinsic::kCeil;
    cycles += fast ? 0.5 : op.fn == ir::Intrinsic::kExp ? 9 : op.fn == ir::Intrinsic::kPow ? 40 : 14;
  };
  const auto binary = [&](const ir::Binary& op) {
    if (op.type.is_float()) cycles += op.kind == ir::ExprKind::kDiv ? 12 : 0.5;
  };
  ir::Walk(node.body, ir::Overloaded{call, binary, [&](const ir::Select&) { cycles += 0.5; },
                                     [&](const ir::Access& op) {
                                       const auto read = reads_.find(op.tensor->name);
                                       cycles += read == reads_.end() ? 0.5 : read->second;
                                     },
                                     [](const auto&) {}});
  return cycles;
}

bool MayComputeAgain(const te::Tensor& output) {
  constexpr double kMost = 500;
  StageCycles cycles;
  double most = 0;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    if (!IsStage(*t.node())) continue;
    const double own = cycles.Of(*t.node());
    if (t.node()->reduce_axes.empty()) cycles.Set(t.name(), own);
    most = std::max(most, own);
  }
  return most <= kMost;
}

}  // namespace hone::sketch
