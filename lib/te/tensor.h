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

// The source of a tensor's values.
enum class TensorKind {
  kPlaceholder,  // the caller
  kCompute,      // its body
};

struct TensorNode final : ir::TensorNode {
  TensorNode(std::string n, DType t, std::vector<int64_t> s) : ir::TensorNode(std::move(n), t, std::move(s)) {}
  TensorKind kind = TensorKind::kPlaceholder;
  std::vector<ir::IterVar> axes;         // of a computation: one for each dimension
  std::vector<ir::IterVar> reduce_axes;  // of the root Reduce, in order; else empty
  ir::Expr body;                         // of a computation
  // Depends only on constant operands (weights), so a function of its own computes it once, not in each run.
  bool constant = false;
};

// A counted handle, like those of ir. The node is the identity; names must be unique within one DAG.
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
  ir::Expr operator()(ir::Expr first, const I&... rest) const {
    return (*this)(std::vector<ir::Expr>{first, ir::Expr(rest)...});
  }
};

// The tensor that `access` reads.
inline const TensorNode& NodeOf(const ir::Access& access) {
  return static_cast<const TensorNode&>(*access.tensor.get());
}

Tensor Placeholder(std::string name, std::vector<int64_t> shape, DType type = DType::Float(32));
// axis_names: one for each dimension, unique; schedule steps use these names.
Tensor Compute(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
               const std::function<ir::Expr(const std::vector<ir::Var>&)>& body);
// As above, marked constant (see TensorNode::constant). REQUIRES: it reads only placeholders and constant computations.
Tensor ComputeConstant(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
                       const std::function<ir::Expr(const std::vector<ir::Var>&)>& body);

// A computation over given axes, whose variables `body` uses. For steps that rewrite computations.
Tensor ComputeOver(std::string name, std::vector<ir::IterVar> axes, ir::Expr body, bool constant = false);

ir::IterVar ReduceAxis(int64_t extent, std::string name);
ir::Expr ReduceOver(ir::Reducer reducer, ir::Expr body, std::vector<ir::IterVar> axes);
ir::Expr Sum(ir::Expr body, std::vector<ir::IterVar> axes);
ir::Expr MaxOver(ir::Expr body, std::vector<ir::IterVar> axes);
ir::Expr MinOver(ir::Expr body, std::vector<ir::IterVar> axes);
// The initial value of a reduction: 0, or the lowest or highest value of the type (-inf, inf for floats).
ir::Expr ReduceIdentity(ir::Reducer reducer, DType type);
// One step of a reduction: a + b, or the larger or smaller of both; NaN if either float is NaN.
ir::Expr CombineReduction(ir::Reducer reducer, ir::Expr a, ir::Expr b);

// Usual math on floats.
ir::Expr Exp(ir::Expr x);
ir::Expr Sqrt(ir::Expr x);
ir::Expr Tanh(ir::Expr x);
// Evaluates only the chosen side, so `if_true` may read at an index that is only valid there (padding).
ir::Expr IfThenElse(ir::Expr condition, ir::Expr if_true, ir::Expr if_false);

// All tensors that `outputs` need, including the outputs, each after the tensors that it reads. The order is
// deterministic.
std::vector<Tensor> TopologicalOrder(const std::vector<Tensor>& outputs);
// The tensors that t's body reads, each once, in order of first appearance.
std::vector<Tensor> InputsOf(const Tensor& t);
// `body` with reads of `from` replaced by reads of `to`; used by inlining and caching.
ir::Expr ReplaceReads(const ir::Expr& body, const Tensor& from, const Tensor& to);
// `body` with each read of `from` replaced by the result of `make` for its indices.
ir::Expr ReplaceReads(const ir::Expr& body, const Tensor& from,
                      const std::function<ir::Expr(const std::vector<ir::Expr>&)>& make);
// The element of `tensor` at the indices, or 0 if they lie beyond its end. `reach` has the largest value of each index
// plus one; indices that always stay inside are not tested.
ir::Expr ReadOrZero(const Tensor& tensor, std::vector<ir::Expr> indices, const std::vector<int64_t>& reach);
// `body` with each read of `tensor` replaced by tensor's body at those indices. REQUIRES: a computation, not a
// reduction.
ir::Expr Inline(const ir::Expr& body, const Tensor& tensor);

}  // namespace hone::te
