#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html.h"
#include "report/outputs.h"
#include "report/page_style.h"
#include "report/svg.h"

namespace hone::report {
namespace {

std::string TimeOrDash(double seconds) { return seconds > 0 ? FormatSeconds(seconds) : "-"; }

// A page being written: a function a section, in the order they appear.
class Page {
 public:
  explicit Page(const ReportData& data) : data_(data), layer_seconds_(data.tuned().LayerSeconds()) {}

  std::string Write() && {
    html_.Trusted("<!DOCTYPE html>\n").Open("html", {{"lang", "en"}}).Open("head");
    html_.Empty("meta", {{"charset", "utf-8"}});
    html_.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html_.Element("title", data_.job + ": tuned by Hone");
    html_.Open("style").Trusted(kPageStyle).Close().Close();
    html_.Open("body").Open("main");
    Verdict();
    Latencies();
    Layers();
    Choices();
    Tasks();
    Tuning();
    Failures();
    Origin();
    html_.Close();
    html_.Open("script", {{"type", "application/json"}, {"id", "report"}}).Trusted(JsonText(data_)).Close();
    html_.Close().Close();
    return std::move(html_).Finish();
  }

 private:
  void Section(const char* id, const char* title) { html_.Element("h2", title, {{"id", id}}); }

  void Heading(std::initializer_list<const char*> names, size_t first_number, size_t last_number) {
    html_.Open("div", {{"class", "scroll"}}).Open("table").Open("thead").Open("tr");
    size_t at = 0;
    for (const char* name : names) {
      const bool number = at >= first_number && at <= last_number;
      html_.Element("th", name, {{"scope", "col"}, {"class", number ? "num" : ""}});
      ++at;
    }
    html_.Close().Close().Open("tbody");
  }
  void EndTable() { html_.Close().Close().Close(); }
  void Cell(const std::string& text) { html_.Element("td", text); }
  void Number(const std::string& text) { html_.Element("td", text, {{"class", "num"}}); }
  void Code(const std::string& text, const char* style = "wide") {
    html_.Open("td", {{"class", style}}).Element("code", text).Close();
  }

  void Tile(const std::string& value, const std::string& what, const char* style = "") {
    html_.Open("div", {{"class", "tile"}}).Element("b", value, {{"class", style}}).Element("span", what).Close();
  }

  void Verdict() {
    const BenchFile& bench = data_.bench;
    html_.Open("header").Element("h1", data_.job);
    html_.Element("p",
                  fmt::format("{}, batch {}, {} thread{} on {} ({}), {}", data_.network, bench.batch, bench.threads,
                              bench.threads == 1 ? "" : "s", bench.cpu, bench.host, bench.recorded),
                  {{"class", "soft"}});
    html_.Open("div", {{"class", "tiles"}});
    Tile(FormatSeconds(data_.tuned().latency().median), "median latency, tuned");
    if (data_.Speedup() > 0) Tile(fmt::format("{:.2f} x", data_.Speedup()), "as fast as untuned");
    const Verification& v = bench.verification;
    Tile(v.ok ? "verified" : "WRONG",
         fmt::format("largest error {:.1e} of the reference's standard deviation, allowed {:.1e}", v.max_error,
                     v.tolerance),
         v.ok ? "good" : "wrong");
    int64_t flop = 0;
    for (const BenchLayer& layer : data_.tuned().layers) flop += layer.flop;
    const double share = data_.PeakShare(flop, data_.tuned().latency().median);
    if (share > 0) Tile(PercentText(share), "of the FMA peak, " + FormatSi(bench.peak_flops, "FLOP/s"));
    const Totals totals = data_.Sum();
    Tile(FormatSeconds(totals.wall_seconds), "tuning, " + CountsText(totals));
    if (bench.PredictedRatio() > 0)
      Tile(PercentText(bench.PredictedRatio()), "of the latency predicted by the kernels' recorded times");
    html_.Close();
    const int64_t lacking = std::count_if(data_.tasks.begin(), data_.tasks.end(),
                                          [](const TaskFact& task) { return task.source != "tuned"; });
    if (lacking > 0) {
      html_.Element(
          "p",
          fmt::format("{} of {} tasks have no records of their own: see the column \"built from\" of the tasks.",
                      lacking, data_.tasks.size()),
          {{"class", "wrong"}});
    }
    html_.Close().Open("nav");
    for (const auto& [id, name] : {std::pair{"latency", "Latency"},
                                   {"layers", "Layers"},
                                   {"tasks", "Tasks"},
                                   {"tuning", "Tuning"},
                                   {"failures", "Failures"},
                                   {"origin", "Origin"}}) {
      html_.Element("a", name, {{"href", std::string("#") + id}});
    }
    html_.Close();
  }

