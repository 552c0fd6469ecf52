#include "op/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "semantics/attributes.h"
#include "semantics/semantics.h"
#include "te/stage.h"

namespace hone::op {
namespace {

using te::IsStage;

bool IsReduction(const Tensor& t) { return !t.node()->reduce_axes.empty(); }

int64_t ElementsOf(const Tensor& t) { return semantics::Product(t.shape()); }

std::vector<const ir::Access*> AccessesOf(const Expr& body, const te::TensorNode* to = nullptr) {
  std::vector<const ir::Access*> accesses;
  te::ForEachAccess(body, [&](const ir::Access& op) {
    if (to == nullptr || op.tensor.get() == to) accesses.push_back(&op);
  });
  return accesses;
}

// ---- the members' tensors, one after the other
struct Members {
  std::vector<Tensor> tensors, operands;
  std::vector<std::string> names;
  std::vector<SameStorage> same;
  double arithmetic = 0, flop = 0, rounding = 0;
};

Result<Members> MembersOf(const Workload& group, const Target& target, const Algorithm& algorithm) {
  Members all;
  std::vector<Tensor> outputs;
  const std::vector<Workload> parts = group.Parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(parts[i]));
    HONE_ASSIGN_OR_RETURN(const Computation made, op->Compute(parts[i], target, i == 0 ? algorithm : Algorithm()));
    HONE_CHECK(made.outputs.size() == 1);
    const double flop = semantics::Flop(parts[i]);
    all.arithmetic += made.arithmetic * flop, all.flop += flop;
    all.rounding += made.rounding;
    outputs.push_back(made.outputs[0]);
    for (size_t j = 0; j < made.inputs.size(); ++j) {
      const int maker = j < parts[i].inputs.size() ? group.Maker(i, j) : Workload::kOperand;
      if (maker == Workload::kOperand) {
        all.operands.push_back(made.inputs[j]);
      } else {
        all.same.push_back({made.inputs[j], outputs[static_cast<size_t>(maker)]});
      }
    }
    const bool last = i + 1 == parts.size();
    std::vector<Tensor> order = te::TopologicalOrder(made.outputs);
    for (const Tensor& input : made.inputs) {
      const auto same = [&](const Tensor& t) { return t.same_as(input); };
      if (std::none_of(order.begin(), order.end(), same)) order.insert(order.begin(), input);  // nothing reads it
    }
    for (const Tensor& t : order) {
      const bool placeholder = t.node()->kind == te::TensorKind::kPlaceholder;
      const bool output = t.same_as(made.outputs[0]);
      all.tensors.push_back(t);
      all.names.push_back(output && last          ? "out"
                          : output                ? fmt::format("m{}", i)
                          : placeholder || i == 0 ? MemberOperandName(t.name(), i)
                                                  : fmt::format("m{}.{}", i, t.name()));
    }
  }
  return all;
}

// ---- inlining
// Whether `body` reads what `move` reads along the last axis of the reader, or without it.
bool Streams(const Tensor& reader, const Expr& body, const Tensor& move) {
  if (reader.node()->axes.empty()) return true;
  const Var& last = reader.node()->axes.back().var;
  for (const Tensor& read : te::InputsOf(move)) {
    for (const ir::Access* access : AccessesOf(body, read.node())) {
      for (size_t d = 0; d < access->indices.size(); ++d) {
        const bool plain = d + 1 == access->indices.size() && access->indices[d].same_as(last);
        if (!plain && ir::UsesVar(access->indices[d], last)) return false;
      }
    }
  }
  return true;
}

// Inlines the outputs of members. A stage that stays and reads another one at each of its own indices gets its axes, so
// that steps for a member's output also fit what replaces it.
class Inliner {
 public:
  // `between`: the outputs of all members except the last.
  Inliner(const Tensor& out, const std::set<const void*>& between)
      : order_(te::TopologicalOrder({out})), between_(between) {
    for (const Tensor& t : order_) {
      if (IsStage(*t.node())) {
        for (const Tensor& read : te::InputsOf(t)) readers_[read.get()].push_back(t);
      }
    }
  }

  Tensor Run() {
    for (const Tensor& t : order_) {
      if (IsStage(*t.node())) Rebuild(t);
    }
    return now_.at(order_.back().get()).tensor;
  }

 private:
  struct Now {
    Tensor tensor;
    std::vector<std::optional<size_t>> places;  // of each axis among those before; nothing: extent 1
    bool inlined = false;

    Expr Read(const std::vector<Expr>& before) const {
      std::vector<Expr> indices;
      for (const std::optional<size_t>& place : places) indices.push_back(place ? before[*place] : Expr(0));
      return tensor(indices);
    }
  };

