#include <algorithm>

#include "base/text.h"
#include "schedule/apply.h"
#include "schedule/relation.h"

namespace hone::schedule {
namespace {

// Whether stage `s` is computed inside loop `axis` of `consumer`, or is the consumer itself, whose body is innermost.
bool Inside(const State& state, const Stage* s, const Stage& consumer, const std::string& axis) {
  for (size_t depth = 0; depth <= state.stages->size(); ++depth) {
    if (s->name() == consumer.name()) return true;
    if (s->attach != AttachKind::kAt) return false;
    if (s->at_stage == consumer.name()) return LeafPosition(consumer, s->at_axis) >= LeafPosition(consumer, axis);
    s = state.Find(s->at_stage);
    if (!s) return false;
  }
  return false;
}

Status CheckAttachment(const State& state, const Stage& stage, const std::vector<Stage*>& readers) {
  const Stage* consumer = state.Find(stage.at_stage);
  if (!consumer || LeafPosition(*consumer, stage.at_axis) < 0) {
    return Status::Invalid("`{}` is computed at axis `{}` of `{}`, which is no longer a loop", stage.name(),
                           stage.at_axis, stage.at_stage);
  }
  const auto inside = [&](const Stage* reader) { return Inside(state, reader, *consumer, stage.at_axis); };
  if (std::none_of(readers.begin(), readers.end(), inside)) {
    return Status::Invalid("`{}` cannot be computed at `{}`: neither it nor a stage inside its loop `{}` reads `{}`",
                           stage.name(), consumer->name(), stage.at_axis, stage.name());
  }
  for (const Stage* reader : readers) {
    if (!inside(reader)) {
      return Status::Invalid("`{}` cannot be computed at axis `{}` of `{}`: `{}` reads it too and is outside that loop",
                             stage.name(), stage.at_axis, consumer->name(), reader->name());
    }
  }
  for (int i = 0; i <= LeafPosition(*consumer, stage.at_axis); ++i) {
    if (consumer->FindAxis(consumer->leaf[i])->kind == ir::ForKind::kVectorized) {
      return Status::Invalid("`{}` cannot be computed inside the vectorized loop `{}` of `{}`", stage.name(),
                             consumer->leaf[i], consumer->name());
    }
  }
  return Status::Ok();
}

Status ApplyComputeAt(const Step& step, const State& state, Stage* stage) {
  if (stage->output)
    return Status::Invalid("`{}` is an output: it cannot be computed inside another stage", stage->name());
  HONE_ASSIGN_OR_RETURN(Stage * consumer, state.Need(step.argument));
  if (consumer == stage) return Status::Invalid("`{}` cannot be computed inside itself", stage->name());
  HONE_RETURN_IF_ERROR(NeedLoop(consumer, step.axes[0]).status());
  stage->attach = AttachKind::kAt;
  stage->at_stage = step.argument;
  stage->at_axis = step.axes[0];
  return Status::Ok();
}

Status ApplyStorageAlign(const Step& step, Stage* stage) {
  const te::TensorNode& node = *stage->tensor.node();
  std::vector<std::string> names;
  for (const ir::IterVar& v : node.axes) names.push_back(v.var.name());
  if (std::find(names.begin(), names.end(), step.axes[0]) == names.end()) {
    return Status::NotFound("`{}` has no dimension `{}`{}", stage->name(), step.axes[0],
                            SuggestionText(step.axes[0], names));
  }
  if (stage->output) return Status::Invalid("`{}` is an output: its storage is the caller's", stage->name());
  const int64_t factor = step.values[0], offset = step.values[1];
  if (factor < 1 || offset < 0 || offset >= factor) {
    return Status::Invalid("storage_align needs 0 <= offset < factor, not factor {} offset {}", factor, offset);
  }
  if (factor > kMostAlign)
    return Status::Invalid("storage_align to {} elements: at most {} are possible", factor, kMostAlign);
  stage->aligns.push_back({step.axes[0], factor, offset});
  return Status::Ok();
}

}  // namespace

Status CheckAttachments(const State& state) {
  const auto attached = [](const Stage& stage) { return stage.attach == AttachKind::kAt; };
  if (std::ranges::none_of(*state.stages, attached)) return Status::Ok();
  std::map<std::string, std::vector<Stage*>> readers = state.AllReaders();
  for (const Stage& stage : *state.stages) {
    if (attached(stage)) HONE_RETURN_IF_ERROR(CheckAttachment(state, stage, readers[stage.name()]));
  }
  // A stage at root is computed before all its readers, so it may not read anything that lives inside a loop; the
  // producers' own checks cover that.
  return Status::Ok();
}

Result<ir::Scope> ParseScope(const std::string& text) {
  if (text == "register") return ir::Scope::kRegister;
  if (text == "scratch") return ir::Scope::kScratch;
  if (text == "workspace") return ir::Scope::kWorkspace;
  if (text == "shared") return ir::Scope::kShared;
  return Status::Invalid("unknown scope `{}`{}", text,
                         SuggestionText(text, {"register", "scratch", "workspace", "shared"}));
}

Status ApplyAttachStep(const Step& step, const State& state) {
  HONE_ASSIGN_OR_RETURN(Stage * stage, state.Need(step.stage));
  switch (step.kind) {
    case StepKind::kComputeAt:
      return ApplyComputeAt(step, state, stage);
    case StepKind::kComputeRoot:
      stage->attach = AttachKind::kRoot;
      stage->at_stage.clear();
      stage->at_axis.clear();
      return Status::Ok();
    case StepKind::kSetScope: {
      if (stage->output) return Status::Invalid("`{}` is an output: its storage is the caller's", stage->name());
      HONE_ASSIGN_OR_RETURN(ir::Scope scope, ParseScope(step.argument));
      stage->scope = scope;
      return Status::Ok();
    }
    case StepKind::kDoubleBuffer:
      if (stage->scope != ir::Scope::kShared) {
        return Status::Invalid("double_buffer needs scope `shared`; set_scope {} shared before", stage->name());
      }
      stage->double_buffer = true;
      return Status::Ok();
    default:
      return ApplyStorageAlign(step, stage);
  }
}

}  // namespace hone::schedule
