#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace hone::report {
namespace {

// In units of the view box. A phone shows one chart across, so a unit is about a pixel everywhere.
constexpr double kWidth = 340, kHeight = 180, kLeft = 52, kRight = 8, kTop = 8, kBottom = 32;
constexpr double kLogFrom = 5;
constexpr int kLabels = 4;

// The position of a value along an axis.
class Axis {
 public:
  // Maps `low` to `from` and `high` to `to` (units of the view box). Logarithmic: REQUIRES low > 0.
  Axis(double low, double high, bool log, double from, double to)
      : log_(log), low_(log ? std::log(low) : low), high_(log ? std::log(high) : high), from_(from), to_(to) {}

  // Maps outside values outside; an axis with a single value has it in the middle.
  double At(double value) const {
    const double place = (log_ ? std::log(value) : value) - low_;
    return from_ + (high_ > low_ ? place / (high_ - low_) : 0.5) * (to_ - from_);
  }

 private:
  bool log_;
  double low_, high_, from_, to_;
};

// Labels of times in one unit, with enough digits to differ; on a logarithmic axis, each with its own unit.
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

// The path of marks at these places, in units of the view box; each place once.
std::string MarksPath(ChartSeries::Kind kind, const std::vector<ChartPoint>& places) {
  std::string path;
  std::set<std::pair<int, int>> drawn;
  for (const ChartPoint& p : places) {
    const std::pair<int, int> at(static_cast<int>(std::lround(2 * p.x)), static_cast<int>(std::lround(2 * p.y)));
    if (!drawn.insert(at).second) continue;
    const std::string x = Coordinate(at.first / 2.0), y = Coordinate(at.second / 2.0);
    path += kind == ChartSeries::Kind::kCarets ? fmt::format("M{} {}m-2 1l2-3 2 3", x, y)
                                               : fmt::format("M{} {}h0", x, y);  // a round cap makes it a dot
  }
  return path;
}

std::string StepsPath(const std::vector<ChartPoint>& places, double end) {
  std::string path;
  for (const ChartPoint& p : places) {
    path += path.empty() ? fmt::format("M{} {}", Coordinate(p.x), Coordinate(p.y))
                         : fmt::format("H{}V{}", Coordinate(p.x), Coordinate(p.y));
  }
  if (!path.empty()) path += "H" + Coordinate(end);
  return path;
}

class Drawing {
 public:
  Drawing(const Chart& chart, HtmlWriter* html)
      : chart_(chart),
        html_(*html),
        x_(0, std::max(chart.x_end, 1e-9), false, kLeft + Inset(), kWidth - kRight - Inset()) {}

  void Draw() {
    Range();
    OpenFigure(kWidth, kHeight, chart_.label, chart_.description, &html_);
    const Axis y(low_, high_, log_, kHeight - kBottom, kTop);
    if (any_) LevelsOf(y);
    Names();
    html_.Element("text", chart_.x_title, {{"class", "tick end"}, {"x", right_}, {"y", Coordinate(kHeight - 4)}});
    html_.Empty("path", {{"class", "axis"}, {"d", fmt::format("M{} {}H{}", left_, bottom_, right_)}});
    for (const double at : chart_.dividers) {
      html_.Empty("path",
                  {{"class", "divider"}, {"d", fmt::format("M{} {}V{}", Coordinate(x_.At(at)), top_, bottom_)}});
    }
    for (const double level : chart_.levels) {
      html_.Empty("path",
                  {{"class", "level"}, {"d", fmt::format("M{} {}H{}", left_, Coordinate(y.At(level)), right_)}});
    }
    std::set<std::string> ticks;
    for (const double at : chart_.ticks) ticks.insert(fmt::format("M{} {}v-7", Coordinate(x_.At(at)), bottom_));
    if (!ticks.empty()) html_.Empty("path", {{"class", "bad"}, {"d", Join({ticks.begin(), ticks.end()}, "")}});
    for (const ChartSeries& series : chart_.series) {
      std::vector<ChartPoint> places;
      for (const ChartPoint& p : series.points) places.push_back({x_.At(p.x), y.At(p.y)});
      if (places.empty()) continue;
      const bool steps = series.kind == ChartSeries::Kind::kSteps;
      html_.Empty("path", {{"class", series.style},
                           {"d", steps ? StepsPath(places, x_.At(chart_.x_end)) : MarksPath(series.kind, places)}});
    }
    html_.Close();
  }

