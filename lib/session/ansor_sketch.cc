#include "session/ansor_sketch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "op/operator.h"
#include "schedule/schedule.h"
#include "te/tensor.h"

namespace hone::session {
namespace {

using record::AnsorStep;

class Translator {
 public:
  // `hides`: Ansor's loops are those here without axes of extent 1.
  Translator(schedule::Schedule schedule, std::vector<std::string> stages, bool hides)
      : schedule_(std::move(schedule)), stages_(std::move(stages)), hides_(hides) {}

  Status Take(const AnsorStep& step) {
    static const std::map<std::string, Status (Translator::*)(const AnsorStep&)> kinds = {
        {"AN", &Translator::Annotate},    {"FU", &Translator::FuseLoops},   {"PR", &Translator::Pragma},
        {"RE", &Translator::Order},       {"SP", &Translator::SplitLoop},   {"FSP", &Translator::FollowSplit},
        {"FFSP", &Translator::FollowAll}, {"CA", &Translator::Attach},      {"CI", &Translator::InlineStage},
        {"CR", &Translator::AtRoot},      {"CHR", &Translator::CopyBefore}, {"CHW", &Translator::CopyBehind}};
    splits_.emplace_back();
    const auto found = kinds.find(step.kind);
    return found == kinds.end() ? Status::Unsupported("Hone has no such step") : (this->*found->second)(step);
  }

  Result<std::vector<Step>> Finish() {
    for (const auto& [stage, at] : attached_)
      HONE_RETURN_IF_ERROR(schedule_.Apply(ComputeAt(stage, at.first, at.second)));
    return schedule_.history();
  }

 private:
  static int64_t Number(const AnsorStep& step, size_t argument) { return step.arguments[argument][0]; }

  Result<std::string> StageOf(int64_t number) const {
    if (number >= 0 && number < static_cast<int64_t>(stages_.size())) return stages_[static_cast<size_t>(number)];
    return Status::Invalid("there are {} stages here, inputs included", stages_.size());
  }

  // The loops of a stage by Ansor's numbers.
  std::vector<std::string> AllLoopsOf(const schedule::Stage& stage) const {
    std::vector<std::string> loops = stage.leaf;
    if (!hides_) return loops;
    const te::TensorNode& node = *stage.tensor.node();
    for (const auto* axes : {&node.axes, &node.reduce_axes}) {
      for (const ir::IterVar& axis : *axes) {
        if (axis.extent == 1) std::erase(loops, axis.var.name());
      }
    }
    return loops;
  }

  Result<std::string> LoopOf(const std::string& stage, int64_t number) const {
    const schedule::Stage* found = schedule_.Find(stage);
    if (found == nullptr) return Status::Invalid("`{}` is an input here", stage);
    const std::vector<std::string> loops = AllLoopsOf(*found);
    if (number >= 0 && number < static_cast<int64_t>(loops.size())) return loops[static_cast<size_t>(number)];
    return Status::Invalid("`{}` has {} loops here", stage, loops.size());
  }

  std::string Fresh(const std::string& stage, const std::string& wish) const {
    std::string name = wish;
    while (schedule_.Find(stage)->FindAxis(name) != nullptr) name += "_";
    return name;
  }

  // `factors` of the inner parts, outermost first.
  Status Parts(const std::string& stage, const std::string& loop, const std::vector<int64_t>& factors) {
    if (factors.empty()) return Status();  // one part
    std::vector<std::string> names;
    for (size_t i = 0; i <= factors.size(); ++i) names.push_back(Fresh(stage, fmt::format("{}.{}", loop, i)));
    return schedule_.Apply(Split(stage, loop, factors, names));
  }
  // `outer` parts, the outermost first; the rest is the innermost.
  Status OuterParts(const std::string& stage, const std::string& loop, std::vector<int64_t> outer) {
    if (outer.empty()) return Status();
    int64_t rest = schedule_.Find(stage)->FindAxis(loop)->extent;
    for (const int64_t part : outer) {
      if (part < 1) return Status::Invalid("a part of {} iterations", part);
      rest = (rest + part - 1) / part;
    }
    outer.erase(outer.begin());
    outer.push_back(rest);
    return Parts(stage, loop, outer);
  }

