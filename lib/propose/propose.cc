#include "propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/rng.h"
#include "base/text.h"
#include "base/version.h"
#include "op/estimate/estimate.h"
#include "op/numerics.h"
#include "op/user_operator.h"
#include "schedule/schedule.h"
#include "search/space/rules.h"
#include "semantics/attributes.h"
#include "semantics/semantics.h"

namespace hone::propose {
namespace {

// Which sketches an operator's tasks have: a line for each that is as fast as what the operator has without it.
struct Sketched {
  std::string_view op;           // a name, or the beginning of names with a * behind it
  std::string_view sketch, gpu;  // on CPUs and on GPUs; may be empty
  bool (*applies)(const Workload& workload) = [](const Workload&) { return true; };
  bool tuned = true;  // false: too short to be a task; only the best point by the estimate counts

  bool Covers(const Workload& workload) const {
    if (!applies(workload)) return false;
    return op.ends_with('*') ? workload.op.starts_with(op.substr(0, op.size() - 1)) : workload.op == op;
  }
  bool Names(const sketch::Sketch& derived) const {
    const std::string& rule = sketch::FindRule(derived.name)->name;
    return rule == sketch || rule == gpu;
  }
};

// With groups over blocks, `gpu_sums` does not apply, and `windows` may.
bool MultipliesNoZeros(const Workload& workload) {
  return semantics::Whole(workload, "groups", 1) == 1 || semantics::OutputLayout(workload) != Layout::kBlocked;
}

constexpr Sketched kSketched[] = {
    // of lines for the same sketch, the first that covers a workload counts
    {.op = "matmul", .sketch = "sums", .gpu = "gpu_sums"},
    {.op = "matmul", .sketch = "rows", .gpu = "gpu_rows"},  // with a single column
    {.op = "dense", .sketch = "sums", .gpu = "gpu_sums"},
    {.op = "conv2d", .sketch = "sums"},
    {.op = "conv2d", .gpu = "gpu_sums", .applies = MultipliesNoZeros},
    {.op = "conv2d", .sketch = "transformed"},
    {.op = "conv2d", .sketch = "windows", .applies = [](const Workload& w) { return !MultipliesNoZeros(w); }},
    {.op = "conv3d", .sketch = "sums"},
    {.op = "conv3d", .gpu = "gpu_sums", .applies = MultipliesNoZeros},
    {.op = "softmax", .sketch = "rows", .gpu = "gpu_rows"},
    {.op = "log_softmax", .sketch = "rows", .gpu = "gpu_rows"},
    // While measuring, the logarithm of a sum of the inputs may be no number, which is never right.
    {.op = "reduce_log_sum", .sketch = "rows", .gpu = "gpu_rows", .tuned = false},
    {.op = "reduce_*", .sketch = "rows", .gpu = "gpu_rows"},
    {.op = "lrn", .sketch = "rows", .gpu = "gpu_rows"},
    {.op = "instance_norm", .sketch = "rows", .gpu = "gpu_rows"},
    {.op = "layer_norm", .sketch = "rows", .gpu = "gpu_rows"},
    {.op = "global_avg_pool", .sketch = "rows", .tuned = false},
    {.op = "global_max_pool", .sketch = "rows", .tuned = false},
    {.op = "max_pool*", .sketch = "windows", .tuned = false},
    {.op = "avg_pool*", .sketch = "windows", .tuned = false},
};
// The sketches, of CPUs and GPUs, of an operator without a template or one of these lines.
constexpr std::string_view kOtherwise[] = {"stages", "gpu_stages"};

// Those of any member of a group.
std::vector<const Sketched*> SketchedBy(const Workload& workload) {
  const std::vector<Workload> parts = workload.Parts();
  std::vector<const Sketched*> lines;
  for (const Sketched& line : kSketched) {
    const auto covers = [&](const Workload& part) { return line.Covers(part); };
    if (std::any_of(parts.begin(), parts.end(), covers)) lines.push_back(&line);
  }
  return lines;
}

// A user's sketch has no closed rules: its legality is that the steps apply, which takes thousands of times as long.
constexpr PointIndex kMostPoints = 100000, kMostTried = 1000;

// Why the steps of a point do not apply; nothing if they do.
std::optional<Misfit> Refusal(const sketch::Sketch& own, const std::vector<te::Tensor>& outputs, const Config& config) {
  Result<schedule::Schedule> schedule = schedule::Schedule::Create(outputs);
  if (!schedule.ok()) return Misfit{0, schedule.status().message()};
  size_t applied = 0;
  for (const sketch::Line* line : sketch::LinesOf(own, config)) {
    const Result<Step> step = sketch::StepOf(*line, config);
    const Status status = step.ok() ? schedule->Apply(*step) : step.status();
    if (!status.ok()) {
      return Misfit{applied, (line->place.empty() ? "" : line->place + ": ") + status.message()};
    }
    ++applied;
  }
  return {};
}

// Adds to the sketch the rule that its steps apply. Returns a misfit if no point is legal, of up to kMostTried all over
// the space.
std::optional<Misfit> Fit(sketch::Sketch* own, const Workload& workload, const Target& target) {
  const Result<op::Computation> computation = op::Compute(workload, target, own->algorithm);
  if (!computation.ok()) return Misfit{0, computation.status().message()};
  const search::Space space = sketch::SpaceOf(*own);
  if (space.size() > kMostPoints) {
    return Misfit{0, fmt::format("{}: its decisions have {} combinations, at most {} can be searched", own->place,
                                 space.size(), kMostPoints)};
  }
  const auto refusal = [sketch = *own, outputs = computation->outputs](const Config& config) {
    return Refusal(sketch, outputs, config);
  };
  own->rules = {{"steps", [refusal](const Config& config) -> search::Rejection {
                   const auto misfit = refusal(config);
                   return misfit ? search::Rejection(misfit->why) : search::Rejection();
                 }}};
  const PointIndex tries = std::min(space.size(), kMostTried);
  for (PointIndex i = 0; i < tries; ++i) {
    if (!refusal(space.At(i * space.size() / tries))) return {};
  }
  return refusal(space.At(0));
}

// A plugin's rule may be wrong about what is legal. Its sketch counts if the steps of one of some legal points apply.
Status TryPoints(const sketch::Sketch& sketch, const std::vector<te::Tensor>& outputs) {
  constexpr int kTries = 32;
  const search::Space space = sketch::SpaceOf(sketch);
  Rng rng(1);
  std::string why = "it has no legal point";
  for (int i = 0; i < kTries; ++i) {
    const auto index = space.SampleLegal(rng);
    if (!index) break;
    const auto refusal = Refusal(sketch, outputs, space.At(*index));
    if (!refusal) return Status();
    why = fmt::format("the steps of no point apply, such as {}: {}", space.At(*index).Text(), refusal->why);
  }
  return Status::Invalid("rule `{}`: {}", sketch.name, why);
}

// `failures`: why a plugin's rule gives the task no sketch although it applies.
std::vector<sketch::Sketch> Derive(const op::Operator& op, const Workload& workload, const Target& target,
                                   std::vector<Status>* failures = nullptr) {
  const Result<op::Computation> computation = op.Compute(workload, target, Algorithm());
  const std::vector<te::Tensor> outputs = computation.ok() ? computation->outputs : std::vector<te::Tensor>();
  std::vector<std::string> constants;
  for (const Operand& operand : op.Operands(workload, target)) {
    if (operand.role == OperandRole::kConstant) constants.push_back(operand.name);
  }
  std::vector<sketch::Sketch> sketches = sketch::MakeSketches(outputs, constants, target, failures);
  std::erase_if(sketches, [&](const sketch::Sketch& sketch) {
    if (!sketch.plugin) return false;
    const Status refusal = TryPoints(sketch, outputs);
    if (failures != nullptr && !refusal.ok()) failures->push_back(refusal);
    return !refusal.ok();
  });
  for (const op::OtherAlgorithm& other : op.OtherAlgorithms(workload, target)) {
    const Result<op::Computation> by = op.Compute(workload, target, other.algorithm);
    if (!by.ok()) continue;
    auto more = sketch::MakeSketches(by->outputs, constants, target, other.algorithm, other.name);
    std::ranges::move(more, std::back_inserter(sketches));
  }
  // Over blocks of channels, the algorithm `direct` of such a layer multiplies by zeros.
  if (std::ranges::any_of(sketches, [](const sketch::Sketch& s) { return s.algorithm.name == "lanes"; })) {
    std::erase_if(sketches, [](const sketch::Sketch& s) { return s.name.starts_with("sums") && !s.plugin; });
  }
  return sketches;
}

bool IsTemplate(const std::string& name, const Target& target) {
  const std::vector<const op::Template*>& templates = op::AllTemplates(target.family());
  return std::any_of(templates.begin(), templates.end(), [&](const op::Template* t) { return name == t->name(); });
}

bool IsRule(const std::string& name) { return sketch::FindRule(name) != nullptr; }

// A user's text with the name of a rule takes values away from the task's sketch of that name. Returns why it does not
// fit.
std::optional<Misfit> NarrowNamed(const sketch::Sketch& own, std::vector<sketch::Sketch>* derived) {
  const auto named = std::ranges::find(*derived, own.name, &sketch::Sketch::name);
  if (named == derived->end()) return Misfit{0, fmt::format("{}: the task has no sketch `{}`", own.place, own.name)};
  size_t equal = 0;
  Result<sketch::Sketch> narrow = sketch::Narrow(*named, own, &equal);
  if (!narrow.ok()) return Misfit{equal, narrow.status().message()};
  *named = std::move(*narrow);
  return {};
}

// REQUIRES: `proposers` is not empty.
Result<const Proposer*> Find(const Proposers& proposers, const std::string& name) {
  std::vector<std::string> names;
  for (const Proposer& p : proposers) {
    if (p.name() == name) return &p;
    names.push_back(p.name());
  }
  return Status::Invalid("{} has no template or sketch `{}` for this target{}", proposers[0].workload().Text(), name,
                         SuggestionText(name, names));
}

}  // namespace

Proposer::Proposer(const op::Template& by, Workload workload, Target target)
    : name_(by.name()),
      version_(VersionOf(by.name(), by.version())),
      tuned_(!by.fixed()),
      workload_(std::move(workload)),
      target_(std::move(target)),
      template_(&by) {}

Proposer::Proposer(sketch::Sketch by, Workload workload, Target target, bool tuned)
    : name_(by.name),
      version_(VersionOf(by.name, by.version)),
      tuned_(tuned),
      workload_(std::move(workload)),
      target_(std::move(target)),
      sketch_(std::move(by)) {}

Result<search::Space> Proposer::MakeSpace(const op::Numerics& numerics) const {
  if (sketch_) {
    search::Space space = sketch::SpaceOf(*sketch_);
    if (const auto why = op::Forbidden(numerics, sketch_->algorithm)) {
      space.AddRule({"numerics", [why](const Config&) { return why; }});
    }
    return space;
  }
  HONE_ASSIGN_OR_RETURN(search::Space space, template_->MakeSpace(workload_, target_));
  template_->Limit(workload_, numerics, &space);
  return space;
}

Result<Config> Proposer::Default(const search::Space& space) const {
  return sketch_ ? sketch::BestByEstimate(*sketch_, space) : template_->Default(space, workload_, target_);
}

Result<Candidate> Proposer::Instantiate(const search::Space& space, const Config& config) const {
  HONE_ASSIGN_OR_RETURN(const PointIndex index, space.IndexOf(config));  // all knobs there, with values of the space
  if (const std::optional<std::string> why = space.Reject(space.At(index))) {
    return Status::Invalid("{}: not a legal point: {}", config.Text(), *why);
  }
  if (template_ != nullptr) return template_->Instantiate(workload_, target_, config);
  HONE_ASSIGN_OR_RETURN(std::vector<Step> steps, sketch::StepsOf(*sketch_, config));
  return Candidate{sketch_->algorithm, std::move(steps)};
}

std::optional<Misfit> FindMisfit(sketch::Sketch own, const Workload& workload, const Target& target) {
  if (!IsRule(own.name)) return Fit(&own, workload, target);
  const auto op = op::FindOperator(workload);
  if (!op.ok()) return Misfit{0, op.status().message()};
  std::vector<sketch::Sketch> derived = Derive(**op, workload, target);
  return NarrowNamed(own, &derived);
}

// The sketch with the point of the least estimate alone; nothing if no point is legal.
static std::optional<sketch::Sketch> OnlyDefault(const sketch::Sketch& sketch) {
  const Result<Config> best = sketch::BestByEstimate(sketch, sketch::SpaceOf(sketch));
  if (!best.ok()) return {};
  std::vector<search::Knob> decisions;
  for (size_t k = 0; k < sketch.decisions.size(); ++k) {
    const std::string text = best->values[k].Text();
    decisions.push_back(sketch.decisions[k].Only([&](const KnobValue& value) { return value.Text() == text; }));
  }
  return sketch::WithDecisions(sketch, std::move(decisions));
}

// The sketches of a task. `alone`: the operator has no template.
static Proposers SketchesOf(const op::Operator& op, const Workload& workload, const Target& target,
                            const OwnSketches& own, bool alone) {
  const std::vector<const Sketched*> lines = SketchedBy(workload);
  const bool plugins = std::ranges::any_of(sketch::Rules(), [](const auto& rule) { return !rule.plugin.empty(); });
  if (lines.empty() && !alone && !plugins) return {};
  std::vector<sketch::Sketch> derived = Derive(op, workload, target);
  for (const sketch::Sketch& each : own) {
    if (IsRule(each.name)) NarrowNamed(each, &derived);
  }
  const bool users = alone && !op::PluginOf(workload.op).empty();
  Proposers sketches;
  const auto add = [&](const sketch::Sketch& sketch, bool tuned) {
    std::optional<sketch::Sketch> one;
    if (!tuned) one = OnlyDefault(sketch);
    if (tuned || one) sketches.emplace_back(tuned ? sketch : *one, workload, target, tuned);
  };
  for (const sketch::Sketch& sketch : derived) {
    const auto line = std::ranges::find_if(lines, [&](const Sketched* each) { return each->Names(sketch); });
    // Either of the two may be faster.
    const bool beside = sketch.name == "gpu_stages" && !sketches.empty() && sketches.back().name() == "gpu_rows";
    if (sketch.plugin) continue;
    if (line == lines.end() && !users && !beside) continue;
    add(sketch, users || (line == lines.end() ? sketches.back().tuned() : (*line)->tuned));
  }
  // Without any trial, the schedule that was measured before there were rules for GPUs is built.
  if (const size_t n = sketches.size(); n > 1 && sketches[n - 1].name() == "gpu_stages") {
    std::rotate(sketches.begin(), sketches.end() - 1, sketches.end());
  }
  const auto otherwise = std::ranges::find_first_of(derived, kOtherwise, {}, &sketch::Sketch::name);
  if (alone && sketches.empty() && otherwise != derived.end()) add(*otherwise, false);
  for (const sketch::Sketch& sketch : derived) {
    if (sketch.plugin) add(sketch, true);
  }
  return sketches;
}

std::vector<Status> RuleFailures(const Workload& workload, const Target& target) {
  std::vector<Status> failures;
  if (const auto op = op::FindOperator(workload); op.ok()) Derive(**op, workload, target, &failures);
  return failures;
}

std::set<std::string> PluginsOf(const Workload& workload, const Target& target) {
  std::set<std::string> files;
  for (const Workload& part : workload.Parts()) files.insert(op::PluginOf(part.op));
  if (const auto proposers = AllProposers(workload, target); proposers.ok()) {
    for (const sketch::DerivationRule& rule : sketch::Rules()) {
      if (std::ranges::count(*proposers, rule.name, &Proposer::name) != 0) files.insert(rule.plugin);
    }
  }
  files.erase("");
  return files;
}

// A group that sums something up would be slower than its members. On GPUs, so would one with a member that has a
// template or `gpu_sums`.
static bool MayHaveStages(const Workload& workload, const Target& target) {
  const std::vector<Workload> parts = workload.Parts();
  const auto may = [&](const Workload& part) {
    if (target.family() != kGpuFamily) return semantics::ChangesOrMovesElements(part);
    const auto op = op::FindOperator(part);
    const auto sums = [&](const Sketched& line) { return line.gpu == "gpu_sums" && line.Covers(part); };
    return op.ok() && (*op)->Templates(part, target).empty() && std::ranges::none_of(kSketched, sums);
  };
  return parts.size() == 1 || std::ranges::all_of(parts, may);
}

// GPUs compute with floats alone.
static Status CheckFloats(const op::Operator& op, const Workload& workload, const Target& target) {
  for (const Operand& operand : op.Operands(workload, target)) {
    if (operand.logical.type.is_float()) continue;
    return Status::Unsupported("{}: {} is {}; integers are for CPUs only", workload.OperatorText(), operand.name,
                               operand.logical.Text());
  }
  return Status();
}

Result<Proposers> AllProposers(const Workload& workload, const Target& target, const OwnSketches& own) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  if (target.family() == kGpuFamily) HONE_RETURN_IF_ERROR(CheckFloats(*op, workload, target));
  const std::vector<const op::Template*> templates = op->Templates(workload, target);
  Proposers proposers;
  Proposers sketches = SketchesOf(*op, workload, target, own, templates.empty() && MayHaveStages(workload, target));
  // A group with templates has no sketch of its plain algorithm; the rules only know Winograd with a pool in its tiles.
  if (workload.chain() && !templates.empty()) {
    std::erase_if(sketches, [](const Proposer& p) { return p.sketch()->algorithm == Algorithm(); });
  }
  const bool replaced = std::ranges::any_of(sketches, [](const Proposer& p) { return !p.sketch()->plugin; });
  for (const op::Template* t : templates) {
    if (!replaced || !t->fixed()) proposers.emplace_back(*t, workload, target);
  }
  for (const op::Template* t : op::FirstMemberTemplates(workload, target)) {
    if (!replaced || !t->fixed()) proposers.emplace_back(*t, workload.Parts()[0], target);
  }
  // The first proposer's default is built before any trial: a kernel that multiplies no zeros.
  std::ranges::stable_partition(sketches, [](const Proposer& p) { return p.sketch()->algorithm.name == "skip"; });
  proposers.insert(proposers.end(), sketches.begin(), sketches.end());
  for (sketch::Sketch each : own) {
    if (IsRule(each.name) || Fit(&each, workload, target)) continue;
    const auto named = [&](const Proposer& p) { return p.name() == each.name; };
    if (IsTemplate(each.name, target) || std::any_of(proposers.begin(), proposers.end(), named)) {
      return Status::Invalid("{}: `{}` is the name of another template or sketch; rename this one", each.place,
                             each.name);
    }
    proposers.emplace_back(std::move(each), workload, target);
  }
  if (proposers.empty() && workload.chain()) {
    return Status::Unsupported("workload `{}`: no kernel for {} computes this group at once", workload.Text(),
                               target.Text());
  }
  if (proposers.empty())
    return Status::Unsupported("{} has no template for {}", workload.OperatorText(), target.Text());
  return proposers;
}