  void LatencyRow(const char* name, const BenchLibrary& library, double speedup) {
    const Latency latency = library.latency();
    html_.Open("tr").Element("th", name, {{"scope", "row"}});
    for (const double value : {latency.median, latency.p10, latency.p90, latency.min}) Number(FormatSeconds(value));
    Number(speedup > 0 ? fmt::format("{:.2f}", speedup) : "-");
    Number(FormatCount(static_cast<int64_t>(library.Samples().size())));
    Number(std::to_string(library.processes.size()));
    html_.Close();
  }

  void SampleChart(const char* name, const BenchLibrary& library) {
    const Latency latency = library.latency();
    ChartSeries dots{ChartSeries::Kind::kDots, "dots", {}};
    Chart chart;
    for (const std::vector<double>& process : library.processes) {
      if (!dots.points.empty()) chart.dividers.push_back(static_cast<double>(dots.points.size()) - 0.5);
      for (const double seconds : process) dots.points.push_back({static_cast<double>(dots.points.size()), seconds});
    }
    chart.label = fmt::format("every run of the {} library: median {}, from {} (p10) to {} (p90)", name,
                              FormatSeconds(latency.median), FormatSeconds(latency.p10), FormatSeconds(latency.p90));
    chart.x_title = "run";
    chart.x_end = static_cast<double>(dots.points.size()) - 1;
    chart.levels = {latency.p10, latency.median, latency.p90};
    chart.series = {std::move(dots)};
    html_.Open("figure").Element("h3", name);
    DrawChart(chart, &html_);
    html_.Element("figcaption", "every run in order; a dotted border between fresh processes; dashed: p10, median, p90")
        .Close();
  }

  void Latencies() {
    Section("latency", "Latency");
    Heading({"library", "median", "p10", "p90", "minimum", "speed-up", "runs", "processes"}, 1, 7);
    if (data_.untuned() != nullptr) LatencyRow("untuned", *data_.untuned(), 1);
    LatencyRow("tuned", data_.tuned(), data_.Speedup());
    EndTable();
    html_.Open("div", {{"class", "cards"}, {"style", "margin-top: 1rem"}});
    SampleChart("tuned", data_.tuned());
    if (data_.untuned() != nullptr) SampleChart("untuned", *data_.untuned());
    html_.Close();
  }

  double UntunedSeconds(const std::string& node) const {
    if (data_.untuned() == nullptr) return 0;
    for (const BenchLayer& layer : data_.untuned()->layers) {
      if (layer.node == node) return layer.seconds;
    }
    return 0;
  }

  void Layers() {
    Section("layers", "Layers");
    const std::vector<const BenchLayer*> layers = data_.SlowestLayers();
    if (layers.empty()) {
      html_.Element("p", "The network was not profiled.");
      return;
    }
    html_.Element(
        "p",
        fmt::format(
            "Each layer's median inside the network, the slowest first; together {}. Shares of the peak count the "
            "arithmetic of direct convolution: Winograd kernels do less and may pass 100 %.",
            FormatSeconds(layer_seconds_)),
        {{"class", "soft"}});
    Heading({"layer", "what", "time", "untuned", "share", "", "of peak", "built from", "algorithm"}, 2, 4);
    for (const BenchLayer* layer : layers) {
      const double share = layer_seconds_ > 0 ? layer->seconds / layer_seconds_ : 0;
      html_.Open("tr");
      Cell(layer->node);
      html_.Element("td", ShortWorkload(layer->workload), {{"class", "what"}});
      Number(FormatSeconds(layer->seconds));
      Number(TimeOrDash(UntunedSeconds(layer->node)));
      Number(PercentText(share));
      const double widest = layers.front()->seconds;
      html_.Open("td", {{"class", "bars"}});
      html_.Open("div", {{"class", "bar"},
                         {"style", fmt::format("width: {:.1f}%", widest > 0 ? 100 * layer->seconds / widest : 0)}});
      html_.Close().Close();
      Number(PercentText(data_.PeakShare(layer->flop, layer->seconds)));
      Cell(layer->source);
      Cell(data_.AlgorithmOf(*layer));
      html_.Close();
    }
    EndTable();
  }

