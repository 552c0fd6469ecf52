#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "schedule/apply.h"
#include "schedule/relation.h"

namespace hone::schedule {
namespace {

// Collects stages and inputs, producers first. Constants are inputs unless they are the outputs.
class Collector {
 public:
  Status Add(const te::Tensor& t, bool constants_are_stages) {
    const bool stage = t.node()->kind == te::TensorKind::kCompute && (constants_are_stages || !t.node()->constant);
    if (!seen_.insert(t.get()).second) return Status::Ok();
    if (!names_.insert(t.name()).second) return Status::Invalid("two tensors are named `{}`", t.name());
    if (!stage) {
      inputs.push_back(t);
      return Status::Ok();
    }
    HONE_RETURN_IF_ERROR(CheckAxes(t));
    for (const te::Tensor& read : te::InputsOf(t)) HONE_RETURN_IF_ERROR(Add(read, t.node()->constant));
    stages.push_back(PlainStage(t));
    return Status::Ok();
  }

  std::vector<Stage> stages;
  std::vector<te::Tensor> inputs;

 private:
  static Status CheckAxes(const te::Tensor& t) {
    std::set<std::string> names;
    for (const auto* axes : {&t.node()->axes, &t.node()->reduce_axes}) {
      for (const ir::IterVar& axis : *axes) {
        if (!names.insert(axis.var.name()).second) {
          return Status::Invalid("`{}` has two axes named `{}`", t.name(), axis.var.name());
        }
      }
    }
    return Status::Ok();
  }
  std::set<const void*> seen_;
  std::set<std::string> names_;
};

Status ApplyToState(const Step& step, const State& state) {
  switch (step.kind) {
    case StepKind::kInline:
    case StepKind::kCacheRead:
    case StepKind::kCacheWrite:
    case StepKind::kRelayout:
    case StepKind::kRfactor:
      return ApplyRewriteStep(step, state);
    case StepKind::kComputeAt:
    case StepKind::kComputeRoot:
    case StepKind::kSetScope:
    case StepKind::kStorageAlign:
    case StepKind::kDoubleBuffer:
      return ApplyAttachStep(step, state);
    default:
      return ApplyAxisStep(step, state);
  }
}

// A hand-written step may lack a required part; its text would not parse then.
Status CheckShape(const Step& step) {
  HONE_ASSIGN_OR_RETURN(Step parsed, ParseStep(StepText(step)));
  if (!(parsed == step)) return Status::Invalid("`{}` does not say all that the step holds", StepText(step));
  return Status::Ok();
}

}  // namespace

const Axis* Stage::FindAxis(const std::string& name) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

Status CheckElements(const std::string& name, const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent > 0 && elements > kMostElements / extent) {
      return Status::Invalid("`{}` would have more than {} elements", name, kMostElements);
    }
    elements *= extent;
  }
  return Status();
}

Stage PlainStage(const te::Tensor& tensor) {
  Stage stage;
  stage.tensor = tensor;
  auto add = [&](const std::vector<ir::IterVar>& axes, bool reduce) {
    for (const ir::IterVar& v : axes) {
      stage.leaf.push_back(v.var.name());
      stage.axes.push_back({v.var.name(), v.extent, 1, reduce});
    }
  };
  add(tensor.node()->axes, false);
  add(tensor.node()->reduce_axes, true);
  return stage;
}

Stage* State::Find(const std::string& name) const {
  for (Stage& stage : *stages) {
    if (stage.name() == name) return &stage;
  }
  return nullptr;
}

Result<Stage*> State::Need(const std::string& name) const {
  if (Stage* stage = Find(name)) {
    if (stage->attach != AttachKind::kInline) return stage;
    return Status::Invalid("stage `{}` was inlined: it has no loops", name);
  }
  std::vector<std::string> known;
  for (const Stage& stage : *stages) known.push_back(stage.name());
  for (const te::Tensor& input : *inputs) {
    if (input.name() == name)
      return Status::Invalid("`{}` is an input of the kernel, not a stage; stages: {}", name, fmt::join(known, " "));
  }
  return Status::NotFound("no stage `{}`{}", name, SuggestionText(name, known));
}

Status State::CheckNewName(const std::string& name) const {
  bool taken = Find(name) != nullptr;
  for (const te::Tensor& tensor : te::TopologicalOrder(*inputs)) taken = taken || tensor.name() == name;
  return taken ? Status::Invalid("there is a tensor `{}` already", name) : Status::Ok();
}

std::map<std::string, std::vector<Stage*>> State::AllReaders() const {
  std::map<std::string, std::vector<Stage*>> readers;
  for (Stage& stage : *stages) {
    if (stage.attach == AttachKind::kInline) continue;
    for (const std::string& tensor : ReadsOf(stage)) readers[tensor].push_back(&stage);
  }
  return readers;
}

