#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone::report {
namespace {

// In units of the view box; a phone shows one chart across, so that a unit is about a pixel everywhere.
constexpr double kWidth = 340, kHeight = 180, kLeft = 52, kRight = 8, kTop = 8, kBottom = 32;
constexpr double kLogFrom = 5;
constexpr int kLabels = 4;

class Axis {
 public:
  Axis(double low, double high, bool log, double from, double to) : log_(log), from_(from), to_(to) {
    low_ = log ? std::log(low) : low;
    high_ = log ? std::log(high) : high;
  }
  double At(double value) const {
    const double place = (log_ ? std::log(value) : value) - low_;
    return from_ + (high_ > low_ ? place / (high_ - low_) : 0.5) * (to_ - from_);
  }

 private:
  bool log_;
  double low_, high_, from_, to_;
};

std::string Number(double value) { return fmt::format("{:.1f}", value); }

// All labels of an axis in one unit, and with the digits that tell them apart.
std::vector<std::string> TimeLabels(const std::vector<double>& values, bool log) {
  std::vector<std::string> labels;
  if (log || values.size() < 2) {
    for (const double value : values) labels.push_back(FormatSeconds(value));
    return labels;
  }
  double unit = 1;
  const char* name = "s";
  for (const auto& [size, text] : {std::pair{1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}) {
    if (values.back() >= unit) break;
    unit = size;
    name = text;
  }
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10((values[1] - values[0]) / unit) - 1e-9)));
  for (const double value : values) labels.push_back(fmt::format("{:.{}f} {}", value / unit, digits, name));
  return labels;
}

std::string PathText(const ChartSeries& series, const Axis& x, const Axis& y, double x_end) {
  std::string path;
  for (size_t i = 0; i < series.points.size(); ++i) {
    const ChartPoint& p = series.points[i];
    if (series.kind == ChartSeries::Kind::kDots) {
      path += fmt::format("M{} {}h0", Number(x.At(p.x)), Number(y.At(p.y)));  // a round cap makes it a dot
      continue;
    }
    if (i == 0) {
      path += fmt::format("M{} {}", Number(x.At(p.x)), Number(y.At(p.y)));
    } else {
      path += fmt::format("H{}V{}", Number(x.At(p.x)), Number(y.At(p.y)));
    }
  }
  if (series.kind == ChartSeries::Kind::kSteps && !path.empty()) path += "H" + Number(x.At(x_end));
  return path;
}

}  // namespace

std::vector<double> LinearTicks(double low, double high, int wanted) {
  const double rough = (high - low) / wanted;
  if (!(rough > 0)) return {low};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
    ticks.push_back(i * step + 0.0);  // no -0
  if (ticks.empty()) ticks.push_back(low);
  return ticks;
}

std::vector<double> LogTicks(double low, double high, int wanted) {
  std::vector<double> ticks, powers;
  for (int e = static_cast<int>(std::floor(std::log10(low))); std::pow(10, e) <= high; ++e) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, e);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      ticks.push_back(value);
      if (factor == 1) powers.push_back(value);
    }
  }
  if (static_cast<int>(ticks.size()) > 2 * wanted && !powers.empty()) return powers;
  if (ticks.empty()) ticks.push_back(low);
  return ticks;
}

void DrawChart(const Chart& chart, HtmlWriter* html) {
  double low = INFINITY, high = -INFINITY;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& p : series.points) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  }
  const bool any = low <= high;
  if (!any) low = high = 1;
  const bool log = high > kLogFrom * low;
  const double margin = log ? 1.1 : 1 + std::max(0.06 * (high / low - 1), 1e-4);
  low /= margin;
  high *= margin;
  const Axis x(0, std::max(chart.x_end, 1e-9), false, kLeft, kWidth - kRight);
  const Axis y(low, high, log, kHeight - kBottom, kTop);
  const std::string left = Number(kLeft), right = Number(kWidth - kRight), top = Number(kTop),
                    bottom = Number(kHeight - kBottom);

  html->Open("svg",
             {{"viewBox", fmt::format("0 0 {} {}", kWidth, kHeight)}, {"role", "img"}, {"aria-label", chart.label}});
  html->Element("title", chart.label);
  if (any) {
    const std::vector<double> values = log ? LogTicks(low, high, kLabels) : LinearTicks(low, high, kLabels);
    const std::vector<std::string> labels = TimeLabels(values, log);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string at = Number(y.At(values[i]));
      html->Empty("path", {{"class", "grid"}, {"d", fmt::format("M{} {}H{}", left, at, right)}});
      html->Element("text", labels[i],
                    {{"class", "tick end"}, {"x", Number(kLeft - 5)}, {"y", Number(y.At(values[i]) + 3.5)}});
    }
  }
  for (const double value : LinearTicks(0, chart.x_end, kLabels)) {
    html->Element("text", FormatDouble(value),
                  {{"class", "tick middle"}, {"x", Number(x.At(value))}, {"y", Number(kHeight - kBottom + 13)}});
  }
  html->Element("text", chart.x_title, {{"class", "tick end"}, {"x", right}, {"y", Number(kHeight - 4)}});
  html->Empty("path", {{"class", "axis"}, {"d", fmt::format("M{} {}V{}H{}", left, top, bottom, right)}});
  for (const double at : chart.dividers) {
    html->Empty("path", {{"class", "divider"}, {"d", fmt::format("M{} {}V{}", Number(x.At(at)), top, bottom)}});
  }
  for (const double level : chart.levels) {
    html->Empty("path", {{"class", "level"}, {"d", fmt::format("M{} {}H{}", left, Number(y.At(level)), right)}});
  }
  std::string ticks;
  for (const double at : chart.ticks) ticks += fmt::format("M{} {}v-7", Number(x.At(at)), bottom);
  if (!ticks.empty()) html->Empty("path", {{"class", "bad"}, {"d", ticks}});
  for (const ChartSeries& series : chart.series) {
    if (!series.points.empty())
      html->Empty("path", {{"class", series.style}, {"d", PathText(series, x, y, chart.x_end)}});
  }
  html->Close();
}

}  // namespace hone::report