  void Choices() {
    const PartitionFact& p = data_.partition;
    if (p.chosen == 0 && data_.choices.empty()) return;
    Section("choices", "Choices over the whole network");
    if (p.chosen > 0) {
      std::string fused;
      for (const BenchLayer* layer : data_.FusedLayers()) fused += (fused.empty() ? "" : ", ") + layer->node;
      html_.Element("p", fmt::format("By the kernels' own times {} places are computed otherwise than node by node: {} "
                                     "together instead of {}. Of these {} are built{}.{}",
                                     p.chosen, FormatSeconds(p.chosen_seconds), FormatSeconds(p.alone_seconds), p.built,
                                     p.exact ? "" : " (there were too many to be sure that these are the best)",
                                     fused.empty() ? "" : " Fused: " + fused + "."));
    }
    if (data_.choices.empty()) return;
    Heading({"the network, run with and without", "with", "without", "built"}, 1, 2);
    for (const ChoiceFact& c : data_.choices) {
      html_.Open("tr");
      Cell(ChoiceText(c.what));
      Number(FormatSeconds(c.with_seconds));
      Number(FormatSeconds(c.without_seconds));
      Cell(c.kept ? "with" : "without");
      html_.Close();
    }
    EndTable();
  }

  void Tasks() {
    Section("tasks", "Tasks");
    Heading({"task", "uses", "best", "FLOP/s", "of peak", "trials", "failed", "built from", "config"}, 1, 6);
    for (const TaskFact& task : data_.tasks) {
      html_.Open("tr");
      html_.Open("td", {{"class", "wide id"}}).Element("code", task.id).Empty("br");
      html_.Element("span", task.workload).Close();
      Number(task.uses > 0 ? FormatCount(task.uses) : "not built");
      Number(TimeOrDash(task.seconds));
      Number(task.Flops() > 0 ? FormatSi(task.Flops(), "") : "-");
      Number(PercentText(data_.PeakShare(task.flop, task.seconds)));
      const Totals totals = TotalsOf(task);
      Number(FormatCount(totals.trials));
      std::string failed;
      for (const auto& [kind, count] : totals.failures)
        failed += fmt::format("{}{} {}", failed.empty() ? "" : ", ", count, kind);
      Number(failed.empty() ? "0" : failed);
      Cell(task.source == "anchor" ? "anchor: " + task.from : task.source);
      Code(task.config.empty() ? "the template's default" : fmt::format("{} (trial {})", task.config, task.trial));
      html_.Close();
    }
    EndTable();
  }