  Status SplitLoop(const AnsorStep& step) {
    splits_.back() = step.arguments[3];
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(stage, Number(step, 1)));
    const int64_t extent = schedule_.Find(stage)->FindAxis(loop)->extent;
    if (const int64_t theirs = Number(step, 2); theirs > 0 && theirs != extent) {
      return Status::Invalid("loop `{}` of `{}` has {} iterations here", loop, stage, extent);
    }
    return Number(step, 4) != 0 ? Parts(stage, loop, splits_.back()) : OuterParts(stage, loop, splits_.back());
  }

  Result<std::vector<int64_t>> LengthsOf(int64_t number) const {
    if (number >= 0 && number < static_cast<int64_t>(splits_.size()) && !splits_[static_cast<size_t>(number)].empty()) {
      return splits_[static_cast<size_t>(number)];
    }
    return Status::Invalid("step {} is not a split", number);
  }

  // The first parts are those of the other split; the last one is the product of its others.
  Status FollowSplit(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(stage, Number(step, 1)));
    HONE_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, LengthsOf(Number(step, 2)));
    const int64_t parts = Number(step, 3);
    if (parts < 1 || parts > static_cast<int64_t>(lengths.size())) {
      return Status::Invalid("that split has {} inner parts", lengths.size());
    }
    while (static_cast<int64_t>(lengths.size()) > parts) {
      HONE_ASSIGN_OR_RETURN(const int64_t product, Product(lengths[lengths.size() - 2], lengths.back()));
      lengths.pop_back();
      lengths.back() = product;
    }
    return Parts(stage, loop, lengths);
  }

  Status FollowAll(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(stage, Number(step, 1)));
    int64_t product = 1;
    for (const int64_t number : step.arguments[2]) {
      HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, LengthsOf(number));
      const int64_t level = Number(step, 3);
      if (level < 0 || level >= static_cast<int64_t>(lengths.size())) {
        return Status::Invalid("step {} has {} inner parts", number, lengths.size());
      }
      HONE_ASSIGN_OR_RETURN(product, Product(product, lengths[static_cast<size_t>(level)]));
    }
    return Number(step, 4) != 0 ? Parts(stage, loop, {product}) : OuterParts(stage, loop, {product});
  }

  static Result<int64_t> Product(int64_t a, int64_t b) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (a < 1 || b < 1 || a > kMost / b) return Status::Invalid("parts of {} and {} iterations", a, b);
    return a * b;
  }

  Result<std::vector<std::string>> LoopsOf(const std::string& stage, const std::vector<int64_t>& numbers) const {
    std::vector<std::string> loops;
    for (const int64_t number : numbers) {
      HONE_ASSIGN_OR_RETURN(loops.emplace_back(), LoopOf(stage, number));
    }
    return loops;
  }

  Status FuseLoops(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> loops, LoopsOf(stage, step.arguments[1]));
    if (loops.size() < 2) return Status();
    const std::string fused = Fresh(stage, "fused");
    HONE_RETURN_IF_ERROR(schedule_.Apply(Fuse(stage, loops, fused)));
    for (auto& [inner, at] : attached_) {
      if (at.first == stage && std::ranges::count(loops, at.second) > 0) at.second = fused;
    }
    return Status();
  }

  Status Order(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> loops, LoopsOf(stage, step.arguments[1]));
    return schedule_.Apply(Reorder(stage, loops));
  }

  Status Annotate(const AnsorStep& step) {
    static const char* const threads[] = {"vthread",     "blockIdx.x", "threadIdx.x", "blockIdx.y",
                                          "threadIdx.y", "blockIdx.z", "threadIdx.z"};
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(stage, Number(step, 1)));
    switch (const int64_t kind = Number(step, 2); kind) {
      case 0:
        return Status();
      case 1:
        return schedule_.Apply(Unroll(stage, loop));
      case 2:
        return schedule_.Apply(Vectorize(stage, loop));
      case 3:
        return schedule_.Apply(Parallel(stage, loop));
      default:
        if (kind < 4 || kind > 10) return Status::Unsupported("Hone has no such step");
        return schedule_.Apply(Bind(stage, loop, threads[kind - 4]));
    }
  }

  Status Pragma(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(stage, Number(step, 1)));
    const size_t dollar = step.text.find('$');
    const Result<int64_t> value = ParseInt(dollar == std::string::npos ? "" : step.text.substr(dollar + 1));
    if (!value.ok() || step.text.substr(0, dollar) != "auto_unroll_max_step") {
      return Status::Unsupported("Hone has no such pragma");
    }
    return schedule_.Apply(PragmaStep(stage, loop, "auto_unroll_max_step", *value));
  }

  Status Attach(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    HONE_ASSIGN_OR_RETURN(const std::string consumer, StageOf(Number(step, 1)));
    HONE_ASSIGN_OR_RETURN(const std::string loop, LoopOf(consumer, Number(step, 2)));
    std::erase_if(attached_, [&](const auto& entry) { return entry.first == stage; });
    attached_.push_back({stage, {consumer, loop}});
    return Status();
  }

  Status InlineStage(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    return schedule_.Apply({StepKind::kInline, stage});
  }

  Status AtRoot(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    std::erase_if(attached_, [&](const auto& entry) { return entry.first == stage; });
    return Status();
  }

  // The copy's number is the stage's plus one.
  Status CopyBefore(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    std::vector<std::string> readers;
    for (const int64_t number : step.arguments[2]) {
      HONE_ASSIGN_OR_RETURN(readers.emplace_back(), StageOf(number));
    }
    return Copy(Number(step, 0) + 1, CacheRead(stage, ScopeOf(step.text), readers, NameOf(stage, step.text)));
  }
  // The copy takes the stage's number.
  Status CopyBehind(const AnsorStep& step) {
    HONE_ASSIGN_OR_RETURN(const std::string stage, StageOf(Number(step, 0)));
    return Copy(Number(step, 0), CacheWrite(stage, ScopeOf(step.text), NameOf(stage, step.text)));
  }
  Status Copy(int64_t number, const Step& step) {
    HONE_RETURN_IF_ERROR(schedule_.Apply(step));
    stages_.insert(stages_.begin() + number, step.results[0]);
    return Status();
  }
  static std::string ScopeOf(const std::string& scope) { return scope == "local" ? "register" : scope; }
  std::string NameOf(const std::string& stage, const std::string& scope) const {
    std::string name = stage + "." + scope;
    while (std::ranges::count(stages_, name) > 0) name += "_";
    return name;
  }

  schedule::Schedule schedule_;
  std::vector<std::string> stages_;  // by Ansor's numbers
  const bool hides_;
  std::vector<std::vector<int64_t>> splits_;  // by step: the lengths of a split
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> attached_;  // stage; consumer and loop
};