Result<Proposers> ProposersOf(const Workload& workload, const Target& target, Mode mode, const OwnSketches& own) {
  HONE_ASSIGN_OR_RETURN(Proposers proposers, AllProposers(workload, target, own));
  const auto unwanted = [&](const Proposer& p) {
    const bool sketch = p.sketch() != nullptr && p.tuned();  // `sketches` wants no single schedule
    return mode != Mode::kBoth && sketch != (mode == Mode::kSketches);
  };
  // Limits on numerics may forbid another algorithm: it is not enough.
  const auto enough = [&](const Proposer& p) {
    return !unwanted(p) && (p.sketch() == nullptr || !op::Forbidden({.winograd = 0}, p.sketch()->algorithm));
  };
  if (std::ranges::any_of(proposers, enough)) std::erase_if(proposers, unwanted);
  return proposers;
}

// A scale and a shift of each channel (graph::FoldBatchNorm): memory bounds it whatever the tiles.
static bool ScalesChannels(const Workload& workload) {
  if (workload.chain() || workload.op != "conv2d") return false;
  const int64_t channels = workload.inputs[0].shape[1];
  return workload.inputs[1].shape == std::vector<int64_t>{channels, 1, 1, 1} &&
         semantics::Whole(workload, "groups", 1) == channels;
}