std::vector<Stage*> State::ReadersOf(const std::string& tensor) const { return AllReaders()[tensor]; }

Result<Schedule> Schedule::Create(const std::vector<te::Tensor>& outputs) {
  if (outputs.empty()) return Status::Invalid("a schedule needs at least one output");
  Collector collector;
  for (const te::Tensor& t : outputs) {
    if (t.node()->kind != te::TensorKind::kCompute) {
      return Status::Invalid("output `{}` is a placeholder; nothing to compute", t.name());
    }
    HONE_RETURN_IF_ERROR(collector.Add(t, true));
  }
  Schedule schedule;
  schedule.stages_ = std::move(collector.stages);
  schedule.inputs_ = std::move(collector.inputs);
  schedule.outputs_ = outputs;
  for (Stage& stage : schedule.stages_) {
    for (const te::Tensor& t : outputs) stage.output = stage.output || stage.name() == t.name();
  }
  return schedule;
}

Status Schedule::Change(const Step& step) {
  HONE_RETURN_IF_ERROR(CheckShape(step));
  State state{&stages_, &inputs_};
  HONE_RETURN_IF_ERROR(ApplyToState(step, state));
  // Most checks precede any change, but whether all attachments still hold is known only after it.
  HONE_RETURN_IF_ERROR(CheckAttachments(state));
  history_.push_back(step);
  return Status::Ok();
}

Status Schedule::Apply(const Step& step) {
  Schedule before = *this;
  const Status status = Change(step);
  if (!status.ok()) *this = std::move(before);
  return status;
}

Status Schedule::ApplyAll(const std::vector<Step>& steps) {
  const Schedule before = *this;  // once: copies for each step would take longer than the steps
  for (size_t i = 0; i < steps.size(); ++i) {
    const Status status = Change(steps[i]);
    if (status.ok()) continue;
    *this = before;
    for (size_t j = 0; j < i; ++j) HONE_CHECK(Change(steps[j]).ok());
    return status.WithContext(fmt::format("step {} `{}`", i + 1, StepText(steps[i])));
  }
  return Status::Ok();
}

const Stage* Schedule::Find(const std::string& name) const {
  const auto found = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.name() == name; });
  return found == stages_.end() ? nullptr : &*found;
}

std::vector<te::Tensor> Schedule::Arguments(const std::vector<te::Tensor>& operands) const {
  // A constant computed from several operands takes the first one's place; one computed from no operand follows all.
  std::map<std::string, std::vector<te::Tensor>> read;
  std::vector<te::Tensor> alone;
  for (const te::Tensor& input : inputs_) {
    bool first = true;
    for (const te::Tensor& t : te::TopologicalOrder({input})) {
      if (t.node()->kind != te::TensorKind::kPlaceholder) continue;
      std::vector<te::Tensor>& readers = read[t.name()];
      if (first) readers.push_back(input);
      first = false;
    }
    if (first) alone.push_back(input);
  }
  std::vector<te::Tensor> arguments;
  for (const te::Tensor& operand : operands) {
    const std::vector<te::Tensor>& readers = read.try_emplace(operand.name(), 1, operand).first->second;
    arguments.insert(arguments.end(), readers.begin(), readers.end());
  }
  arguments.insert(arguments.end(), alone.begin(), alone.end());
  arguments.insert(arguments.end(), outputs_.begin(), outputs_.end());
  return arguments;
}

std::vector<te::Tensor> PreparedConstants(const Schedule& kernel) {
  std::vector<te::Tensor> constants;
  for (const te::Tensor& t : kernel.inputs()) {
    if (t.node()->kind == te::TensorKind::kCompute) constants.push_back(t);
  }
  return constants;
}

Result<std::optional<Schedule>> PrepareSchedule(const Schedule& kernel) {
  const std::vector<te::Tensor> constants = PreparedConstants(kernel);
  if (constants.empty()) return std::optional<Schedule>();
  HONE_ASSIGN_OR_RETURN(Schedule prepare, Schedule::Create(constants));
  std::vector<Step> steps;
  for (const Stage& stage : prepare.stages()) {
    const std::vector<ir::IterVar>& axes = stage.tensor.node()->axes;
    if (axes.size() > 1) steps.push_back(Parallel(stage.name(), axes[0].var.name()));
    if (axes.empty()) continue;
    std::string last = axes.back().var.name();
    if (axes.back().extent > 16) {
      steps.push_back(Split(stage.name(), last, {16}, {last + ".o", last + ".v"}));
      last += ".v";
    }
    steps.push_back(Vectorize(stage.name(), last));
  }
  HONE_RETURN_IF_ERROR(prepare.ApplyAll(steps));
  return std::optional<Schedule>(std::move(prepare));
}

}  // namespace hone::schedule