// Sets `reached` to the number of steps that have a form here.
Result<std::vector<Step>> Translate(const std::vector<AnsorStep>& steps, Translator translator, size_t* reached) {
  for (size_t& i = *reached; i < steps.size(); ++i) {
    const Status taken = translator.Take(steps[i]);
    if (taken.ok()) continue;
    return Status::Unsupported("Ansor's step {} ({}) has no form in this task: {}", i, steps[i].words, taken.message());
  }
  Result<std::vector<Step>> translated = translator.Finish();
  if (translated.ok()) return translated;
  return Status::Unsupported("Ansor's schedule has no form in this task: {}", translated.status().message());
}

}  // namespace

Result<std::vector<Step>> StepsOfAnsor(const std::vector<AnsorStep>& steps, const Workload& workload,
                                       const Target& target) {
  HONE_ASSIGN_OR_RETURN(const op::Computation computation, op::Compute(workload, target, Algorithm()));
  HONE_ASSIGN_OR_RETURN(schedule::Schedule schedule, schedule::Schedule::Create(computation.outputs));
  std::vector<std::string> stages;
  for (const te::Tensor& tensor : te::TopologicalOrder(computation.outputs)) stages.push_back(tensor.name());
  // A product here has an axis for its batch even without one.
  size_t all = 0, without = 0;
  Result<std::vector<Step>> translated = Translate(steps, Translator(schedule, stages, false), &all);
  if (translated.ok()) return translated;
  auto again = Translate(steps, Translator(std::move(schedule), std::move(stages), true), &without);
  return again.ok() || without >= all ? again : translated;
}

}  // namespace hone::session
