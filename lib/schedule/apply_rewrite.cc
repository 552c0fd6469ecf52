#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "ir/visitor.h"
#include "schedule/apply.h"
#include "schedule/relayout.h"

namespace hone::schedule {
namespace {

using ir::Expr;
using ir::IterVar;
using ir::Var;

// The same computation with another body.
te::Tensor WithBody(const te::Tensor& t, Expr body) {
  return te::ComputeOver(t.name(), t.node()->axes, std::move(body), t.node()->constant);
}

// `body` with all reads of any version of the named tensor redirected to `to`.
Expr ReadInstead(const te::Tensor& reader, const std::string& name, const te::Tensor& to) {
  Expr body = reader.node()->body;
  for (const te::Tensor& read : te::InputsOf(reader)) {
    if (read.name() == name && !read.same_as(to)) body = te::ReplaceReads(body, read, to);
  }
  return body;
}

std::vector<IterVar> FreshAxes(const std::vector<IterVar>& axes) {
  std::vector<IterVar> fresh;
  for (const IterVar& axis : axes) fresh.push_back({Var(axis.var.name()), axis.extent});
  return fresh;
}

std::vector<Expr> AsIndices(const std::vector<IterVar>& axes) {
  std::vector<Expr> indices;
  for (const IterVar& axis : axes) indices.push_back(axis.var);
  return indices;
}

bool IsUntouched(const Stage& stage) {
  for (const Axis& axis : stage.axes) {
    if (axis.kind != ir::ForKind::kSerial || !axis.pragmas.empty()) return false;
  }
  return stage.relations.empty() && stage.prefetches.empty();
}

Status CheckNothingInside(const State& state, const Stage& stage) {
  for (const Stage& s : *state.stages) {
    if (s.attach == AttachKind::kAt && s.at_stage == stage.name()) {
      return Status::Invalid("`{}` is computed inside `{}`; do this before compute_at", s.name(), stage.name());
    }
  }
  return Status::Ok();
}

std::vector<Stage>::iterator PlaceOf(const State& state, const Stage* stage) {
  return state.stages->begin() + (stage - state.stages->data());
}

Status ApplyInline(const State& state, Stage* stage) {
  const std::string name = stage->name();
  if (stage->output) return Status::Invalid("`{}` is an output: it cannot be inlined", name);
  if (stage->reduction()) return Status::Invalid("`{}` is a reduction: it cannot be inlined", name);
  HONE_RETURN_IF_ERROR(CheckNothingInside(state, *stage));
  for (Stage* reader : state.ReadersOf(name)) {
    Expr body = ReadInstead(reader->tensor, name, stage->tensor);
    reader->tensor = WithBody(reader->tensor, te::Inline(body, stage->tensor));
  }
  stage->attach = AttachKind::kInline;
  return Status::Ok();
}

Status ApplyCacheRead(const Step& step, const State& state) {
  const std::string &source = step.stage, &name = step.results[0];
  HONE_ASSIGN_OR_RETURN(ir::Scope scope, ParseScope(step.argument));
  HONE_RETURN_IF_ERROR(state.CheckNewName(name));
  te::Tensor tensor;
  for (const te::Tensor& input : *state.inputs) {
    if (input.name() == source) tensor = input;
  }
  if (!tensor.defined()) {
    HONE_ASSIGN_OR_RETURN(Stage * stage, state.Need(source));
    tensor = stage->tensor;
  }
  std::vector<Stage*> readers = state.ReadersOf(source);
  std::vector<std::string> known;
  for (const Stage* r : readers) known.push_back(r->name());
  for (const std::string& reader : step.axes) {
    if (std::find(known.begin(), known.end(), reader) == known.end()) {
      return Status::NotFound("`{}` does not read `{}`{}", reader, source, SuggestionText(reader, known));
    }
  }
  std::vector<IterVar> axes = FreshAxes(tensor.node()->axes);
  if (tensor.node()->kind == te::TensorKind::kPlaceholder) {
    for (size_t i = 0; i < tensor.shape().size(); ++i) axes.push_back({Var(fmt::format("d{}", i)), tensor.shape()[i]});
  }
  te::Tensor copy = te::ComputeOver(name, axes, tensor(AsIndices(axes)));
  Stage* first = nullptr;
  for (Stage* reader : readers) {
    if (std::find(step.axes.begin(), step.axes.end(), reader->name()) == step.axes.end()) continue;
    if (!first) first = reader;
    reader->tensor = WithBody(reader->tensor, ReadInstead(reader->tensor, source, copy));
  }
  Stage stage = PlainStage(copy);
  stage.scope = scope;
  state.stages->insert(PlaceOf(state, first), std::move(stage));
  return Status::Ok();
}

Status ApplyCacheWrite(const Step& step, const State& state, Stage* stage) {
  const std::string& name = step.results[0];
  HONE_ASSIGN_OR_RETURN(ir::Scope scope, ParseScope(step.argument));
  HONE_RETURN_IF_ERROR(state.CheckNewName(name));
  HONE_RETURN_IF_ERROR(CheckNothingInside(state, *stage));
  if (!IsUntouched(*stage)) {
    return Status::Invalid("cache_write must come before other steps on the loops of `{}`", stage->name());
  }
  const te::TensorNode& node = *stage->tensor.node();
  te::Tensor cache = te::ComputeOver(name, node.axes, node.body);
  std::vector<IterVar> axes = FreshAxes(node.axes);
  te::Tensor copy = te::ComputeOver(stage->name(), axes, cache(AsIndices(axes)));
  Stage rest = PlainStage(copy);
  rest.output = stage->output;
  rest.scope = stage->scope;
  rest.attach = stage->attach;
  rest.at_stage = stage->at_stage;
  rest.at_axis = stage->at_axis;
  rest.aligns = stage->aligns;
  *stage = std::move(rest);
  Stage cached = PlainStage(cache);
  cached.scope = scope;
  state.stages->insert(PlaceOf(state, stage), std::move(cached));
  return Status::Ok();
}

// Rewrites all reads of a constant, in stages and in other constants, by `read` of their indices.
class ReadReplacement {
 public:
  ReadReplacement(std::string source, std::function<Expr(const std::vector<Expr>&)> read)
      : source_(std::move(source)), read_(std::move(read)) {}

