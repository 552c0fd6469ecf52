#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ir/printer.h"
#include "schedule/apply.h"
#include "schedule/relation.h"

namespace hone::schedule {
namespace {

const char* KindWord(ir::ForKind kind) {
  if (kind == ir::ForKind::kSerial) return "serial";
  return kind <= ir::ForKind::kUnrolled ? ir::ForKindName(kind) : "bound to a GPU's index";
}

Status CheckNewAxes(const Stage& stage, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (stage.FindAxis(name)) return Status::Invalid("stage `{}` has an axis `{}` already", stage.name(), name);
    if (!seen.insert(name).second) return Status::Invalid("the name `{}` is given twice", name);
  }
  return Status::Ok();
}

// A loop that another step may still transform.
Result<Axis*> NeedPlainLoop(const State& state, Stage* stage, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, name));
  if (axis->kind != ir::ForKind::kSerial) {
    return Status::Invalid("axis `{}` of `{}` is {} already", name, stage->name(), KindWord(axis->kind));
  }
  for (const Stage& s : *state.stages) {
    if (s.attach == AttachKind::kAt && s.at_stage == stage->name() && s.at_axis == name) {
      return Status::Invalid("`{}` is computed at axis `{}` of `{}`; take `{}` apart before compute_at", s.name(), name,
                             stage->name(), name);
    }
  }
  for (const PrefetchNote& note : stage->prefetches) {
    if (note.axis == name) {
      return Status::Invalid("axis `{}` of `{}` has a prefetch; split and fuse before prefetch", name, stage->name());
    }
  }
  return axis;
}

void ReplaceLeaf(Stage* stage, const std::string& old, const std::vector<std::string>& by) {
  auto it = std::find(stage->leaf.begin(), stage->leaf.end(), old);
  it = stage->leaf.erase(it);
  stage->leaf.insert(it, by.begin(), by.end());
}

// From the innermost factor outwards, so that a factor that divides leaves no tail, whatever the others do.
Status ApplySplit(const Step& step, const State& state, Stage* stage) {
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedPlainLoop(state, stage, step.axes[0]));
  if (step.values.empty()) return Status::Invalid("split needs at least one factor");
  if (step.results.size() != step.values.size() + 1) return Status::Invalid("split needs one more result than factors");
  int64_t outermost = axis->stride;
  for (int64_t factor : step.values) {
    if (factor < 1) return Status::Invalid("factor {} is not positive", factor);
    if (factor > kMostExtent / outermost) return Status::Invalid("factor {} is too large", factor);
    outermost *= factor;
  }
  HONE_RETURN_IF_ERROR(CheckNewAxes(*stage, step.results));
  const bool reduce = axis->reduce;
  int64_t stride = axis->stride;
  std::string parent = step.axes[0];
  int64_t extent = axis->extent;
  for (size_t i = step.values.size(); i-- > 0;) {
    const int64_t factor = step.values[i];
    // The axis between two factors is not a loop: no step can name it.
    std::string outer = i == 0 ? step.results[0] : fmt::format("{}/{}", step.axes[0], step.results[i + 1]);
    stage->relations.push_back({Relation::Kind::kSplit, {parent, outer, step.results[i + 1], factor}, {}});
    stage->axes.push_back({step.results[i + 1], std::min(factor, extent), stride, reduce});
    extent = (extent + factor - 1) / factor;
    stride *= factor;
    stage->axes.push_back({outer, extent, stride, reduce});
    parent = outer;
  }
  ReplaceLeaf(stage, step.axes[0], step.results);
  return Status::Ok();
}

