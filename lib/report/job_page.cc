#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/text.h"
#include "report/outputs.h"
#include "report/page.h"
#include "report/svg.h"

namespace hone::report {
namespace {

std::string TimeOrDash(double seconds) { return seconds > 0 ? FormatSeconds(seconds) : "-"; }

// Writes a page: one function per section, in order of appearance.
class JobPageWriter {
 public:
  explicit JobPageWriter(const ReportData& data)
      : data_(data),
        layer_seconds_(data.tuned().LayerSeconds()),
        page_(data.job + ": tuned by Hone"),
        html_(page_.html()) {}

  std::string Write() && {
    Verdict();
    Latencies();
    Layers();
    Choices();
    Tasks();
    WriteTuning(data_, &page_);
    Failures();
    Origin();
    return std::move(page_).Finish(JsonText(data_));
  }

 private:
  void Verdict() {
    const BenchFile& bench = data_.bench;
    const Verification& v = bench.verification;
    page_.Heading("Hone, a tuned library", data_.job,
                  fmt::format("{} on {} ({}), {}", bench.What(), bench.cpu, bench.host, bench.recorded));
    std::string sentence = FormatSeconds(data_.tuned().latency().median) + " a run";
    const std::optional<Speedup> speedup = data_.FromUntuned();
    if (speedup) sentence += ", " + SpeedupText(*speedup, "untuned");
    const bool good = !speedup || speedup->verdict == Speedup::Verdict::kFaster ||
                      speedup->verdict == Speedup::Verdict::kNoDifference;
    page_.Verdict(!v.ok  ? Mark::kBad
                  : good ? Mark::kGood
                         : Mark::kOpen,
                  sentence + (v.ok ? "; the results are verified." : "; but the RESULTS ARE WRONG."));
    Tiles();
    const int64_t lacking = std::count_if(data_.tasks.begin(), data_.tasks.end(),
                                          [](const TaskFact& task) { return task.source != "tuned"; });
    if (lacking > 0) {
      html_.Open("p", {{"class", "wrong"}});
      html_.Text(fmt::format("Without records of their own: {} of {}; see the column \"built from\" of the tasks.",
                             lacking, Counted(static_cast<int64_t>(data_.tasks.size()), "task")));
      html_.Close();
    }
    std::vector<std::pair<const char*, const char*>> sections = {
        {"latency", "Latency"}, {"layers", "Layers"}, {"tasks", "Tasks"}, {"tuning", "Tuning"}};
    if (data_.Sum().trials > 0) sections.emplace_back("knobs", "Knobs");
    sections.insert(sections.end(), {{"failures", "Failures"}, {"machine", "Machine"}, {"origin", "Files"}});
    page_.Contents(sections);
  }

  void Tiles() {
    const BenchFile& bench = data_.bench;
    const Verification& v = bench.verification;
    page_.BeginTiles();
    page_.Tile(FormatSeconds(data_.tuned().latency().median), "median latency, tuned");
    if (const auto speedup = data_.FromUntuned()) page_.Tile(SpeedupCell(*speedup), SpeedupText(*speedup, "untuned"));
    page_.Tile(v.ok ? "verified" : "WRONG", VerificationText(v), v.ok ? "good" : "wrong");
    double share = 0;
    for (const BenchLayer& layer : data_.tuned().layers) {
      share += data_.PeakShare(layer.workload, layer.flop, data_.tuned().latency().median);
    }
    if (share > 0) page_.Tile(PercentText(share), "of the FMA peak, " + data_.PeakText());
    const Totals totals = data_.Sum();
    page_.Tile(FormatSeconds(totals.wall_seconds), "tuning, " + CountsText(totals));
    if (bench.PredictedRatio() > 0)
      page_.Tile(PercentText(bench.PredictedRatio()), "of the latency predicted by the kernels' recorded times");
    page_.EndTiles();
  }

  void LatencyRow(const char* name, const BenchLibrary& library, const std::string& speedup) {
    const Latency latency = library.latency();
    page_.Row({name, FormatSeconds(latency.median), FormatSeconds(latency.p10), FormatSeconds(latency.p90),
               FormatSeconds(latency.min), speedup, FormatCount(static_cast<int64_t>(library.Samples().size())),
               std::to_string(library.processes.size())});
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
    page_.Section("latency", "Latency");
    page_.BeginTable("latency of the libraries",
                     {"library", "#median", "#p10", "#p90", "#minimum", "#speed-up", "#runs", "#processes"});
    const std::optional<Speedup> speedup = data_.FromUntuned();
    if (speedup) LatencyRow("untuned", *data_.untuned(), "1");
    LatencyRow("tuned", data_.tuned(), speedup ? SpeedupCell(*speedup) : "-");
    page_.EndTable();
    html_.Open("div", {{"class", "cards"}});
    SampleChart("tuned", data_.tuned());
    if (data_.untuned() != nullptr) SampleChart("untuned", *data_.untuned());
    html_.Close();
  }

