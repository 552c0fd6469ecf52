#include "command/quantise/quality.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/fields.h"
#include "base/text.h"

namespace hone::command {

void Difference::Add(double found, double wanted) {
  const double difference = std::fabs(found - wanted);
  signal_ += wanted * wanted, noise_ += difference * difference;
  largest_ = std::max(largest_, difference);
}

std::optional<double> Difference::Decibels() const {
  if (noise_ == 0) return std::nullopt;
  return std::max(10 * std::log10(signal_ / noise_), -300.0);
}

static void ListFields(Fields* f, LayerQuality* q) {
  HONE_VALUES(f, q->node, q->workload);
  f->Maybe("decibels", &q->decibels);
  f->Value("clipped", &q->clipped).In(0, 1);
}

static void ListFields(Fields* f, QuantiseReport* r) {
  f->Version(1);
  HONE_VALUES(f, r->network, r->data, r->samples, r->layers, r->integer_layers);
  f->Maybe("decibels", &r->decibels);
  HONE_VALUES(f, r->largest_error, r->rows, r->same_class, r->nodes);
  f->As(
      "settings", &r->settings, [](const quantise::Settings& s) { return Json::parse(quantise::SettingsText(s)); },
      [](const Json& json) { return quantise::ParseSettings(DumpJson(json), "settings"); });
}

std::string ReportJson(const QuantiseReport& report) { return FieldsText(report); }

Result<QuantiseReport> ParseQuantiseReport(std::string_view text, const std::string& path) {
  return ParseFields<QuantiseReport>(text, path);
}

static std::string DecibelsText(const std::optional<double>& decibels) {
  return decibels ? fmt::format("{:.1f} dB", *decibels) : "exact";
}

std::string ReportText(const QuantiseReport& r) {
  std::string text = fmt::format("{}: {} of {} with integers; {}, {}, {}{}\n", r.network, r.integer_layers,
                                 Counted(r.layers, "layer"), quantise::SchemeName(r.settings.scheme),
                                 quantise::MethodName(r.settings.method), Counted(r.samples, "calibration input"),
                                 r.data.empty() ? " (seeded: accuracy means nothing)" : " of " + r.data);
  text += fmt::format("outputs against float32: {}, largest error {:.4g}", DecibelsText(r.decibels), r.largest_error);
  if (r.rows > 0) text += fmt::format(", first class agrees in {} of {}", r.same_class, r.rows);
  size_t width = 5;
  for (const LayerQuality& q : r.nodes) width = std::max(width, std::min<size_t>(q.node.size(), 40));
  text += fmt::format("\n\n{:<{}}  {:>9}  {:>8}  workload\n", "layer", width, "signal", "clipped");
  for (const LayerQuality& q : r.nodes) {
    text += fmt::format("{:<{}}  {:>9}  {:>7.3f}%  {}\n", CutMiddle(Printable(q.node), width), width,
                        DecibelsText(q.decibels), 100 * q.clipped, CutMiddle(q.workload, 120 - width - 23));
  }
  return text;
}

}  // namespace hone::command