Status ApplyFuse(const Step& step, const State& state, Stage* stage) {
  if (step.axes.size() < 2) return Status::Invalid("fuse needs at least two axes");
  if (step.results.size() != 1) return Status::Invalid("fuse needs one result");
  HONE_RETURN_IF_ERROR(CheckNewAxes(*stage, step.results));
  std::vector<Axis> parts;
  for (const std::string& name : step.axes) {
    HONE_ASSIGN_OR_RETURN(Axis * axis, NeedPlainLoop(state, stage, name));
    parts.push_back(*axis);
  }
  const int first = LeafPosition(*stage, step.axes[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    if (LeafPosition(*stage, step.axes[i]) != first + static_cast<int>(i)) {
      return Status::Invalid("axes `{}` and `{}` of `{}` are not adjacent, outermost first (loops: {}); reorder before",
                             step.axes[i - 1], step.axes[i], stage->name(), fmt::join(stage->leaf, " "));
    }
    if (parts[i].reduce != parts[0].reduce) {
      return Status::Invalid("`{}` and `{}` cannot be fused: one is a reduce axis", step.axes[0], step.axes[i]);
    }
  }
  // Splits that do not divide round up each time.
  int64_t rounds = 1;
  for (const Axis& part : parts) {
    if (part.extent > 0 && rounds > kMostExtent / part.extent) {
      return Status::Invalid("`{}` would run through more than {} rounds", step.results[0], kMostExtent);
    }
    rounds *= part.extent;
  }
  Axis outer = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string name = i + 1 == parts.size() ? step.results[0] : fmt::format("{}*{}", outer.name, parts[i].name);
    stage->relations.push_back({Relation::Kind::kFuse, {}, {outer.name, parts[i].name, name}});
    outer = {name, outer.extent * parts[i].extent, 1, outer.reduce};
    stage->axes.push_back(outer);
  }
  for (size_t i = 1; i < parts.size(); ++i) ReplaceLeaf(stage, parts[i].name, {});
  ReplaceLeaf(stage, parts[0].name, step.results);
  return Status::Ok();
}

Status ApplyReorder(const Step& step, Stage* stage) {
  std::vector<size_t> places;
  std::set<std::string> seen;
  for (const std::string& name : step.axes) {
    HONE_RETURN_IF_ERROR(NeedLoop(stage, name).status());
    if (!seen.insert(name).second) return Status::Invalid("reorder names axis `{}` twice", name);
    places.push_back(LeafPosition(*stage, name));
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 0; i < places.size(); ++i) stage->leaf[places[i]] = step.axes[i];
  return Status::Ok();
}

Status ApplyKind(const Step& step, Stage* stage, ir::ForKind kind) {
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, step.axes[0]));
  if (axis->kind != ir::ForKind::kSerial) {
    return Status::Invalid("axis `{}` of `{}` is {} already", axis->name, stage->name(), KindWord(axis->kind));
  }
  if (axis->reduce && kind != ir::ForKind::kUnrolled && !ir::IsThreadLoop(kind)) {
    return Status::Invalid("reduce axis `{}` of `{}` cannot be {}: its iterations depend on each other; use rfactor",
                           axis->name, stage->name(), KindWord(kind));
  }
  if (kind == ir::ForKind::kVectorized) {
    for (const std::string& leaf : stage->leaf) {
      if (stage->FindAxis(leaf)->kind == kind) {
        return Status::Invalid("stage `{}` is vectorized along `{}` already", stage->name(), leaf);
      }
    }
  }
  axis->kind = kind;
  return Status::Ok();
}

Status ApplyBind(const Step& step, Stage* stage) {
  using enum ir::ForKind;
  std::vector<std::string> known;
  for (const ir::ForKind kind : {kBlockX, kBlockY, kBlockZ, kThreadX, kThreadY, kThreadZ, kVThread}) {
    const std::string name = ir::ForKindName(kind);
    known.push_back(name);
    if (step.argument != name) continue;
    HONE_RETURN_IF_ERROR(NeedLoop(stage, step.axes[0]).status());
    for (const std::string& leaf : stage->leaf) {
      if (kind == ir::ForKind::kVThread || stage->FindAxis(leaf)->kind != kind) continue;
      return Status::Invalid("axis `{}` of `{}` is bound to {} already", leaf, stage->name(), name);
    }
    if (const Axis& axis = *stage->FindAxis(step.axes[0]); axis.reduce && ir::IsThreadLoop(kind)) {
      for (const std::string& leaf : stage->leaf) {
        const Axis& other = *stage->FindAxis(leaf);
        if (!other.reduce || !ir::IsThreadLoop(other.kind)) continue;
        return Status::Invalid("reduce axis `{}` of `{}` is bound already: one can be; fuse them before", leaf,
                               stage->name());
      }
    }
    return ApplyKind(step, stage, kind);
  }
  return Status::Invalid("cannot bind to `{}`{}", step.argument, SuggestionText(step.argument, known));
}

