#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "ir/visitor.h"
#include "ir/walk.h"
#include "te/tensor.h"

namespace hone::te {

using ir::Expr;

namespace {

Tensor AsTensor(const ir::TensorHandle& handle) { return Tensor(static_cast<const TensorNode*>(handle.get())); }

void AppendAfterInputs(const Tensor& t, std::unordered_set<const void*>* seen, std::vector<Tensor>* order) {
  if (!seen->insert(t.get()).second) return;
  for (const Tensor& input : InputsOf(t)) AppendAfterInputs(input, seen, order);
  order->push_back(t);
}

}  // namespace

std::vector<Tensor> InputsOf(const Tensor& t) {
  std::vector<Tensor> reads;
  const auto add = [&](const ir::Access& op) {
    auto same = [&](const Tensor& known) { return known.same_as(op.tensor); };
    if (std::none_of(reads.begin(), reads.end(), same)) reads.push_back(AsTensor(op.tensor));
  };
  ir::Walk(t.node()->body, ir::Overloaded{add, [](const auto&) {}});
  return reads;
}

std::vector<Tensor> TopologicalOrder(const std::vector<Tensor>& outputs) {
  std::unordered_set<const void*> seen;
  std::vector<Tensor> order;
  for (const Tensor& t : outputs) AppendAfterInputs(t, &seen, &order);
  return order;
}

Expr ReplaceReads(const Expr& body, const Tensor& from, const Tensor& to) {
  HONE_CHECK(from.shape().size() == to.shape().size() && from.type() == to.type());
  return ReplaceReads(body, from, [&](const std::vector<Expr>& indices) { return to(indices); });
}

Expr ReplaceReads(const Expr& body, const Tensor& from, const std::function<Expr(const std::vector<Expr>&)>& make) {
  return ir::Rewrite(body, [&](const ir::Access& op, ir::Mutator& self) -> std::optional<Expr> {
    if (!from.same_as(op.tensor)) return std::nullopt;
    std::vector<Expr> indices;
    for (const Expr& index : op.indices) indices.push_back(self.Mutate(index));
    return make(indices);
  });
}

Expr ReadOrZero(const Tensor& tensor, std::vector<Expr> indices, const std::vector<int64_t>& reach) {
  Expr inside;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t extent = tensor.shape()[i];
    if (reach[i] <= extent) continue;
    const Expr condition = indices[i] < extent;
    inside = inside.defined() ? inside && condition : condition;
    indices[i] = ir::Min(indices[i], extent - 1);
  }
  const Expr read = tensor(indices);
  return inside.defined() ? ir::MakeSelect(inside, read, ir::Imm(tensor.type(), 0)) : read;
}

Expr Inline(const Expr& body, const Tensor& tensor) {
  HONE_CHECK(tensor.node()->kind == TensorKind::kCompute && tensor.node()->reduce_axes.empty());
  const TensorNode& node = *tensor.node();
  return ReplaceReads(body, tensor, [&](const std::vector<Expr>& indices) {
    ir::VarMap map;
    for (size_t i = 0; i < indices.size(); ++i) map[node.axes[i].var.node()] = indices[i];
    return ir::Substitute(node.body, map);
  });
}

}  // namespace hone::te