  void TaskChart(const TaskFact& task) {
    ChartSeries ok{ChartSeries::Kind::kDots, "dots", {}}, pruned{ChartSeries::Kind::kDots, "pruned", {}},
        best{ChartSeries::Kind::kSteps, "best", {}};
    Chart chart;
    for (size_t i = 0; i < task.trials.size(); ++i) {
      const TrialFact& trial = task.trials[i];
      const double x = static_cast<double>(trial.ordinal);
      if (trial.state == TrialState::kFailed) chart.ticks.push_back(x);
      if (trial.state == TrialState::kPruned) pruned.points.push_back({x, trial.seconds});
      if (trial.state == TrialState::kOk) ok.points.push_back({x, trial.seconds});
      chart.x_end = std::max(chart.x_end, x);
    }
    for (const TrialFact& trial : Improvements(task))
      best.points.push_back({static_cast<double>(trial.ordinal), trial.seconds});
    const Totals totals = TotalsOf(task);
    chart.label = fmt::format("times of the trials of {}, and the best so far: {}", task.id, CountsText(totals));
    chart.x_title = "trial";
    chart.series = {std::move(pruned), std::move(ok), std::move(best)};
    html_.Open("figure", {{"id", "task-" + task.id}}).Element("h3", ShortWorkload(task.workload));
    DrawChart(chart, &html_);
    std::string caption = fmt::format("{}; {}; {}", task.id, CountsText(totals), FormatSeconds(totals.wall_seconds));
    if (!task.stopped.empty()) caption += "; ended by: " + task.stopped;
    if (task.foreign_trials > 0)
      caption += fmt::format("; {} more of other machines", FormatCount(task.foreign_trials));
    html_.Element("figcaption", caption).Close();
  }

  void Tuning() {
    Section("tuning", "Tuning");
    html_.Open("p", {{"class", "legend soft"}});
    for (const auto& [style, sign, what] : {std::tuple{"key-dots", "\xE2\x97\x8F", "a correct trial's time"},
                                            {"key-pruned", "\xE2\x97\x8F", "cut off as hopeless: at least this slow"},
                                            {"key-best", "\xE2\x94\x80", "best so far"},
                                            {"key-bad", "|", "failed"}}) {
      html_.Open("span").Element("i", sign, {{"class", style}}).Text(std::string(" ") + what).Close().Text("\n");
    }
    html_.Close().Open("div", {{"class", "cards"}});
    bool any = false;
    for (const TaskFact& task : data_.tasks) {
      if (task.trials.empty()) continue;
      TaskChart(task);
      any = true;
    }
    html_.Close();
    if (!any) html_.Element("p", "No task has trials.");
  }

  void Failures() {
    Section("failures", "Failures");
    if (data_.Sum().failed == 0) {
      html_.Element("p", "No trial failed.");
      return;
    }
    html_.Element("p",
                  "The first trial of each kind, and the commands, typed in the work folder, that show it and that "
                  "repeat it alone.",
                  {{"class", "soft"}});
    Heading({"task", "kind", "count", "first message", "commands"}, 2, 2);
    for (const TaskFact& task : data_.tasks) {
      for (const FailureFact& f : task.failures) {
        html_.Open("tr");
        Code(task.id, "id");
        Cell(f.kind);
        Number(FormatCount(f.count));
        html_.Element("td", f.message, {{"class", "wide"}});
        html_.Open("td", {{"class", "wide"}}).Element("code", f.explain).Empty("br").Element("code", f.repeat).Close();
        html_.Close();
      }
    }
    EndTable();
  }

  void Fact(const char* name, const std::string& value) {
    html_.Open("tr").Element("th", name, {{"scope", "row"}}).Open("td").Element("code", value).Close().Close();
  }

  void Origin() {
    Section("origin", "Origin");
    html_.Open("div", {{"class", "scroll"}}).Open("table").Open("tbody");
    const BenchLibrary& tuned = data_.tuned();
    Fact("library", fmt::format("{}/lib{}.so ({})", tuned.dir, tuned.name, tuned.digest));
    Fact("header", fmt::format("{}/{}.h", tuned.dir, tuned.name));
    Fact("target", data_.target);
    Fact("machine", data_.bench.fingerprint);
    Fact("bench", data_.bench_path);
    Fact("tasks", data_.tasks_path);
    Fact("best", data_.best_path);
    Fact("records", data_.records_path);
    Fact("where choices come from", "hone-records explain " + data_.best_path);
    html_.Close().Close().Close();
    html_.Element("p",
                  "All figures of this page, and every sample, are in the JSON text at its end, which is report.json.",
                  {{"class", "soft"}});
  }

  const ReportData& data_;
  const double layer_seconds_;
  HtmlWriter html_;
};

}  // namespace

std::string HtmlText(const ReportData& data) { return Page(data).Write(); }

}  // namespace hone::report
