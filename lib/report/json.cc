#include "base/json.h"

#include <cmath>

#include "base/text.h"
#include "report/outputs.h"
#include "report/report_data.h"

namespace hone::report {
namespace {

// Rounds `value` to the significant digits that a measurement has, which takes a third of the bytes.
double Rounded(double value, int digits) {
  if (!std::isfinite(value)) return value;
  const Result<double> rounded = ParseDouble(fmt::format("{:.{}g}", value, digits));
  return rounded.ok() ? *rounded : value;
}

Json TotalsJson(const Totals& totals) {
  return {{"trials", totals.trials},
          {"ok", totals.ok},
          {"pruned", totals.pruned},
          {"failed", totals.failed},
          {"failures", totals.failures},
          {"compile_seconds", totals.compile_seconds},
          {"measure_seconds", totals.measure_seconds},
          {"wall_seconds", totals.wall_seconds},
          {"disturbed", totals.disturbed},
          {"retaken", totals.retaken}};
}

Json LibraryJson(const ReportData& data, const BenchLibrary& library) {
  const Latency latency = library.latency();
  const double all = library.LayerSeconds();
  Json layers = Json::array();
  for (const BenchLayer& layer : library.layers) {
    layers.push_back({{"node", layer.node},
                      {"workload", layer.workload},
                      {"task", layer.task},
                      {"source", layer.source},
                      {"seconds", layer.seconds},
                      {"flop", layer.flop},
                      {"share", all > 0 ? layer.seconds / all : 0},
                      {"peak_share", data.PeakShare(layer.flop, layer.seconds)}});
    if (library.role == BenchRole::kTuned) layers.back()["algorithm"] = data.AlgorithmOf(layer);
  }
  return {{"dir", library.dir},
          {"name", library.name},
          {"digest", library.digest},
          {"latency", {{"median", latency.median}, {"p10", latency.p10}, {"p90", latency.p90}, {"min", latency.min}}},
          {"processes", library.processes},
          {"layers", std::move(layers)}};
}

// One list per column, as there are thousands of trials.
Json TrialsJson(const TaskFact& task) {
  Json ordinal = Json::array(), state = Json::array(), seconds = Json::array(), measuring = Json::array();
  for (const TrialFact& trial : task.trials) {
    const bool failed = trial.state == TrialState::kFailed;
    ordinal.push_back(trial.ordinal);
    state.push_back(failed ? TrialErrorName(trial.error) : TrialStateName(trial.state));
    seconds.push_back(failed ? Json() : Json(trial.seconds));
    measuring.push_back(Rounded(trial.measure_seconds, 3));
  }
  return {{"ordinal", std::move(ordinal)},
          {"state", std::move(state)},
          {"seconds", std::move(seconds)},
          {"measure_seconds", std::move(measuring)}};
}

Json KnobsJson(const TaskFact& task) {
  Json knobs = Json::array();
  for (const KnobFact& fact : KnobFacts(task)) {
    std::vector<std::vector<int64_t>> trials(fact.values.size());
    for (const KnobFact::Use& use : fact.uses) trials[use.value].push_back(use.trial->ordinal);
    knobs.push_back({{"template", fact.template_name},
                     {"knob", fact.knob},
                     {"explained", fact.explained},
                     {"values", fact.values},
                     {"trials", std::move(trials)}});
  }
  return knobs;
}

Json TaskJson(const ReportData& data, const TaskFact& task) {
  Json failures = Json::array();
  for (const FailureFact& f : task.failures) {
    failures.push_back({{"kind", f.kind},
                        {"count", f.count},
                        {"message", f.message},
                        {"trial", f.trial},
                        {"explain", f.explain},
                        {"repeat", f.repeat}});
  }
  Json best = {{"source", task.source}};
  if (task.seconds > 0) {
    best["from"] = task.from;
    best["config"] = task.config;
    best["algorithm"] = task.algorithm;
    best["seconds"] = task.seconds;
    best["trial"] = task.trial;
    best["repeat"] = task.repeat;
    best["flops"] = task.Flops();
    best["peak_share"] = data.PeakShare(task.flop, task.seconds);
    best["host"] = task.host;
    best["recorded"] = task.recorded;
    best["fingerprint"] = task.fingerprint;
  }
  return {{"id", task.id},
          {"workload", task.workload},
          {"weight", task.weight},
          {"uses", task.uses},
          {"flop", task.flop},
          {"best", std::move(best)},
          {"stopped", task.stopped},
          {"totals", TotalsJson(TotalsOf(task))},
          {"foreign_trials", task.foreign_trials},
          {"failures", std::move(failures)},
          {"trials", TrialsJson(task)},
          {"knobs", KnobsJson(task)}};
}

Json SpeedupJson(const std::optional<Speedup>& speedup) {
  if (!speedup) return Json();
  return {{"ratio", speedup->ratio},
          {"low", speedup->low},
          {"high", speedup->high},
          {"verdict", VerdictName(speedup->verdict)}};
}

}  // namespace

std::string JsonText(const ReportData& data) {
  const BenchFile& bench = data.bench;
  const Verification& v = bench.verification;
  Json tasks = Json::array();
  for (const TaskFact& task : data.tasks) tasks.push_back(TaskJson(data, task));
  Json choices = Json::array();
  for (const ChoiceFact& c : data.choices) {
    choices.push_back(
        {{"what", c.what}, {"with_seconds", c.with_seconds}, {"without_seconds", c.without_seconds}, {"kept", c.kept}});
  }
  const PartitionFact& p = data.partition;
  Json json = {{"version", kReportVersion},
               {"job", data.job},
               {"network", data.network},
               {"target", data.target},
               {"target_name", data.target_name},
               {"batch", bench.batch},
               {"threads", bench.threads},
               {"host", bench.host},
               {"cpu", bench.cpu},
               {"fingerprint", bench.fingerprint},
               {"recorded", bench.recorded},
               {"peak_flops", bench.peak_flops},
               {"verification", {{"ok", v.ok}, {"max_error", v.max_error}, {"tolerance", v.tolerance}}},
               {"speedup", SpeedupJson(data.FromUntuned())},
               {"kernel_sum_seconds", bench.kernel_sum_seconds},
               {"predicted_ratio", bench.PredictedRatio()},
               {"totals", TotalsJson(data.Sum())},
               {"tuned", LibraryJson(data, data.tuned())},
               {"untuned", data.untuned() != nullptr ? LibraryJson(data, *data.untuned()) : Json()},
               {"partition",
                {{"chosen", p.chosen},
                 {"built", p.built},
                 {"alone_seconds", p.alone_seconds},
                 {"chosen_seconds", p.chosen_seconds},
                 {"exact", p.exact}}},
               {"choices", std::move(choices)},
               {"tasks", std::move(tasks)},
               {"inputs",
                {{"bench", data.bench_path},
                 {"tasks", data.tasks_path},
                 {"best", data.best_path},
                 {"records", data.records_path}}}};
  if (bench.batch == 0) json.erase("batch");
  // On one line and without a '<', so that a page can include it. Only strings can contain '<', and there the escape
  // means the same character.
  return ReplaceAll(DumpJson(json, -1), "<", "\\u003c");
}

}  // namespace hone::report
