#include "report/report_data.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/counted.h"
#include "base/text.h"
#include "semantics/semantics.h"
#include "task/workload.h"

namespace hone::report {

constexpr const char* kEpilogues[] = {" +bias", " +add",     " +relu", " +relu6",
                                      " +clip", " +requant", " +shift"};  // by EpilogueKind

static void Add(const TaskFact& task, Totals* totals) {
  for (const TrialFact& trial : task.trials) {
    ++totals->trials;
    totals->disturbed += trial.disturbed;
    totals->retaken += trial.retaken;
    if (trial.state == TrialState::kOk) ++totals->ok;
    if (trial.state == TrialState::kPruned) ++totals->pruned;
    if (trial.state != TrialState::kFailed) continue;
    ++totals->failed;
    ++totals->failures[TrialErrorName(trial.error)];
  }
  totals->compile_seconds += task.compile_seconds;
  totals->measure_seconds += task.measure_seconds;
  totals->wall_seconds += task.wall_seconds;
}

// The sort key of a value: its numbers, if it consists of numbers.
using Key = std::pair<std::vector<int64_t>, std::vector<std::string>>;

static double Explained(const KnobFact& fact) {
  std::map<size_t, std::vector<double>> groups;
  double sum = 0, count = 0;
  for (const KnobFact::Use& use : fact.uses) {
    if (use.trial->state == TrialState::kFailed || use.trial->seconds <= 0) continue;
    const double log = std::log(use.trial->seconds);
    groups[use.value].push_back(log);
    sum += log;
    ++count;
  }
  const double k = static_cast<double>(groups.size());
  if (k < 2 || count <= k) return 0;
  double total = 0, within = 0;
  for (const auto& [value, logs] : groups) {
    double mean = 0;
    for (const double log : logs) mean += log / static_cast<double>(logs.size());
    for (const double log : logs) {
      within += (log - mean) * (log - mean);
      total += (log - sum / count) * (log - sum / count);
    }
  }
  if (!(total > 0)) return 0;
  return std::clamp(1 - within / (count - k) * (count - 1) / total, 0.0, 1.0);
}

int64_t TaskFact::Count(TrialState state) const { return std::ranges::count(trials, state, &TrialFact::state); }

const BenchLibrary& ReportData::tuned() const {
  const BenchLibrary* library = bench.Find(BenchRole::kTuned);
  HONE_CHECK(library != nullptr);
  return *library;
}

const BenchLibrary* ReportData::untuned() const { return bench.Find(BenchRole::kUntuned); }

std::optional<Speedup> ReportData::FromUntuned() const {
  if (untuned() == nullptr) return std::nullopt;
  return CompareLibraries(tuned(), *untuned());
}

double ReportData::PeakShare(const std::string& workload, int64_t flop, double seconds) const {
  const double peak = bench.PeakOf(workload);
  return peak > 0 && seconds > 0 ? static_cast<double>(flop) / seconds / peak : 0;
}

std::string ReportData::PeakText() const {
  if (bench.peak_flops <= 0) return "";
  const std::string bytes = bench.peak_bytes > 0 ? ", for bytes " + FormatSi(bench.peak_bytes, "FLOP/s") : "";
  return FormatSi(bench.peak_flops, "FLOP/s") + bytes;
}

std::vector<const BenchLayer*> ReportData::SlowestLayers() const {
  std::vector<const BenchLayer*> layers;
  for (const BenchLayer& layer : tuned().layers) layers.push_back(&layer);
  std::ranges::stable_sort(layers, std::ranges::greater(), &BenchLayer::seconds);
  return layers;
}

Totals ReportData::Sum() const {
  Totals totals;
  for (const TaskFact& task : tasks) Add(task, &totals);
  return totals;
}

Totals TotalsOf(const TaskFact& task) {
  Totals totals;
  Add(task, &totals);
  return totals;
}

std::string CountsText(const Totals& totals) {
  if (totals.trials == 0) return "no trials";
  std::string text = fmt::format("{}: {} ok", Counted(totals.trials, "trial"), FormatCount(totals.ok));
  if (totals.pruned > 0) text += fmt::format(", {} pruned", FormatCount(totals.pruned));
  for (const auto& [kind, count] : totals.failures) text += fmt::format(", {} {}", FormatCount(count), kind);
  return text;
}

std::string DisturbedText(const Totals& totals) {
  if (100 * (totals.disturbed + totals.retaken) < std::max<int64_t>(totals.trials, 1)) return "";
  return fmt::format("other programs used the machine during tuning: {} repeated, {} marked as disturbed{}",
                     Counted(totals.retaken, "run"), Counted(totals.disturbed, "trial"),
                     totals.disturbed > 0 ? " (the recorded time may be too long)" : "");
}

std::string ShortWorkload(const std::string& text) {
  const Result<Workload> workload = Workload::Parse(text);
  if (!workload.ok()) return text;
  const auto extents = [](const TensorType& type, size_t from) {
    return fmt::format("{}", fmt::join(type.shape.begin() + std::min(from, type.shape.size()), type.shape.end(), "x"));
  };
  std::string words;
  for (const Workload& part : workload->Parts()) {
    if (part.inputs.empty()) return text;
    const bool first = words.empty();
    const semantics::Definition* known = semantics::Find(part.op);
    const int filters = known != nullptr ? known->channels_of_weight : -1;       // the weight's axis
    const bool two = part.inputs.size() > 1 && part.inputs[1].shape.size() > 1;  // not a scale or a number
    const DType type = part.inputs[0].type;
    const std::string of = type.is_float() ? "" : " " + ToString(type);
    words += first ? part.op + of + " " + extents(part.inputs[0], 1) : ", then " + part.op;
    if (two && filters < 0) words += " and " + extents(part.inputs[1], 1);
    if (two && filters >= 0) {
      words += fmt::format(" -> {}", part.inputs[1].shape[static_cast<size_t>(filters)]);
      if (part.inputs[1].shape.size() == 4) words += ", " + extents(part.inputs[1], 2);
    }
    if (const Attribute* kernel = part.Find("kernel")) {
      words += fmt::format("{}{}", first ? ", " : " ", fmt::join(kernel->values, "x"));
    }
    const std::vector<int64_t> stride = part.Numbers("stride", {1});
    if (!stride.empty() && stride[0] != 1) words += fmt::format(" s{}", stride[0]);
    for (const EpilogueOp& op : part.epilogue) words += kEpilogues[static_cast<size_t>(op.kind)];
  }
  return words;
}

std::string RoundsText(const std::vector<RoundFact>& rounds) {
  std::string text;
  for (const RoundFact& fact : rounds) {
    text += fmt::format("{}{} after {}{}{}", text.empty() ? "" : ", ", FormatSeconds(fact.estimated),
                        text.empty() ? "round " : "", fact.round, fact.whole ? "" : " so far");
  }
  if (!rounds.empty() && rounds.back().unknown > 0) {
    text += fmt::format("; {} without a correct trial not counted", Counted(rounds.back().unknown, "task"));
  }
  return text;
}

std::string ChoiceText(const std::string& what) {
  if (what == "alternatives") return "fused kernels and other layouts";
  if (what == "slices") return "concatenations without copies";
  if (what == "in_place") return "sums in place";
  return what;
}

std::string VerdictText(double with_seconds, double without_seconds, bool kept) {
  if (!kept) return "left out";
  if (without_seconds >= with_seconds) return "used";
  return without_seconds >= 0.99 * with_seconds ? "used, since the difference is below 1 %"
                                                : "used, since leaving out another choice alone was faster";
}

double ReportData::UntunedSeconds(const BenchLayer& layer) const {
  if (untuned() == nullptr) return 0;
  const std::vector<BenchLayer>& others = untuned()->layers;
  auto at = std::ranges::find(others, layer.node, &BenchLayer::node);
  if (at == others.end()) return 0;
  double seconds = at->seconds;
  // A fused layer has the name of its last node; the others come before it, and the tuned library lacks them.
  const Result<Workload> workload = Workload::Parse(layer.workload);
  const std::vector<Workload> members = workload.ok() ? workload->Parts() : std::vector<Workload>(1);
  const auto lacking = [&](const BenchLayer& other) {
    return std::ranges::find(tuned().layers, other.node, &BenchLayer::node) == tuned().layers.end();
  };
  for (size_t i = members.size() - 1; i-- > 0;) {
    const std::string member = members[i].Text();
    do {
      if (at == others.begin()) return 0;
      --at;
    } while (at->workload != member || !lacking(*at));
    seconds += at->seconds;
  }
  return seconds;
}

std::string ReportData::FusedText() const {
  std::vector<std::string> fused;
  for (const BenchLayer& layer : tuned().layers) {
    if (layer.workload.find(" -> ") != std::string::npos) fused.push_back(layer.node);
  }
  return Join(fused, ", ");
}

std::string VerificationText(const Verification& v) {
  return fmt::format("largest error {:.1e} of the reference's standard deviation, allowed {:.1e}", v.max_error,
                     v.tolerance);
}

std::string PercentText(double share) { return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string AlgorithmText(const std::string& workload, const Config& config) {
  std::string name = config.template_name;
  const Result<Workload> parsed = Workload::Parse(workload);
  const std::string operator_name = !parsed.ok() ? "" : parsed->chain() ? "chain" : parsed->op;
  if (StartsWith(name, operator_name + "_")) name = name.substr(operator_name.size() + 1);
  constexpr char kTransformed[] = "transformed_m";  // of the sketches for tiles of m outputs
  if (!StartsWith(name, kTransformed)) return name;
  const Result<int64_t> m = ParseInt(name.substr(sizeof kTransformed - 1));
  if (!m.ok()) return name;
  const bool line = parsed.ok() && parsed->inputs.size() > 1 && parsed->inputs[1].shape.size() == 4 &&
                    (parsed->inputs[1].shape[2] == 1 || parsed->inputs[1].shape[3] == 1);
  const bool pool = parsed.ok() && parsed->chain() && parsed->then[0].op.ends_with("pool2d");
  return line ? fmt::format("Winograd F({})", *m) : fmt::format("Winograd F({0}x{0}){1}", *m, pool ? " with pool" : "");
}

const TaskFact* ReportData::TaskOf(const BenchLayer& layer) const {
  const auto found = std::ranges::find(tasks, layer.task, &TaskFact::id);
  return found == tasks.end() ? nullptr : &*found;
}

std::string ReportData::AlgorithmOf(const BenchLayer& layer) const {
  const TaskFact* task = TaskOf(layer);
  return task == nullptr ? "" : task->algorithm;
}

double ReportData::AloneSeconds(const BenchLayer& layer) const {
  const TaskFact* task = TaskOf(layer);
  return task == nullptr || layer.source != "tuned" ? 0 : task->seconds;
}

std::string ReportData::AlgorithmsText() const {
  std::map<std::string, int64_t> counts;
  for (const BenchLayer& layer : tuned().layers) {
    const std::string algorithm = AlgorithmOf(layer);
    if (!algorithm.empty()) ++counts[algorithm];
  }
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [algorithm, count] : counts) order.emplace_back(-count, algorithm);
  std::ranges::sort(order);
  std::vector<std::string> parts;
  for (const auto& [count, algorithm] : order) parts.push_back(fmt::format("{} {}", -count, algorithm));
  return Join(parts, ", ");
}

std::vector<KnobFact> KnobFacts(const TaskFact& task) {
  std::map<std::pair<std::string, std::string>, std::map<Key, std::vector<const TrialFact*>>> knobs;
  for (const TrialFact& trial : task.trials) {
    for (const KnobValue& value : trial.config.values) {
      knobs[{trial.config.template_name, value.name}][{value.numbers, value.words}].push_back(&trial);
    }
  }
  std::vector<KnobFact> facts;
  for (const auto& [name, by_value] : knobs) {
    if (by_value.size() < 2) continue;
    KnobFact fact{.template_name = name.first, .knob = name.second};
    for (const auto& [key, trials] : by_value) {
      KnobValue value{.numbers = key.first, .words = key.second};
      for (const TrialFact* trial : trials) fact.uses.push_back({trial, fact.values.size()});
      fact.values.push_back(value.Text());
    }
    fact.explained = Explained(fact);
    facts.push_back(std::move(fact));
  }
  std::ranges::stable_sort(facts, std::ranges::greater(), &KnobFact::explained);
  if (facts.size() > kKnobsTold) facts.resize(kKnobsTold);
  return facts;
}

}  // namespace hone::report