Status ApplyPrefetch(const Step& step, const State& state, Stage* stage) {
  const std::string& tensor = step.axes[0];
  std::vector<std::string> reads = ReadsOf(*stage);
  for (const Stage& inside : *state.stages) {
    if (inside.attach != AttachKind::kAt || inside.at_stage != stage->name()) continue;
    for (std::string& name : ReadsOf(inside)) reads.push_back(std::move(name));
  }
  if (tensor != stage->name() && std::find(reads.begin(), reads.end(), tensor) == reads.end()) {
    return Status::NotFound("`{}` does not read `{}`{}", stage->name(), tensor, SuggestionText(tensor, reads));
  }
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, step.axes[1]));
  const int64_t level = step.values.size() > 1 ? step.values[1] : 1;
  if (level != 1 && level != 2) return Status::Invalid("prefetch into level {}: 1 or 2 is possible", level);
  const int64_t distance = step.values[0];
  if (distance < -kMostDistance || distance > kMostDistance)
    return Status::Invalid("prefetch {} bytes ahead: at most {} are possible", distance, kMostDistance);
  stage->prefetches.push_back({tensor, axis->name, distance, level});
  return Status::Ok();
}

// Leaves a note for lower/tensorize.cc or lower/dot4.cc, which check the loop's content once it is known.
Status ApplyTensorize(const Step& step, Stage* stage) {
  const std::vector<std::string> known = {"mma_tf32", "dot4"};
  HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, step.axes[0]));
  if (std::find(known.begin(), known.end(), step.argument) == known.end()) {
    return Status::Unsupported("tensorize: no target has `{}`{}", step.argument, SuggestionText(step.argument, known));
  }
  const int64_t steps = step.argument == known[0] ? 8 : 4;
  if (!axis->reduce || axis->extent != steps) {
    return Status::Invalid("tensorize {}: `{}` of `{}` must be a reduce axis of {}, split off before", step.argument,
                           axis->name, stage->name(), steps);
  }
  axis->pragmas.emplace_back("tensorize_" + step.argument, 1);
  return Status::Ok();
}

}  // namespace

Result<Axis*> NeedLoop(Stage* stage, const std::string& name) {
  if (LeafPosition(*stage, name) < 0) {
    if (stage->FindAxis(name)) {
      return Status::Invalid("axis `{}` of `{}` is no longer a loop: it was split or fused (loops: {})", name,
                             stage->name(), fmt::join(stage->leaf, " "));
    }
    return Status::NotFound("stage `{}` has no axis `{}`{}", stage->name(), name, SuggestionText(name, stage->leaf));
  }
  return const_cast<Axis*>(stage->FindAxis(name));
}

Status ApplyAxisStep(const Step& step, const State& state) {
  HONE_ASSIGN_OR_RETURN(Stage * stage, state.Need(step.stage));
  switch (step.kind) {
    case StepKind::kSplit:
      return ApplySplit(step, state, stage);
    case StepKind::kFuse:
      return ApplyFuse(step, state, stage);
    case StepKind::kReorder:
      return ApplyReorder(step, stage);
    case StepKind::kVectorize:
      return ApplyKind(step, stage, ir::ForKind::kVectorized);
    case StepKind::kUnroll:
      return ApplyKind(step, stage, ir::ForKind::kUnrolled);
    case StepKind::kParallel:
      return ApplyKind(step, stage, ir::ForKind::kParallel);
    case StepKind::kBind:
      return ApplyBind(step, stage);
    case StepKind::kPrefetch:
      return ApplyPrefetch(step, state, stage);
    case StepKind::kTensorize:
      return ApplyTensorize(step, stage);
    default: {  // kPragma
      HONE_ASSIGN_OR_RETURN(Axis * axis, NeedLoop(stage, step.axes[0]));
      if (const int64_t value = step.values[0]; value < 0 || value > kMostHint)
        return Status::Invalid("pragma {} {}: values are 0 .. {}", step.argument, value, kMostHint);
      axis->pragmas.emplace_back(step.argument, step.values[0]);
      return Status::Ok();
    }
  }
}

}  // namespace hone::schedule