  // The layers that cause most of the difference between the network's time and its kernels'.
  std::string Deviations(std::vector<const BenchLayer*> layers) const {
    const auto slower = [&](const BenchLayer* l) { return std::abs(l->seconds - data_.AloneSeconds(*l)); };
    std::erase_if(layers, [&](const BenchLayer* l) { return data_.AloneSeconds(*l) <= 0; });
    std::stable_sort(layers.begin(), layers.end(), [&](auto* a, auto* b) { return slower(a) > slower(b); });
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min<size_t>(layers.size(), 3); ++i) {
      const double difference = layers[i]->seconds - data_.AloneSeconds(*layers[i]);
      parts.push_back(
          fmt::format("{} ({}{})", layers[i]->node, difference < 0 ? "-" : "+", FormatSeconds(std::abs(difference))));
    }
    return parts.empty() ? "" : " Farthest from it: " + Join(parts, ", ") + ".";
  }

  void Layers() {
    page_.Section("layers", "Layers");
    const std::vector<const BenchLayer*> layers = data_.SlowestLayers();
    if (layers.empty()) {
      page_.Paragraph("The network was not profiled.");
      return;
    }
    page_.Note(fmt::format(
        "Each layer's median inside the network, the slowest first; together {}. Alone: the median of its kernel in "
        "tuning.{} Shares of the peak count the arithmetic of direct convolution: Winograd kernels do less and may "
        "pass 100 %.{}",
        FormatSeconds(layer_seconds_), Deviations(layers),
        data_.bench.peak_bytes > 0 ? " Those of layers that multiply bytes are of the peak for bytes." : ""));
    page_.BeginTable("layers, the slowest first", {"layer", "what", "#time", "#alone", "#untuned", "#share", "relative",
                                                   "#of peak", "built from", "algorithm"});
    for (const BenchLayer* layer : layers) {
      const double share = layer_seconds_ > 0 ? layer->seconds / layer_seconds_ : 0;
      page_.BeginRow();
      page_.Cell(layer->node);
      page_.Cell(ShortWorkload(layer->workload), "what");
      page_.Number(FormatSeconds(layer->seconds));
      page_.Number(TimeOrDash(data_.AloneSeconds(*layer)));
      page_.Number(TimeOrDash(data_.UntunedSeconds(*layer)));
      page_.Number(PercentText(share));
      const double widest = layers.front()->seconds;
      html_.Open("td", {{"class", "bars"}});
      html_.Open("div", {{"class", "bar"},
                         {"style", fmt::format("width: {:.1f}%", widest > 0 ? 100 * layer->seconds / widest : 0)}});
      html_.Close().Close();
      page_.Number(PercentText(data_.PeakShare(layer->workload, layer->flop, layer->seconds)));
      page_.Cell(layer->source);
      page_.Cell(data_.AlgorithmOf(*layer));
      html_.Close();
    }
    page_.EndTable();
  }

  void Choices() {
    const PartitionFact& p = data_.partition;
    if (p.chosen == 0 && data_.choices.empty()) return;
    page_.Section("choices", "Choices over the whole network");
    if (p.chosen > 0) {
      const std::string fused = data_.FusedText();
      page_.Paragraph(
          fmt::format("By the kernels' own times {} {} computed otherwise than node by node: {} "
                      "together instead of {}. Built: {} of {}{}.{}",
                      Counted(p.chosen, "place"), p.chosen == 1 ? "is" : "are", FormatSeconds(p.chosen_seconds),
                      FormatSeconds(p.alone_seconds), p.built, p.chosen,
                      p.exact ? "" : " (there were too many to be sure that these are the best)",
                      fused.empty() ? "" : " Fused: " + fused + "."));
    }
    if (data_.choices.empty()) return;
    page_.BeginTable("choices over the whole network", {"the network, run with and without", "#with", "#without", ""});
    for (const ChoiceFact& c : data_.choices) {
      page_.Row({ChoiceText(c.what), FormatSeconds(c.with_seconds), FormatSeconds(c.without_seconds),
                 VerdictText(c.with_seconds, c.without_seconds, c.kept)});
    }
    page_.EndTable();
  }