  void Rebuild(const Tensor& t) {
    const te::TensorNode& node = *t.node();
    Expr body = node.body;
    Now now;
    std::vector<ir::IterVar> axes = node.axes;
    for (size_t i = 0; i < axes.size(); ++i) now.places.push_back(i);
    for (const Tensor& read : te::InputsOf(t)) {
      if (!IsStage(*read.node())) continue;
      const Now& by = now_.at(read.get());
      body = te::ReplaceReads(body, read, [&](const std::vector<Expr>& before) { return by.Read(before); });
      if (!IsReduction(t) && between_.count(read.get()) > 0) Adopt(by.tensor, &body, &axes, &now.places);
      if (by.inlined) body = te::Inline(body, by.tensor);
    }
    now.tensor = te::ComputeOver(node.name, std::move(axes), std::move(body));
    now_[t.get()] = now;
    now_[t.get()].inlined = !IsReduction(t) && between_.count(t.get()) > 0 && CanInline(t, now);
  }

  // Gives a stage the axes of `read`, if it reads each element of it, in this order.
  static void Adopt(const Tensor& read, Expr* body, std::vector<ir::IterVar>* axes,
                    std::vector<std::optional<size_t>>* places) {
    const std::vector<const ir::Access*> accesses = AccessesOf(*body, read.node());
    std::vector<std::optional<size_t>> found;
    std::vector<ir::IterVar> own;
    ir::VarMap map;
    size_t next = 0;
    for (size_t d = 0; d < read.shape().size(); ++d) {
      own.push_back({Var(read.node()->axes[d].var.name()), read.shape()[d]});
      found.emplace_back();
      if (read.shape()[d] == 1) continue;
      while (next < axes->size() && (*axes)[next].extent == 1) ++next;
      if (next == axes->size() || !accesses[0]->indices[d].same_as((*axes)[next].var)) return;
      map[(*axes)[next].var.node()] = own.back().var;
      found.back() = next++;
    }
    while (next < axes->size() && (*axes)[next].extent == 1) ++next;
    if (next < axes->size()) return;
    for (const ir::IterVar& axis : *axes) {
      if (!map.try_emplace(axis.var.node(), Expr(0)).second) continue;
      // Another stage that is read along this axis needs it.
      for (const ir::Access* access : AccessesOf(*body)) {
        const auto uses = [&](const Expr& index) { return ir::UsesVar(index, axis.var); };
        const bool stage = IsStage(te::NodeOf(*access)) && access->tensor.get() != read.get();
        if (stage && std::any_of(access->indices.begin(), access->indices.end(), uses)) return;
      }
    }
    // At extents of 1, the new axes are as good as 0, and steps expect them.
    *body = te::ReplaceReads(ir::Substitute(*body, map), read, [&](const std::vector<Expr>& indices) {
      std::vector<Expr> here = indices;
      for (size_t d = 0; d < here.size(); ++d) {
        if (read.shape()[d] == 1) here[d] = own[d].var;
      }
      return read(here);
    });
    std::vector<std::optional<size_t>> composed;
    for (const std::optional<size_t>& place : found) composed.push_back(place ? (*places)[*place] : std::nullopt);
    *places = std::move(composed);
    *axes = std::move(own);
  }

  bool CanInline(const Tensor& t, const Now& now) const {
    const bool moves = now.tensor.node()->body.as<ir::Access>() != nullptr;
    const std::vector<Tensor>& readers = readers_.at(t.get());
    return std::all_of(readers.begin(), readers.end(), [&](const Tensor& reader) {
      if (!IsReduction(reader)) return moves || ElementsOf(reader) < 2 * ElementsOf(t);
      if (!moves) return false;
      const Expr read =
          te::ReplaceReads(reader.node()->body, t, [&](const std::vector<Expr>& before) { return now.Read(before); });
      return Streams(reader, te::Inline(read, now.tensor), now.tensor);
    });
  }

  std::vector<Tensor> order_;
  const std::set<const void*>& between_;
  std::map<const void*, std::vector<Tensor>> readers_;
  std::map<const void*, Now> now_;  // by the tensor before
};

