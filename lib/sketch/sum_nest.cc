#include "sketch/sum_nest.h"

#include <algorithm>
#include <numeric>

#include "arith/linear.h"
#include "base/integers.h"
#include "ir/walk.h"
#include "te/stage.h"

namespace hone::sketch {
namespace {

template <typename Node>
std::vector<const Node*> NodesIn(const ir::Expr& body) {
  std::vector<const Node*> nodes;
  ir::Walk(body, [&](const auto& op) {
    if constexpr (std::is_same_v<std::decay_t<decltype(op)>, Node>) nodes.push_back(&op);
  });
  return nodes;
}

bool IsSum(const te::TensorNode& node) {
  const auto* reduce = node.kind == te::TensorKind::kCompute ? node.body.as<ir::Reduce>() : nullptr;
  const bool number = node.type == DType::Float(32) || node.type == DType::Int(32);
  return reduce != nullptr && reduce->reducer == ir::Reducer::kSum && number;
}

bool IsElementwise(const te::TensorNode& node) { return te::IsStage(node) && node.reduce_axes.empty(); }

// The sum that `out` reads, only at its own index.
std::optional<te::Tensor> SumBehind(const te::Tensor& out) {
  if (IsSum(*out.node())) return out;
  if (!IsElementwise(*out.node())) return {};
  std::optional<te::Tensor> sum;
  for (const ir::Access* access : NodesIn<ir::Access>(out.node()->body)) {
    const te::TensorNode& node = te::NodeOf(*access);
    if (node.kind == te::TensorKind::kPlaceholder || node.constant) continue;
    if (!IsSum(node) || access->indices.size() != out.node()->axes.size()) return {};
    for (size_t i = 0; i < access->indices.size(); ++i) {
      if (access->indices[i].get() != ir::Expr(out.node()->axes[i].var).get()) return {};
    }
    if (sum && sum->node() != &node) return {};
    sum = te::Tensor(&node);
  }
  return sum;
}

class Reader {
 public:
  Reader(SumNest* nest, const std::vector<std::string>& constants) : nest_(*nest), constants_(constants) {}

  bool Read(const ir::Access& access) {
    const te::TensorNode& node = te::NodeOf(access);
    const bool named = std::find(constants_.begin(), constants_.end(), node.name) != constants_.end();
    SumRead read{te::Tensor(&node), {}, node.constant || named};
    if (IsElementwise(node)) {
      if (nest_.source.defined() && nest_.source.node() != &node) return false;
      nest_.source = read.tensor;
    } else if (te::IsStage(node)) {
      return false;
    }
    for (const ir::Expr& index : access.indices) {
      read.indices.emplace_back();
      for (const arith::Linear::Term& term : arith::ToLinear(index).terms) {
        std::optional<Term> found = TermOf(term.term);
        if (!found) return false;
        found->coefficient = term.coefficient;
        read.indices.back().push_back(*found);
      }
    }
    nest_.reads.push_back(std::move(read));
    return true;
  }

 private:
  std::optional<Term> TermOf(const ir::Expr& e) const {
    if (const auto* binary = e.as<ir::Binary>()) {
      const auto* by = binary->b.as<ir::IntImm>();
      std::optional<Term> inner = TermOf(binary->a);
      if (by == nullptr || !inner || by->value < 1 || inner->modulus != INT64_MAX) return {};
      if (e.kind() == ir::ExprKind::kDiv) return inner->divisor *= by->value, inner;
      if (e.kind() == ir::ExprKind::kMod) return inner->modulus = by->value, inner;
      return {};
    }
    for (size_t i = 0; i < nest_.axes.size(); ++i) {
      if (ir::Expr(nest_.axes[i].var).get() == e.get()) return Term{i};
    }
    return {};
  }

