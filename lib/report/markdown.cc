#include <algorithm>
#include <string_view>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "base/text.h"
#include "report/outputs.h"

namespace hone::report {
namespace {

constexpr size_t kLayers = 8;

// The text on one line: without control characters (which a terminal obeys), table borders, and anything that Markdown
// would take for a tag or a link. Bytes that are not UTF-8 become question marks.
std::string Plain(const std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t length = SequenceLength(rest);
    const std::string_view sequence = rest.substr(0, length);
    const bool bad = length == 0 || IsControl(sequence) || sequence == "\n" || sequence == "\t";
    // "<b>" and "[text](address)" would be markup, "|" the end of a cell.
    const bool link = sequence == "(" && EndsWith(out, "]");
    out += bad ? "?" : link ? "{" : sequence == "|" ? "/" : sequence == "<" ? "\xE2\x80\xB9" : sequence;
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

// A Markdown table, aligned by a letter for each column: l or r. A last column on the left is not padded, so a long
// cell makes only its own row wider.
std::string TextTable(const std::vector<std::vector<std::string>>& rows, std::string_view columns) {
  std::vector<size_t> widths(columns.size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  if (columns.back() == 'l') widths.back() = std::max<size_t>(Width(rows[0].back()), 3);
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string rule;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const bool right = columns[i] == 'r';
      const std::string space(widths[i] - std::min(widths[i], Width(rows[r][i])), ' ');
      text += "| " + (right ? space + rows[r][i] : rows[r][i] + space) + " ";
      rule += "|" + std::string(widths[i] + 1, '-') + (right ? ":" : "-");
    }
    text += "|\n";
    if (r == 0) text += rule + "|\n";
  }
  return text;
}

std::vector<std::string> LatencyRow(const char* name, const Latency& latency, const std::string& speedup) {
  return {name, FormatSeconds(latency.median), FormatSeconds(latency.p10), FormatSeconds(latency.p90), speedup};
}

std::string LatencyTable(const ReportData& data) {
  std::vector<std::vector<std::string>> rows = {{"latency", "median", "p10", "p90", "speed-up"}};
  const std::optional<Speedup> speedup = data.FromUntuned();
  if (speedup) rows.push_back(LatencyRow("untuned", data.untuned()->latency(), "1"));
  rows.push_back(LatencyRow("tuned", data.tuned().latency(), speedup ? SpeedupCell(*speedup) : "-"));
  return TextTable(rows, "lrrrr");
}

std::string LayerTable(const ReportData& data) {
  const double all = data.tuned().LayerSeconds();
  std::vector<std::vector<std::string>> rows = {{"slowest layers", "time", "share", "of peak", "what"}};
  bool beyond = false;
  for (const BenchLayer* layer : data.SlowestLayers()) {
    if (rows.size() > kLayers) break;
    beyond |= data.PeakShare(layer->workload, layer->flop, layer->seconds) > 1;
    rows.push_back({Plain(layer->node), FormatSeconds(layer->seconds), PercentText(all > 0 ? layer->seconds / all : 0),
                    PercentText(data.PeakShare(layer->workload, layer->flop, layer->seconds)),
                    Plain(ShortWorkload(layer->workload))});
  }
  if (rows.size() == 1) return "";
  std::string note = data.AlgorithmsText();
  if (!note.empty()) note = "layers: " + note;
  if (beyond) {
    note += std::string(note.empty() ? "" : "; ") + "of peak: by direct convolution's arithmetic, Winograd does less";
  }
  return TextTable(rows, "lrrrl") + (note.empty() ? "" : Plain("(" + note + ")")) + "\n";
}

}  // namespace

std::string MarkdownText(const ReportData& data) {
  const BenchFile& bench = data.bench;
  std::string text = fmt::format("# {}: {}", Plain(data.job), FormatSeconds(data.tuned().latency().median));
  if (const auto speedup = data.FromUntuned()) text += ", " + SpeedupTitle(*speedup, "untuned");
  text += bench.verification.ok ? "\n" : "; WRONG RESULTS\n";
  text += Plain(fmt::format("{}, {}{}, {}", bench.What(), bench.cpu,
                            bench.peak_flops > 0 ? " (peak " + data.PeakText() + ")" : "", bench.recorded)) +
          "\n\n";
  text += LatencyTable(data) + "\n" + LayerTable(data);
  const auto line = [&](const char* name, const std::string& what) {
    text += Plain(fmt::format("- {:<10} {}", std::string(name) + ":", what)) + "\n";
  };
  const Verification& v = bench.verification;
  line(v.ok ? "verified" : "WRONG", VerificationText(v));
  if (const auto speedup = data.FromUntuned()) line("speed-up", SpeedupText(*speedup, "untuned"));
  const Totals totals = data.Sum();
  if (const std::string fused = data.FusedText(); !fused.empty()) line("fused", fused);
  if (const PartitionFact& p = data.partition; p.chosen > 0) {
    line("kernels", fmt::format("{} in all; {} with {}, {} of {} used{}", FormatSeconds(p.alone_seconds),
                                FormatSeconds(p.chosen_seconds), Counted(p.chosen, "alternative"), p.built, p.chosen,
                                p.exact ? "" : " (perhaps not the best ones)"));
  }
  for (const ChoiceFact& c : data.choices) {
    line("network",
         fmt::format("{} with {}, {} without: {}", FormatSeconds(c.with_seconds), ChoiceText(c.what),
                     FormatSeconds(c.without_seconds), VerdictText(c.with_seconds, c.without_seconds, c.kept)));
  }
  line("tuning", fmt::format("{}, {}", Counted(static_cast<int64_t>(data.tasks.size()), "task"), CountsText(totals)));
  if (const std::string disturbed = DisturbedText(totals); !disturbed.empty()) line("disturbed", disturbed);
  if (!data.rounds.empty()) line("rounds", "estimated total " + RoundsText(data.rounds));
  line("spent",
       fmt::format("{} (compiling {}, summed over the cores; measuring {})", FormatSeconds(totals.wall_seconds),
                   FormatSeconds(totals.compile_seconds), FormatSeconds(totals.measure_seconds)));
  std::vector<std::string> missing;
  for (const TaskFact& task : data.tasks) {
    if (task.source != "tuned" && task.uses > 0) missing.push_back(task.id + " (" + task.source + ")");
  }
  if (!missing.empty()) line("not tuned", Join(missing, ", "));
  if (bench.PredictedRatio() > 0) {
    line("predicted", fmt::format("the recorded times of the kernels add up to {} of the latency",
                                  PercentText(bench.PredictedRatio())));
  }
  const BenchLibrary& tuned = data.tuned();
  const auto path = [&](const std::string& path) { return JoinPath(data.folder, path); };
  line("library", fmt::format("{0}/lib{1}.so, {1}.h, {1}.params", path(tuned.dir), tuned.name));
  line("page", path(data.out_path) + "/index.html");
  line("next", data.explain);
  return text;
}

}  // namespace hone::report
