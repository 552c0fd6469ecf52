// Tensor expressions: what is computed, not how. An operator is a small DAG of these.
//
//   Tensor a = te::Placeholder("a", {n, k});
//   ir::IterVar r = te::ReduceAxis(k, "k");
//   Tensor c = te::Compute("c", {n, m}, {"i", "j"}, [&](const std::vector<ir::Var>& x) {
//     return te::Sum(a(x[0], r.var) * b(r.var, x[1]), {r}); });
//
// Shapes are static, in elements, row-major. A computation's body reads other tensors through ir::Access nodes; a
// Reduce may stand only at the root of a body.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace hone::te {

// Where a tensor's values come from.
enum class TensorKind {
  kPlaceholder,  // the caller
  kCompute,      // its body
};

struct TensorNode final : ir::TensorNode {
  TensorNode(std::string n, DType t, std::vector<int64_t> s) : ir::TensorNode(std::move(n), t, std::move(s)) {}
  TensorKind kind = TensorKind::kPlaceholder;
  std::vector<ir::IterVar> axes;         // of a computation: one a dimension
  std::vector<ir::IterVar> reduce_axes;  // of its root Reduce, in order; else empty
  ir::Expr body;                         // of a computation
  // Depends on constant operands alone (weights): computed once, by a function of its own, not in each run.
  bool constant = false;
};

// A counted handle, as ir's. Identity is the node; names must be unique within one DAG.
class Tensor : public ir::TensorHandle {
 public:
  Tensor() = default;
  explicit Tensor(const TensorNode* node) : ir::TensorHandle(node) {}
  const TensorNode* node() const { return static_cast<const TensorNode*>(get()); }
  const std::string& name() const { return node()->name; }
  const std::vector<int64_t>& shape() const { return node()->shape; }
  DType type() const { return node()->type; }

  ir::Expr operator()(const std::vector<ir::Expr>& indices) const;
  template <typename... I>
  ir::Expr operator()(ir::Expr first, I... rest) const {
    return (*this)(std::vector<ir::Expr>{first, ir::Expr(rest)...});
  }
};

Tensor Placeholder(std::string name, std::vector<int64_t> shape, DType type = DType::Float(32));
// axis_names: one a dimension, unique, the names that schedule steps use.
Tensor Compute(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
               const std::function<ir::Expr(const std::vector<ir::Var>&)>& body);
// The same, marked constant (see TensorNode::constant). REQUIRES: it reads only placeholders and constant computations.
Tensor ComputeConstant(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
                       const std::function<ir::Expr(const std::vector<ir::Var>&)>& body);

// A computation over given axes: `body` uses their variables (steps that rewrite computations).
Tensor ComputeOver(std::string name, std::vector<ir::IterVar> axes, ir::Expr body, bool constant = false);

ir::IterVar ReduceAxis(int64_t extent, std::string name);
ir::Expr Sum(ir::Expr body, std::vector<ir::IterVar> axes);
ir::Expr MaxOver(ir::Expr body, std::vector<ir::IterVar> axes);
ir::Expr MinOver(ir::Expr body, std::vector<ir::IterVar> axes);
// The value a reduction starts from: 0, the lowest or the highest of the type (-inf, inf for floats).
ir::Expr ReduceIdentity(ir::Reducer reducer, DType type);
// One step of a reduction: a + b, or the larger or smaller of both; a float is NaN if either is.
ir::Expr CombineReduction(ir::Reducer reducer, ir::Expr a, ir::Expr b);

// Usual math on floats.
ir::Expr Exp(ir::Expr x);
ir::Expr Sqrt(ir::Expr x);
ir::Expr Tanh(ir::Expr x);
// Evaluates only the chosen side, so `if_true` may read at an index that is only valid there (padding).
ir::Expr IfThenElse(ir::Expr condition, ir::Expr if_true, ir::Expr if_false);

// All tensors that `outputs` need, each after those it reads, outputs included; deterministic order.
std::vector<Tensor> TopologicalOrder(const std::vector<Tensor>& outputs);
// The tensors that t's body reads, each once, in order of first appearance.
std::vector<Tensor> InputsOf(const Tensor& t);
// `t` with another body or reads (used by inlining and caching): replaces reads of `from` by reads of `to`.
ir::Expr ReplaceReads(const ir::Expr& body, const Tensor& from, const Tensor& to);
// `body` with each read of `from` at some indices replaced by what `make` makes of these.
ir::Expr ReplaceReads(const ir::Expr& body, const Tensor& from,
                      const std::function<ir::Expr(const std::vector<ir::Expr>&)>& make);
// The element of `tensor` at indices that may lie beyond its end, where it is 0. `reach`: the indices' largest values
// plus one; nothing is tested where they stay inside.
ir::Expr ReadOrZero(const Tensor& tensor, std::vector<ir::Expr> indices, const std::vector<int64_t>& reach);
// `body` with each read of `tensor` replaced by tensor's body at those indices. REQUIRES: a computation, not a
// reduction.
ir::Expr Inline(const ir::Expr& body, const Tensor& tensor);

}  // namespace hone::te