bool Tunable(const Workload& workload, const Target& target) {
  if (ScalesChannels(workload)) return false;
  const auto proposers = AllProposers(workload, target);
  if (!proposers.ok()) return false;
  return std::any_of(proposers->begin(), proposers->end(), [](const Proposer& p) { return p.tuned(); });
}

Result<search::TaskSpace> MakeTaskSpace(const Proposers& proposers, const op::Numerics& numerics) {
  search::TaskSpace space;
  for (const Proposer& p : proposers) {
    HONE_ASSIGN_OR_RETURN(search::Space part, p.MakeSpace(numerics));
    space.Add(std::move(part));
  }
  return space;
}

Result<search::TaskSpace> MakeTaskSpace(const Workload& workload, const Target& target, const op::Numerics& numerics) {
  HONE_ASSIGN_OR_RETURN(const Proposers proposers, ProposersOf(workload, target));
  return MakeTaskSpace(proposers, numerics);
}

Result<Config> DefaultConfig(const Proposers& proposers) {
  HONE_ASSIGN_OR_RETURN(const search::Space space, proposers[0].MakeSpace());
  return proposers[0].Default(space);  // the first space starts at 0 in the union
}

Result<Config> DefaultConfig(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Proposers proposers, ProposersOf(workload, target));
  return DefaultConfig(proposers);
}