 private:
  double Inset() const {  // names are centred in columns
    return chart_.x_names.empty() ? 0 : (kWidth - kLeft - kRight) / 2 / static_cast<double>(chart_.x_names.size());
  }

  void Range() {
    low_ = INFINITY, high_ = -INFINITY;
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& p : series.points) {
        low_ = std::min(low_, p.y);
        high_ = std::max(high_, p.y);
      }
    }
    any_ = low_ <= high_;
    if (!any_) low_ = high_ = 1;
    log_ = high_ > kLogFrom * low_;
    const double margin = log_ ? 1.1 : 1 + std::max(0.06 * (high_ / low_ - 1), 1e-4);
    low_ /= margin;
    high_ *= margin;
  }

  void LevelsOf(const Axis& y) {
    std::vector<double> values = log_ ? LogTicks(low_, high_, kLabels) : LinearTicks(low_, high_, kLabels);
    if (values.size() < 2) values = LinearTicks(low_, high_, 2 * kLabels);
    const std::vector<std::string> labels = TimeLabels(values, log_);
    for (size_t i = 0; i < values.size(); ++i) {
      const double at = y.At(values[i]);
      html_.Empty("path", {{"class", "grid"}, {"d", fmt::format("M{} {}H{}", left_, Coordinate(at), right_)}});
      html_.Element("text", labels[i],
                    {{"class", "tick end"}, {"x", Coordinate(kLeft - 7)}, {"y", Coordinate(at + 3.5)}});
    }
  }

  void Names() {
    const auto label = [this](double at, const std::string& text) {
      html_.Element(
          "text", text,
          {{"class", "tick middle"}, {"x", Coordinate(x_.At(at))}, {"y", Coordinate(kHeight - kBottom + 13)}});
    };
    const size_t names = chart_.x_names.size();
    if (names == 0) {
      for (const double value : LinearTicks(0, chart_.x_end, kLabels))
        label(value, fmt::format("{:.6g}", value));  // 0.6, not 0.6000000000000001
      return;
    }
    // A character takes about six units; if names are too close, shows the first, the last and some between.
    const size_t characters = 46;
    size_t longest = 1;
    for (const std::string& name : chart_.x_names) longest = std::max(longest, std::min<size_t>(name.size(), 12));
    const size_t step = std::max<size_t>(1, (names * (longest + 1) + characters - 1) / characters);
    for (size_t i = 0; i < names; i += step) label(static_cast<double>(i), CutMiddle(chart_.x_names[i], 12));
  }

  const Chart& chart_;
  HtmlWriter& html_;
  const Axis x_;
  double low_ = 1, high_ = 1;
  bool any_ = false, log_ = false;
  const std::string left_ = Coordinate(kLeft), right_ = Coordinate(kWidth - kRight), top_ = Coordinate(kTop),
                    bottom_ = Coordinate(kHeight - kBottom);
};

}  // namespace

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
    ticks.push_back(i * step + 0.0);  // avoids -0
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

void OpenFigure(double width, double height, const std::string& title, const std::string& description,
                HtmlWriter* html) {
  html->Open("svg", {{"viewBox", fmt::format("0 0 {} {}", width, height)}, {"role", "img"}, {"aria-label", title}});
  html->Element("title", title);
  if (!description.empty()) html->Element("desc", description);
}

void DrawKey(ChartSeries::Kind kind, const char* style, const std::string& meaning, HtmlWriter* html) {
  html->Open("span").Open("svg", {{"viewBox", "0 0 18 12"}, {"aria-hidden", "true"}});
  const bool line = kind == ChartSeries::Kind::kSteps;
  html->Empty("path", {{"class", style}, {"d", line ? "M1 6H17" : MarksPath(kind, {{9, 6}})}});
  html->Close().Text(" " + meaning).Close().Text("\n");
}

void DrawChart(const Chart& chart, HtmlWriter* html) { Drawing(chart, html).Draw(); }

}  // namespace hone::report
