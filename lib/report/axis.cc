#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone::report {

Axis::Axis(double low, double high, bool log, double from, double to)
    : log_(log), low_(log ? std::log(low) : low), high_(log ? std::log(high) : high), from_(from), to_(to) {}

double Axis::At(double value) const {
  const double place = (log_ ? std::log(value) : value) - low_;
  return from_ + (high_ > low_ ? place / (high_ - low_) : 0.5) * (to_ - from_);
}

std::string Coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

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

}  // namespace hone::report