Result<Candidate> Instantiate(const Proposers& proposers, const search::TaskSpace& space, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const Proposer* proposer, Find(proposers, config.template_name));
  return proposer->Instantiate(space.spaces()[static_cast<size_t>(proposer - proposers.data())], config);
}

Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const Proposers proposers, AllProposers(workload, target));
  HONE_ASSIGN_OR_RETURN(const Proposer* proposer, Find(proposers, config.template_name));
  HONE_ASSIGN_OR_RETURN(const search::Space space, proposer->MakeSpace());
  return proposer->Instantiate(space, config);
}

Result<Candidate> CandidateOf(const Workload& workload, const Target& target, const Outcome& outcome) {
  Result<Candidate> recorded = Candidate::Parse(outcome.steps);
  if (recorded.ok()) {
    const auto op = op::FindOperator(workload);
    if (!op.ok() || !(recorded->algorithm == Algorithm())) return recorded;
    const auto templates = (*op)->Templates(workload, target);
    const auto by = [&](const op::Template* t) { return t->name() == outcome.config.template_name; };
    if (std::none_of(templates.begin(), templates.end(), by)) return recorded;
  }
  Result<Candidate> made = Instantiate(workload, target, outcome.config);
  return made.ok() ? made : recorded;
}

op::PointCost EstimatesOf(const Workload& workload, const Target& target) {
  return [workload, target, bound = std::map<std::string, op::PointCost>()](const Config& config) mutable {
    auto [found, added] = bound.try_emplace(config.template_name);
    if (added) {
      if (const op::Estimate* estimate = op::FindEstimate(target, config.template_name)) {
        const auto of_first = op::FirstMemberTemplates(workload, target);
        found->second = estimate->bind(of_first.empty() ? workload : workload.Parts()[0], target);
      } else if (const auto proposers = AllProposers(workload, target); proposers.ok()) {
        for (const Proposer& p : *proposers) {
          if (p.name() != config.template_name || p.sketch() == nullptr || !p.sketch()->cost) continue;
          // A record may be of another space.
          found->second = [space = sketch::SpaceOf(*p.sketch()), cost = p.sketch()->cost](const Config& point) {
            return space.IndexOf(point).ok() ? cost(point) : std::vector<double>();
          };
        }
      }
    }
    return found->second ? found->second(config) : std::vector<double>();
  };
}

}  // namespace hone::propose
