#include <cmath>

#include "base/fields.h"
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
  return HONE_JSON(totals.trials, totals.ok, totals.pruned, totals.failed, totals.failures, totals.compile_seconds,
                   totals.measure_seconds, totals.wall_seconds, totals.disturbed, totals.retaken);
}

Json LibraryJson(const ReportData& data, const BenchLibrary& library) {
  const Latency latency = library.latency();
  const double all = library.LayerSeconds();
  Json layers = Json::array();
  for (const BenchLayer& layer : library.layers) {
    layers.push_back(HONE_JSON(layer.node, layer.workload, layer.task, layer.source, layer.seconds, layer.flop));
    layers.back()["share"] = all > 0 ? layer.seconds / all : 0;
    layers.back()["peak_share"] = data.PeakShare(layer.workload, layer.flop, layer.seconds);
    if (library.role == BenchRole::kTuned) layers.back()["algorithm"] = data.AlgorithmOf(layer);
  }
  Json json = HONE_JSON(library.dir, library.name, library.digest);
  json["latency"] = HONE_JSON(latency.median, latency.p10, latency.p90, latency.min);
  json.update(HONE_JSON(library.processes, layers));
  return json;
}

// One list per column, as there are thousands of trials.
Json TrialsJson(const TaskFact& task) {
  Json ordinal = Json::array(), proposer = Json::array(), state = Json::array(), seconds = Json::array(),
       measuring = Json::array();
  for (const TrialFact& trial : task.trials) {
    const bool failed = trial.state == TrialState::kFailed;
    ordinal.push_back(trial.ordinal);
    proposer.push_back(trial.config.template_name);
    state.push_back(failed ? TrialErrorName(trial.error) : TrialStateName(trial.state));
    seconds.push_back(failed ? Json() : Json(trial.seconds));
    measuring.push_back(Rounded(trial.measure_seconds, 3));
  }
  return {{"ordinal", ordinal},
          {"proposer", proposer},
          {"state", state},
          {"seconds", seconds},
          {"measure_seconds", measuring}};
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
    failures.push_back(HONE_JSON(f.kind, f.count, f.message, f.trial, f.explain, f.repeat));
  }
  Json best = HONE_JSON(task.source);
  if (task.seconds > 0) {
    best.update(HONE_JSON(task.from, task.config, task.algorithm, task.seconds, task.trial, task.repeat));
    best["flops"] = task.Flops();
    best["peak_share"] = data.PeakShare(task.workload, task.flop, task.seconds);
    best.update(HONE_JSON(task.host, task.recorded, task.fingerprint));
  }
  Json json = HONE_JSON(task.id, task.workload, task.weight, task.uses, task.flop, best, task.stopped);
  json["totals"] = TotalsJson(TotalsOf(task));
  json.update(HONE_JSON(task.foreign_trials, failures));
  json["trials"] = TrialsJson(task);
  json["knobs"] = KnobsJson(task);
  return json;
}

Json SpeedupJson(const std::optional<Speedup>& speedup) {
  if (!speedup) return Json();
  Json json = HONE_JSON(speedup->ratio, speedup->low, speedup->high);
  json["verdict"] = VerdictName(speedup->verdict);
  return json;
}

}  // namespace

std::string JsonText(const ReportData& data) {
  const BenchFile& bench = data.bench;
  const Verification& v = bench.verification;
  Json tasks = Json::array();
  for (const TaskFact& task : data.tasks) tasks.push_back(TaskJson(data, task));
  Json choices = Json::array();
  for (const ChoiceFact& c : data.choices) {
    choices.push_back(HONE_JSON(c.what, c.with_seconds, c.without_seconds, c.kept));
  }
  const PartitionFact& p = data.partition;
  Json json = {{"version", kReportVersion}};
  json.update(HONE_JSON(data.job, data.network, data.target, data.target_name));
  if (bench.batch != 0) json["batch"] = bench.batch;
  if (!bench.layout.empty()) json["layout"] = bench.layout;
  json.update(HONE_JSON(bench.threads, bench.host, bench.cpu, bench.fingerprint, bench.recorded, bench.peak_flops));
  if (bench.peak_bytes > 0) json["peak_bytes"] = bench.peak_bytes;
  json["verification"] = HONE_JSON(v.ok, v.max_error, v.tolerance);
  json["speedup"] = SpeedupJson(data.FromUntuned());
  json["kernel_sum_seconds"] = bench.kernel_sum_seconds;
  json["predicted_ratio"] = bench.PredictedRatio();
  json["totals"] = TotalsJson(data.Sum());
  json["tuned"] = LibraryJson(data, data.tuned());
  json["untuned"] = data.untuned() != nullptr ? LibraryJson(data, *data.untuned()) : Json();
  json["partition"] = HONE_JSON(p.chosen, p.built, p.alone_seconds, p.chosen_seconds, p.exact);
  json.update(HONE_JSON(choices, tasks));
  for (const RoundFact& r : data.rounds) {
    json["rounds"].push_back(HONE_JSON(r.round, r.trials, r.seconds, r.estimated, r.unknown));
  }
  json["inputs"] = {
      {"bench", data.bench_path}, {"tasks", data.tasks_path}, {"best", data.best_path}, {"records", data.records_path}};
  // On one line and without a '<', so that a page can include it. Only strings can contain '<', and there the escape
  // means the same character.
  return ReplaceAll(DumpJson(json, -1), "<", "\\u003c");
}

}  // namespace hone::report
