#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/outputs.h"
#include "report/text_table.h"

namespace hone::report {
namespace {

constexpr size_t kLayers = 8;
constexpr size_t kColumns = 100;

std::vector<std::string> LatencyRow(const char* name, const Latency& latency, double speedup) {
  return {name, FormatSeconds(latency.median), FormatSeconds(latency.p10), FormatSeconds(latency.p90),
          speedup > 0 ? fmt::format("{:.2f}", speedup) : "-"};
}

std::string LatencyTable(const ReportData& data) {
  std::vector<std::vector<std::string>> rows = {{"latency", "median", "p10", "p90", "speed-up"}};
  if (data.untuned() != nullptr) rows.push_back(LatencyRow("untuned", data.untuned()->latency(), 1));
  rows.push_back(LatencyRow("tuned", data.tuned().latency(), data.Speedup()));
  return TextTable(rows, 4);
}

std::string LayerTable(const ReportData& data) {
  const double all = data.tuned().LayerSeconds();
  std::vector<std::vector<std::string>> rows = {{"slowest layers", "what", "time", "share", "of peak"}};
  bool beyond = false;
  for (const BenchLayer* layer : data.SlowestLayers()) {
    if (rows.size() > kLayers) break;
    beyond |= data.PeakShare(layer->flop, layer->seconds) > 1;
    rows.push_back({Plain(layer->node, 18), Plain(ShortWorkload(layer->workload), 46), FormatSeconds(layer->seconds),
                    PercentText(all > 0 ? layer->seconds / all : 0),
                    PercentText(data.PeakShare(layer->flop, layer->seconds))});
  }
  if (rows.size() == 1) return "";
  std::string note = data.AlgorithmsText();
  if (!note.empty()) note = "layers: " + note;
  if (beyond) {
    note += std::string(note.empty() ? "" : "; ") + "of peak: by direct convolution's arithmetic, Winograd does less";
  }
  return TextTable(rows, 3) + (note.empty() ? "" : Plain("(" + note + ")", kColumns)) + "\n";
}

std::string Title(const ReportData& data) {
  std::string title = fmt::format("# {}: {}", Plain(data.job, 40), FormatSeconds(data.tuned().latency().median));
  if (data.Speedup() > 0) title += fmt::format(", {:.2f} times as fast as untuned", data.Speedup());
  return title + (data.bench.verification.ok ? "\n" : "; WRONG RESULTS\n");
}

std::string TuningLine(const ReportData& data) {
  const Totals totals = data.Sum();
  return fmt::format("{} tasks, {}", data.tasks.size(), CountsText(totals));
}

}  // namespace

std::string MarkdownText(const ReportData& data) {
  const BenchFile& bench = data.bench;
  std::string text = Title(data);
  text += Plain(fmt::format("{}, {}{}, {}", bench.What(), bench.cpu,
                            bench.peak_flops > 0 ? " (peak " + FormatSi(bench.peak_flops, "FLOP/s") + ")" : "",
                            bench.recorded),
                kColumns) +
          "\n\n";
  text += LatencyTable(data) + "\n" + LayerTable(data);
  const auto line = [&](const char* name, const std::string& what) {
    text += Plain(fmt::format("- {:<10} {}", std::string(name) + ":", what), kColumns) + "\n";
  };
  const Verification& v = bench.verification;
  line(v.ok ? "verified" : "WRONG",
       fmt::format("largest error {:.1e} of the reference's standard deviation, allowed {:.1e}", v.max_error,
                   v.tolerance));
  const Totals totals = data.Sum();
  std::string fused;
  for (const BenchLayer* layer : data.FusedLayers()) fused += (fused.empty() ? "" : ", ") + layer->node;
  if (!fused.empty()) line("fused", fused);
  if (const PartitionFact& p = data.partition; p.chosen > 0) {
    line("kernels", fmt::format("{} together with {} alternatives, {} without; {} of them built{}",
                                FormatSeconds(p.chosen_seconds), p.chosen, FormatSeconds(p.alone_seconds), p.built,
                                p.exact ? "" : " (perhaps not the best ones)"));
  }
  for (const ChoiceFact& c : data.choices) {
    line("network", fmt::format("{} with {}, {} without: {}", FormatSeconds(c.with_seconds), ChoiceText(c.what),
                                FormatSeconds(c.without_seconds), c.kept ? "built" : "not built"));
  }
  line("tuning", TuningLine(data));
  line("spent",
       fmt::format("{} (compiling {}, summed over the cores; measuring {})", FormatSeconds(totals.wall_seconds),
                   FormatSeconds(totals.compile_seconds), FormatSeconds(totals.measure_seconds)));
  std::string missing;
  for (const TaskFact& task : data.tasks) {
    if (task.source != "tuned" && task.uses > 0)
      missing += (missing.empty() ? "" : ", ") + task.id + " (" + task.source + ")";
  }
  if (!missing.empty()) line("not tuned", missing);
  if (bench.PredictedRatio() > 0) {
    line("predicted", fmt::format("the recorded times of the kernels add up to {} of the latency",
                                  PercentText(bench.PredictedRatio())));
  }
  const BenchLibrary& tuned = data.tuned();
  line("library", fmt::format("{0}/lib{1}.so, {1}.h, {1}.params (in the work folder)", tuned.dir, tuned.name));
  line("next", fmt::format("open {}/index.html; hone-records explain {}", data.out_path, data.best_path));
  return text;
}

}  // namespace hone::report