  te::Tensor InStage(const te::Tensor& reader) {
    Expr body = reader.node()->body;
    for (const te::Tensor& t : te::InputsOf(reader)) {
      if (t.name() == source_) {
        body = te::ReplaceReads(body, t, read_);
      } else if (t.node()->constant) {
        const te::Tensor other = InConstant(t);
        if (!other.same_as(t)) body = te::ReplaceReads(body, t, other);
      }
    }
    return body.same_as(reader.node()->body) ? reader : WithBody(reader, body);
  }

  te::Tensor InConstant(const te::Tensor& constant) {
    te::Tensor& other = constants_[constant.get()];
    if (!other.defined()) other = InStage(constant);
    return other;
  }

 private:
  const std::string source_;
  const std::function<Expr(const std::vector<Expr>&)> read_;
  std::map<const void*, te::Tensor> constants_;  // rewritten constants, so that each is rewritten once for all readers
};

// Redirects readers of the constant `step.stage`, both stages and other constants, to `name`, which holds it stored by
// parts. If it is an input of the kernel, `name` takes its place.
Status ApplyRelayout(const Step& step, const State& state) {
  const std::string &source = step.stage, &name = step.results[0];
  te::Tensor constant;
  for (const te::Tensor& t : te::TopologicalOrder(*state.inputs)) {
    if (t.name() == source) constant = t;
  }
  if (!constant.defined()) {
    HONE_RETURN_IF_ERROR(state.Need(source).status());
    return Status::Invalid("`{}` is computed by the kernel: only its inputs can be stored another way", source);
  }
  if (!constant.node()->reduce_axes.empty()) {
    return Status::Unsupported("`{}` is a reduction: it is computed as it is stored", source);
  }
  HONE_RETURN_IF_ERROR(state.CheckNewName(name));
  HONE_ASSIGN_OR_RETURN(const std::vector<LayoutPart> parts, ParseLayout(step.axes, constant.shape()));
  const te::Tensor stored = StoreBy(parts, constant, name);
  HONE_RETURN_IF_ERROR(CheckElements(name, stored.shape()));
  ReadReplacement replacement(source, [&](const std::vector<Expr>& indices) {
    std::vector<Expr> at;
    for (const LayoutPart& part : parts) at.push_back(part.Of(indices));
    return stored(at);
  });
  for (Stage& stage : *state.stages) {
    if (stage.attach != AttachKind::kInline) stage.tensor = replacement.InStage(stage.tensor);
  }
  for (te::Tensor& t : *state.inputs) {
    if (t.name() == source) {
      t = stored;
    } else if (t.node()->constant) {
      t = replacement.InConstant(t);
    }
  }
  return Status::Ok();
}

// Computes partial results over `axis` in a separate stage; `stage` adds them up.
Status ApplyRfactor(const Step& step, const State& state, Stage* stage) {
  const std::string &factored = step.axes[0], &name = step.results[0];
  HONE_RETURN_IF_ERROR(state.CheckNewName(name));
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, factored));
  if (!axis->reduce)
    return Status::Invalid("rfactor needs a reduce axis; `{}` of `{}` is not one", factored, stage->name());
  const te::TensorNode& node = *stage->tensor.node();
  const auto& reduce = *node.body.as<ir::Reduce>();