  SumNest& nest_;
  const std::vector<std::string>& constants_;
};

bool IsZero(const ir::Expr& e) {
  const auto* value = e.as<ir::FloatImm>();
  return value != nullptr && value->value == 0;
}

// Splits reduce axes that are indexed by blocks.
void SplitBlocked(SumNest* nest) {
  for (size_t i = nest->outputs; i < nest->axes.size(); ++i) {
    int64_t size = 1;
    for (const SumRead& read : nest->reads) {
      for (const std::vector<Term>& index : read.indices) {
        for (const Term& term : index) {
          if (term.axis == i && term.modulus < nest->axes[i].extent) size = term.modulus;
        }
      }
    }
    if (size == 1) continue;
    const ir::IterVar whole = nest->axes[i];
    const std::string name = whole.var.name();
    nest->blocked.push_back({name, size});
    nest->axes[i] = {ir::Var(name + ".b"), CeilDiv(whole.extent, size)};
    nest->axes.insert(nest->axes.begin() + static_cast<ptrdiff_t>(i) + 1, {ir::Var(name + ".r"), size});
    for (SumRead& read : nest->reads) {
      for (std::vector<Term>& index : read.indices) {
        std::vector<Term> terms;
        for (Term term : index) {
          term.axis += term.axis > i;
          if (term.axis != i) {
            terms.push_back(term);
          } else if (term.divisor == size && term.modulus == INT64_MAX) {
            terms.push_back({i, term.coefficient});
          } else if (term.divisor == 1 && term.modulus == size) {
            terms.push_back({i + 1, term.coefficient});
          } else if (term.divisor == 1 && term.modulus == INT64_MAX) {
            terms.push_back({i, term.coefficient * size});
            terms.push_back({i + 1, term.coefficient});
          } else {
            terms.push_back({i, term.coefficient, CeilDiv(term.divisor, size), term.modulus});  // only for its size
          }
        }
        index = std::move(terms);
      }
    }
    ++i;
  }
}

// Indices of an output's axis by runs of equal length.
void MarkSteady(SumNest* nest) {
  for (SumRead& read : nest->reads) {
    for (std::vector<Term>& index : read.indices) {
      for (Term& term : index) {
        term.steady = term.axis < nest->last() && term.divisor > 1 && term.modulus == INT64_MAX &&
                      nest->axes[term.axis].extent % term.divisor == 0;
      }
    }
  }
}

// Whether the output's last axis is the last index of the tensor, or does not index it.
bool Streams(const SumNest& nest, const SumRead& read) {
  if (read.constant && nest.DigitsOf(read)) return true;
  for (size_t d = 0; d < read.indices.size(); ++d) {
    for (const Term& term : read.indices[d]) {
      if (term.axis != nest.last()) continue;
      if (d + 1 < read.indices.size() || read.indices[d].size() > 1) return false;
      if (term.coefficient != 1 || term.divisor != 1 || term.modulus != INT64_MAX) return false;
    }
  }
  return true;
}

}  // namespace

bool SumRead::Uses(size_t axis) const {
  for (const std::vector<Term>& index : indices) {
    for (const Term& term : index) {
      if (term.axis == axis && !term.steady) return true;
    }
  }
  return false;
}

double SumRead::Elements(const std::vector<int64_t>& cover) const {
  double elements = 1;
  for (size_t d = 0; d < indices.size(); ++d) {
    int64_t reach = 1, values = 1;
    for (const Term& term : indices[d]) {
      const int64_t n = std::min(CeilDiv(cover[term.axis], term.divisor), term.modulus);
      reach += term.coefficient * (n - 1);
      values = std::min(values * n, tensor.shape()[d]);
    }
    elements *= static_cast<double>(std::min({reach, values, tensor.shape()[d]}));
  }
  return elements;
}

std::vector<int64_t> SumNest::Extents() const {
  std::vector<int64_t> extents;
  for (const ir::IterVar& axis : axes) extents.push_back(axis.extent);
  return extents;
}

bool SumNest::SourceReadsArguments() const {
  if (!source.defined()) return true;
  return std::ranges::all_of(
      te::InputsOf(source), [](const te::Tensor& input) { return input.node()->kind == te::TensorKind::kPlaceholder; });
}

bool SumNest::IsLacked(size_t axis) const {
  return std::any_of(reads.begin(), reads.end(), [&](const SumRead& r) { return !r.Uses(axis); });
}

bool SumNest::SameReads(size_t a, size_t b) const {
  return std::all_of(reads.begin(), reads.end(), [&](const SumRead& r) { return r.Uses(a) == r.Uses(b); });
}

bool SumNest::IsWindow(size_t axis) const {
  for (const SumRead& read : reads) {
    for (const std::vector<Term>& index : read.indices) {
      bool here = false, output = false;
      for (const Term& term : index)
        here = here || term.axis == axis, output = output || (term.axis < outputs && !term.steady);
      if (here && output) return true;
    }
  }
  return false;
}

int64_t SumNest::Steps() const {
  int64_t steps = 1;
  for (size_t i = outputs; i < axes.size(); ++i) steps *= axes[i].extent;
  return steps;
}

bool SumNest::IsAsked(size_t axis) const { return std::ranges::count(asked, axis) > 0; }

int64_t SumNest::Run(size_t axis) const {
  int64_t run = 0;
  for (const SumRead& read : reads) {
    for (const std::vector<Term>& index : read.indices) {
      for (const Term& term : index) {
        if (term.axis == axis && term.steady) run = std::gcd(run, term.divisor);
      }
    }
  }
  return run;
}

std::optional<std::vector<Digit>> SumNest::DigitsOf(const SumRead& read) const {
  std::vector<Digit> digits;
  for (size_t d = 0; d < read.indices.size(); ++d) {
    std::vector<Term> terms = read.indices[d];
    std::erase_if(terms, [&](const Term& term) { return axes[term.axis].extent == 1; });
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
    int64_t unit = 1;
    for (const Term& term : terms) {
      if (term.coefficient != unit || term.divisor != 1 || term.modulus != INT64_MAX) return {};
      digits.push_back({term.axis, d, unit, &term == &terms.back()});
      unit *= axes[term.axis].extent;
    }
    if (terms.empty() && read.tensor.shape()[d] != 1) return {};
  }
  return digits;
}

std::optional<SumNest> SumNestOf(const te::Tensor& out, const std::vector<std::string>& constants, bool streams) {
  SumNest nest;
  const std::optional<te::Tensor> sum = SumBehind(out);
  if (!sum) return {};
  nest.out = out, nest.sum = *sum;
  const te::TensorNode& node = *sum->node();
  if (node.axes.size() < 2) return {};
  nest.axes = node.axes, nest.outputs = node.axes.size();
  nest.axes.insert(nest.axes.end(), node.reduce_axes.begin(), node.reduce_axes.end());
  ir::Expr body = node.body.as<ir::Reduce>()->body;
  const auto* call = body.as<ir::Call>();
  if (call != nullptr && call->fn == ir::Intrinsic::kIfThenElse && streams && IsZero(call->args[2])) {
    for (const ir::VarNode* var : NodesIn<ir::VarNode>(call->args[0])) {
      for (size_t i = 0; i < nest.outputs; ++i) {
        if (ir::Expr(nest.axes[i].var).get() == var && !nest.IsAsked(i)) nest.asked.push_back(i);
      }
    }
    body = ir::Expr(call->args[1]);
  }
  if (!NodesIn<ir::Select>(body).empty()) return {};
  Reader reader(&nest, constants);
  for (const ir::Access* access : NodesIn<ir::Access>(body)) {
    if (!reader.Read(*access)) return {};
  }
  SplitBlocked(&nest);
  if (streams) MarkSteady(&nest);
  if (streams && !std::ranges::all_of(nest.reads, [&](const SumRead& r) { return Streams(nest, r); })) return {};
  for (size_t i = 0; i < nest.outputs; ++i) {
    if (nest.IsLacked(i)) return nest;
  }
  return {};
}

}  // namespace hone::sketch