  void Tasks() {
    page_.Section("tasks", "Tasks");
    page_.BeginTable("tasks", {"task", "#uses", "#best", "#FLOP/s", "#of peak", "#trials", "#failed", "built from",
                               "config, and the command that measures it alone"});
    for (const TaskFact& task : data_.tasks) {
      html_.Open("tr");
      html_.Open("td", {{"class", "wide id"}}).Element("code", task.id).Empty("br");
      html_.Element("span", task.workload).Close();
      page_.Number(task.uses > 0 ? FormatCount(task.uses) : "not built");
      page_.Number(TimeOrDash(task.seconds));
      page_.Number(task.Flops() > 0 ? FormatSi(task.Flops(), "") : "-");
      page_.Number(PercentText(data_.PeakShare(task.workload, task.flop, task.seconds)));
      const Totals totals = TotalsOf(task);
      page_.Number(FormatCount(totals.trials));
      std::vector<std::string> failed;
      for (const auto& [kind, count] : totals.failures) failed.push_back(fmt::format("{} {}", count, kind));
      page_.Number(failed.empty() ? "0" : Join(failed, ", "));
      page_.Cell(task.source == "anchor" ? "anchor: " + task.from : task.source);
      html_.Open("td", {{"class", "wide"}});
      html_.Element("code", task.config.empty() ? "the template's default"
                                                : fmt::format("{} (trial {})", task.config, task.trial));
      if (!task.repeat.empty()) html_.Empty("br").Element("code", task.repeat, {{"class", "soft"}});
      html_.Close();
      html_.Close();
    }
    page_.EndTable();
  }

  void Failures() {
    page_.Section("failures", "Failures");
    if (data_.Sum().failed == 0) {
      page_.Paragraph("No trial failed.");
      return;
    }
    page_.Note(
        "The first trial of each kind, and the commands, typed in the work folder, that show it and that repeat it "
        "alone.");
    page_.BeginTable("failures by task and kind", {"task", "kind", "#count", "first message", "commands"});
    for (const TaskFact& task : data_.tasks) {
      for (const FailureFact& f : task.failures) {
        page_.BeginRow();
        page_.Code(task.id, "id");
        page_.Cell(f.kind);
        page_.Number(FormatCount(f.count));
        page_.Cell(f.message, "wide");
        html_.Open("td", {{"class", "wide"}}).Element("code", f.explain);
        if (!f.repeat.empty()) html_.Empty("br").Element("code", f.repeat);
        html_.Close();
        html_.Close();
      }
    }
    page_.EndTable();
  }

  void Origin() {
    page_.Section("machine", "Machine");
    page_.BeginTable("the machine it was measured on", {});
    page_.Fact("host", data_.bench.host);
    // "cpu=..; cores=2; .."; any other text is a single fact.
    for (const std::string& part : Split(data_.bench.fingerprint, ';')) {
      const std::string fact(Trim(part));
      const size_t equals = fact.find('=');
      const std::string name = equals == std::string::npos ? "fingerprint" : fact.substr(0, equals);
      page_.Fact(name.c_str(), equals == std::string::npos ? fact : fact.substr(equals + 1));
    }
    page_.EndTable();
    page_.Section("origin", "Files");
    page_.BeginTable("files, and what was made of them", {});
    const BenchLibrary& tuned = data_.tuned();
    page_.Fact("library", fmt::format("{}/lib{}.so ({})", tuned.dir, tuned.name, tuned.digest));
    page_.Fact("header", fmt::format("{}/{}.h", tuned.dir, tuned.name));
    page_.Fact("target", data_.target);
    page_.Fact("bench", data_.bench_path);
    page_.Fact("tasks", data_.tasks_path);
    page_.Fact("best", data_.best_path);
    page_.Fact("records", data_.records_path);
    page_.Fact("where choices come from", data_.explain);
    page_.EndTable();
    page_.Note("All figures of this page, and every sample, are in the JSON text at its end, which is report.json.");
  }

  const ReportData& data_;
  const double layer_seconds_;
  PageWriter page_;
  HtmlWriter& html_;
};

}  // namespace

std::string HtmlText(const ReportData& data) { return JobPageWriter(data).Write(); }

}  // namespace hone::report