// ---- the order of a sum's axes
// If `out` reads a single reduction, at one index that consists of all of its axes: both with the same axes in the same
// order.
Tensor WithSameAxes(const Tensor& out) {
  if (IsReduction(out)) return out;
  std::optional<Tensor> sum;
  const ir::Access* at = nullptr;
  for (const ir::Access* access : AccessesOf(out.node()->body)) {
    const te::TensorNode& node = te::NodeOf(*access);
    if (!IsStage(node)) continue;
    if (node.reduce_axes.empty() || (sum && sum->node() != &node)) return out;
    sum = Tensor(&node), at = access;
  }
  if (!sum) return out;
  // Axes of the sum in its new order; those of extent 1 that the output does not have are outermost.
  std::vector<ir::IterVar> ones, own, ordered(out.shape().size());
  for (size_t d = 0; d < at->indices.size(); ++d) {
    const ir::IterVar& axis = sum->node()->axes[d];
    size_t place = 0;
    while (place < ordered.size() && !at->indices[d].same_as(out.node()->axes[place].var)) ++place;
    if (place < ordered.size()) {
      ordered[place] = axis;
    } else if (axis.extent == 1) {
      ones.push_back(axis);
      own.push_back({Var(axis.var.name() + ".one"), 1});
    } else {
      return out;
    }
  }
  ir::VarMap zeros;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const ir::IterVar& axis = out.node()->axes[i];
    if (ordered[i].var.defined()) {
      ones.push_back(ordered[i]);
      own.push_back(axis);
    } else if (axis.extent == 1) {
      zeros[axis.var.node()] = Expr(0);
    } else {
      return out;
    }
  }
  for (const ir::Access* access : AccessesOf(out.node()->body, sum->node())) {
    for (size_t d = 0; d < at->indices.size(); ++d) {
      if (!access->indices[d].same_as(at->indices[d]) && sum->shape()[d] > 1) return out;
    }
  }
  const Tensor moved = te::ComputeOver(sum->name(), std::move(ones), sum->node()->body);
  std::vector<Expr> here;
  for (const ir::IterVar& axis : own) here.push_back(axis.var);
  Expr body = te::ReplaceReads(out.node()->body, *sum, [&](const std::vector<Expr>&) { return moved(here); });
  return te::ComputeOver(out.name(), std::move(own), ir::Substitute(body, zeros));
}

}  // namespace

Result<Computation> ComputeGroup(const Workload& group, const Target& target, const Algorithm& algorithm) {
  HONE_ASSIGN_OR_RETURN(const Members members, MembersOf(group, target, algorithm));
  HONE_ASSIGN_OR_RETURN(const std::vector<Tensor> refined, RefineAxes(members.tensors, members.names, members.same));
  const auto now = [&](const Tensor& before) {
    const auto at = std::find_if(members.tensors.begin(), members.tensors.end(),
                                 [&](const Tensor& t) { return t.same_as(before); });
    return refined[static_cast<size_t>(at - members.tensors.begin())];
  };
  Computation computation{.arithmetic = members.flop > 0 ? members.arithmetic / members.flop : 1,
                          .rounding = members.rounding + semantics::QuantisesFloats(group)};
  for (const Tensor& operand : members.operands) computation.inputs.push_back(now(operand));
  std::set<const void*> between;
  for (const SameStorage& pair : members.same) between.insert(now(pair.made).get());
  computation.outputs = {WithSameAxes(Inliner(refined.back(), between).Run())};
  return computation;
}

// An algorithm of a workload: `direct`, or that of its first template.
static Result<Algorithm> AnyAlgorithm(const Workload& w, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(w));
  if (op->Compute(w, target, Algorithm()).ok()) return Algorithm();
  for (const Template* t : op->Templates(w, target)) {
    HONE_ASSIGN_OR_RETURN(const Space space, t->MakeSpace(w, target));
    HONE_ASSIGN_OR_RETURN(const Config config, t->Default(space, w, target));
    HONE_ASSIGN_OR_RETURN(const Candidate candidate, t->Instantiate(w, target, config));
    return candidate.algorithm;
  }
  return Status::Unsupported("{} has no template for {}", w.Text(), target.Text());
}

bool HasStagesOfFirstMember(const Workload& group, const Target& target) {
  const Workload first = group.Parts()[0];
  const Result<Algorithm> algorithm = AnyAlgorithm(first, target);
  if (!algorithm.ok()) return false;
  const Result<Computation> whole = ComputeGroup(group, target, *algorithm), alone = Compute(first, target, *algorithm);
  if (!whole.ok() || !alone.ok()) return false;
  const auto stages = [](const Computation& c) {
    std::string text;
    for (const Tensor& t : te::TopologicalOrder(c.outputs)) {
      if (!IsStage(*t.node())) continue;
      text += t.name();
      for (const auto* axes : {&t.node()->axes, &t.node()->reduce_axes}) {
        for (const ir::IterVar& axis : *axes) text += fmt::format(" {}={}", axis.var.name(), axis.extent);
      }
      text += ";";
    }
    return text;
  };
  return stages(*whole) == stages(*alone);
}

}  // namespace hone::op
