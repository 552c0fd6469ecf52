#include "command/bench/bench_table.h"

#include <algorithm>

#include "base/text.h"
#include "report/speedup.h"

namespace hone::command {

constexpr double kMs = 1e3;
constexpr double kTiny = 1e-4;  // networks below this many seconds are shown in microseconds
constexpr size_t kSlowest = 8;  // number of slowest layers of the tuned library to list

struct Unit {
  const char* name;
  double in_second;
};

static std::string LatencyRow(const char* name, const report::Latency& l, const Unit& unit) {
  const double scale = unit.in_second;
  return fmt::format("{:<10} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}\n", name, l.median * scale, l.p10 * scale,
                     l.p90 * scale, l.min * scale);
}

static std::string Layers(const report::BenchFile& bench, const report::BenchLibrary& library, const Unit& unit) {
  std::vector<report::BenchLayer> layers = library.layers;
  std::stable_sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  const size_t shown = std::min(layers.size(), kSlowest);
  if (shown == 0) return "";
  const double all = library.LayerSeconds();
  std::string text = fmt::format("\n{:<24} {:>9} {:>7} {:>9} {:>7}  {}\n", "slowest layers", unit.name, "share",
                                 "GFLOP/s", "% peak", "computes");
  for (size_t i = 0; i < shown; ++i) {
    const report::BenchLayer& layer = layers[i];
    const double rate = layer.seconds > 0 ? static_cast<double>(layer.flop) / layer.seconds : 0;
    const double peak = bench.PeakOf(layer.workload);
    const std::string percent = peak > 0 ? fmt::format("{:.1f}", 100 * rate / peak) : "?";
    text += fmt::format("{:<24} {:>9.3f} {:>6.1f}% {:>9.1f} {:>7}  {}\n", layer.node, layer.seconds * unit.in_second,
                        all > 0 ? 100 * layer.seconds / all : 0, rate * 1e-9, percent, layer.workload);
  }
  return text;
}

// Decides by the library's manifest: a library built with --untuned is not tuned just because it is passed as --lib.
static bool HasTunedKernels(const report::BenchLibrary& library) {
  return std::any_of(library.layers.begin(), library.layers.end(),
                     [](const report::BenchLayer& l) { return l.source == "tuned" || l.source == "anchor"; });
}

std::string BenchTable(const report::BenchFile& bench) {
  const report::BenchLibrary* tuned = bench.Find(report::BenchRole::kTuned);
  const report::BenchLibrary* untuned = bench.Find(report::BenchRole::kUntuned);
  std::string text = fmt::format("{}, {}\n", bench.What(), bench.cpu);
  text +=
      fmt::format("outputs agree with the reference: largest error {:.1e} standard deviations (tolerance {:.0e})\n\n",
                  bench.verification.max_error, bench.verification.tolerance);
  const Unit unit = tuned->latency().median < kTiny ? Unit{"us", 1e6} : Unit{"ms", kMs};
  text += fmt::format("{:<10} {:>10} {:>10} {:>10} {:>10}\n", unit.name, "median", "p10", "p90", "min");
  const char* label = HasTunedKernels(*tuned) ? "tuned" : "untuned";
  const bool alike = untuned && HasTunedKernels(*untuned) == HasTunedKernels(*tuned);
  if (untuned)
    text += LatencyRow(alike ? "baseline" : HasTunedKernels(*untuned) ? "tuned" : "untuned", untuned->latency(), unit);
  text += LatencyRow(label, tuned->latency(), unit);
  if (!tuned->copies.empty()) text += LatencyRow("and copies", tuned->latency_with_copies(), unit);
  if (untuned) {
    const report::Speedup speedup = report::CompareLibraries(*tuned, *untuned);
    const std::string other = alike ? "the baseline" : HasTunedKernels(*untuned) ? "tuned" : "untuned";
    text += fmt::format("speedup    {:>10}  {}\n", report::SpeedupCell(speedup), report::SpeedupText(speedup, other));
  }
  if (tuned->start_seconds > 0) {
    text += fmt::format("start-up   {:>10.3f}  ms from opening the library to the end of its first run\n",
                        tuned->start_seconds * kMs);
  }
  if (tuned->resident_bytes > 0) {
    text += fmt::format("memory     {:>10.1f}  MB, parameters included\n",
                        static_cast<double>(tuned->resident_bytes) * 1e-6);
  }
  text += Layers(bench, *tuned, unit);
  text += "\n";
  if (bench.peak_flops > 0)
    text +=
        fmt::format("FMA peak measured beside it: {:.1f} GFLOP/s{}\n", bench.peak_flops * 1e-9,
                    bench.peak_bytes > 0 ? fmt::format("; of products of bytes: {:.1f}", bench.peak_bytes * 1e-9) : "");
  const report::KernelSum& kernels = bench.kernels;
  if (kernels.recorded_seconds > 0 && kernels.layer_seconds > 0) {
    text += fmt::format(
        "kernels as tuned: {}; the same layers in the network: {}, a ratio of {:.3f} ({:.0f} % of all layers' time)\n",
        FormatSeconds(kernels.recorded_seconds), FormatSeconds(kernels.layer_seconds),
        kernels.recorded_seconds / kernels.layer_seconds, 100 * kernels.layer_seconds / tuned->LayerSeconds());
    text += fmt::format("with the other layers as they ran: {}, {:.1f} % of the measured latency\n",
                        FormatSeconds(bench.kernel_sum_seconds), 100 * bench.PredictedRatio());
  }
  return text;
}

}  // namespace hone::command