  // New variables for the reduce loops, and te's reduce axes as expressions of them.
  std::map<std::string, Expr> value;
  Expr inside;  // condition that is false in tails
  std::vector<IterVar> loops;
  IterVar kept;
  for (const std::string& leaf : stage->leaf) {
    const Axis& a = *stage->FindAxis(leaf);
    if (!a.reduce) continue;
    IterVar loop{Var(leaf), a.extent};
    value[leaf] = loop.var;
    if (leaf == factored)
      kept = loop;
    else
      loops.push_back(loop);
  }
  for (size_t i = stage->relations.size(); i-- > 0;) {
    const Relation& r = stage->relations[i];
    if (r.kind == Relation::Kind::kFuse) {
      if (!stage->FindAxis(r.fuse.fused)->reduce) continue;
      return Status::Unsupported("rfactor of `{}`: its reduce axes were fused; use rfactor before fuse", stage->name());
    }
    if (!stage->FindAxis(r.split.parent)->reduce) continue;
    const std::string& parent = r.split.parent;
    const int64_t extent = stage->FindAxis(parent)->extent;
    value[parent] = value[r.split.outer] * r.split.factor + value[r.split.inner];
    if (stage->FindAxis(r.split.outer)->extent * stage->FindAxis(r.split.inner)->extent == extent) continue;
    Expr in = value[parent] < Expr(extent);
    inside = inside.defined() ? inside && in : in;
  }
  ir::VarMap map;
  for (const IterVar& root : reduce.axes) map[root.var.node()] = value[root.var.name()];
  Expr body = ir::Substitute(reduce.body, map);
  if (inside.defined()) body = te::IfThenElse(inside, body, te::ReduceIdentity(reduce.reducer, body.type()));
  if (!loops.empty()) body = te::ReduceOver(reduce.reducer, body, loops);
  std::vector<IterVar> partial_axes = {kept};
  partial_axes.insert(partial_axes.end(), node.axes.begin(), node.axes.end());
  te::Tensor partial = te::ComputeOver(name, partial_axes, body);
  HONE_RETURN_IF_ERROR(CheckElements(name, partial.shape()));

  std::vector<IterVar> axes = FreshAxes(node.axes);
  IterVar sum{Var(factored), kept.extent};
  std::vector<Expr> indices = {sum.var};
  for (const IterVar& a : axes) indices.push_back(a.var);
  te::Tensor total = te::ComputeOver(stage->name(), axes, te::ReduceOver(reduce.reducer, partial(indices), {sum}));

  std::set<std::string> gone;
  for (const Axis& a : stage->axes) {
    if (a.reduce && a.name != factored) gone.insert(a.name);
  }
  axis->pragmas.clear();
  axis->kind = ir::ForKind::kSerial;
  std::erase_if(stage->axes, [&](const Axis& a) { return gone.count(a.name) > 0; });
  std::erase_if(stage->leaf, [&](const std::string& leaf) { return gone.count(leaf) > 0; });
  std::erase_if(stage->relations, [&](const Relation& r) {
    return r.kind == Relation::Kind::kSplit && (gone.count(r.split.parent) || r.split.parent == factored);
  });
  stage->prefetches.clear();
  stage->tensor = total;
  state.stages->insert(PlaceOf(state, stage), PlainStage(partial));
  return Status::Ok();
}

}  // namespace

Status ApplyRewriteStep(const Step& step, const State& state) {
  if (step.kind == StepKind::kCacheRead) return ApplyCacheRead(step, state);
  if (step.kind == StepKind::kRelayout) return ApplyRelayout(step, state);
  HONE_ASSIGN_OR_RETURN(Stage * stage, state.Need(step.stage));
  if (step.kind == StepKind::kInline) return ApplyInline(state, stage);
  if (step.kind == StepKind::kCacheWrite) return ApplyCacheWrite(step, state, stage);
  return ApplyRfactor(step, state, stage);
}

}  // namespace hone::schedule
