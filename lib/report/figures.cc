#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "report/axis.h"
#include "report/svg.h"

namespace hone::report {
namespace {

void Path(const char* style, const std::string& d, HtmlWriter* html) {
  if (!d.empty()) html->Empty("path", {{"class", style}, {"d", d}});
}

void Label(const char* style, double x, double y, const std::string& text, HtmlWriter* html) {
  html->Element("text", text, {{"class", style}, {"x", Coordinate(x)}, {"y", Coordinate(y)}});
}

// Only known values; false if there are none.
bool RangeOf(const std::vector<double>& values, double* low, double* high) {
  *low = INFINITY, *high = -INFINITY;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    *low = std::min(*low, value);
    *high = std::max(*high, value);
  }
  return *low <= *high;
}

}  // namespace

void DrawInterval(const IntervalFigure& figure, const std::string& title, HtmlWriter* html) {
  constexpr double kWidth = 132, kHeight = 22, kMiddle = 11;
  const double range = figure.range > 0 ? figure.range : 0.1;
  const Axis axis(-range, range, false, 4, kWidth - 4);
  const auto at = [&](double value) { return Coordinate(axis.At(std::clamp(value, -range, range))); };
  OpenFigure(kWidth, kHeight, title, "", html);
  const double threshold = std::clamp(figure.threshold, 0.0, range);
  html->Empty("path", {{"class", "rest"},
                       {"style", "stroke:none"},
                       {"d", fmt::format("M{0} 3H{1}V{2}H{0}z", at(-threshold), at(threshold), kHeight - 3)}});
  Path("zero", fmt::format("M{} 1V{}", at(0), kHeight - 1), html);
  Path("line", fmt::format("M{} {}H{}", at(figure.low), kMiddle, at(figure.high)), html);
  Path("now", fmt::format("M{} {}h0", at(figure.estimate), kMiddle), html);
  html->Close();
}

namespace {

class TrendDrawing {
 public:
  TrendDrawing(const TrendFigure& figure, HtmlWriter* html) : figure_(figure), html_(html) {}

  void Draw() {
    Range();
    OpenFigure(kWidth, kHeight, figure_.title, figure_.description, html_);
    const Axis y(low_, high_, false, kHeight - kBottom, kTop);
    const Axis x(0, std::max<double>(1, static_cast<double>(figure_.nights.size()) - 1), false, kLeft + 4,
                 kWidth - kRight);
    Grid(y);
    Band(x, y);
    Borders(x);
    Levels(x, y);
    Dots(x, y);
    Label("tick", kLeft, kHeight - 4, figure_.first, html_);
    if (figure_.nights.size() > 1) Label("tick end", kWidth - kRight, kHeight - 4, figure_.last, html_);
    html_->Close();
  }

 private:
  static constexpr double kWidth = 340, kHeight = 158, kLeft = 46, kRight = 6, kTop = 10, kBottom = 22;

  // In per cent of the level.
  double Percent(double value) const { return 100 * (value / figure_.level - 1); }
  static bool Known(const TrendFigure::Night& night) { return night.value > 0 && std::isfinite(night.value); }

  void Range() {
    std::vector<double> values;
    for (const TrendFigure::Night& night : figure_.nights) {
      if (!Known(night)) continue;
      values.push_back(night.value);
      // An interval that is wild beside the values would flatten all of them.
      if (night.low > 0) values.push_back(std::max(night.low, night.value * 0.9));
      if (night.high > 0) values.push_back(std::min(night.high, night.value * 1.1));
    }
    double low, high;
    if (!RangeOf(values, &low, &high)) return;
    low_ = std::min(Percent(low), -2.0);
    high_ = std::max(Percent(high), 2.0);
    const double margin = 0.06 * (high_ - low_);
    low_ -= margin;
    high_ += margin;
  }

  void Grid(const Axis& y) {
    const std::vector<double> ticks = LinearTicks(low_, high_, 4);
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
    const int digits = step < 0.995 ? 1 : 0;
    for (const double tick : ticks) {
      Path(std::abs(tick) < 1e-9 ? "zero" : "grid",
           fmt::format("M{} {}H{}", kLeft, Coordinate(y.At(tick)), kWidth - kRight), html_);
      Label("tick end", kLeft - 5, y.At(tick) + 3.5,
            std::abs(tick) < 1e-9 ? "0 %" : fmt::format("{:+.{}f} %", tick, digits), html_);
    }
  }

  void Band(const Axis& x, const Axis& y) {
    std::string path, back;
    const auto flush = [&] {
      if (!path.empty()) Path("band", path + back + "z", html_);
      path = back = "";
    };
    for (size_t i = 0; i < figure_.nights.size(); ++i) {
      const TrendFigure::Night& night = figure_.nights[i];
      if (!Known(night) || !night.counted || !(night.low > 0) || !(night.high > 0) || StartsEpoch(i)) flush();
      if (!Known(night) || !night.counted || !(night.low > 0) || !(night.high > 0)) continue;
      const auto at = [&](double value) {
        return fmt::format("{} {}", Coordinate(x.At(static_cast<double>(i))),
                           Coordinate(y.At(std::clamp(Percent(value), low_, high_))));
      };
      path += (path.empty() ? "M" : "L") + at(night.high);
      back = "L" + at(night.low) + back;
    }
    flush();
  }

  bool StartsEpoch(size_t index) const {
    return std::any_of(figure_.borders.begin(), figure_.borders.end(), [index](const TrendFigure::Border& border) {
      return border.index == index && border.kind == TrendFigure::Border::Kind::kEpoch;
    });
  }

  void Borders(const Axis& x) {
    using Border = TrendFigure::Border;
    for (const Border& border : figure_.borders) {
      const double at = x.At(static_cast<double>(border.index) - 0.5);
      const bool change = border.kind == Border::Kind::kSlower || border.kind == Border::Kind::kFaster;
      const char* style = !change ? "divider" : border.kind == Border::Kind::kFaster ? "change faster" : "change";
      const char* sign = border.kind == Border::Kind::kSlower     ? "\xE2\x96\xB2"  // up: takes longer
                         : border.kind == Border::Kind::kFaster   ? "\xE2\x96\xBC"
                         : border.kind == Border::Kind::kAccepted ? "a"
                                                                  : "e";
      html_->Open("g").Element("title", border.words);
      Path(style, fmt::format("M{} {}V{}", Coordinate(at), kTop, kHeight - kBottom), html_);
      Label("tick middle", at, kTop - 1, sign, html_);
      html_->Close();
    }
  }

  // The median of each stretch between two borders.
  void Levels(const Axis& x, const Axis& y) {
    std::string path;
    size_t begin = 0;
    const auto stretch = [&](size_t end) {
      std::vector<double> values;
      for (size_t i = begin; i < end && i < figure_.nights.size(); ++i) {
        if (Known(figure_.nights[i]) && figure_.nights[i].counted) values.push_back(figure_.nights[i].value);
      }
      if (values.size() > 1) {
        path +=
            fmt::format("M{} {}H{}", Coordinate(x.At(static_cast<double>(begin) - 0.5 * (begin > 0))),
                        Coordinate(y.At(Percent(Median(values)))), Coordinate(x.At(static_cast<double>(end) - 0.5)));
      }
      begin = end;
    };
    for (const TrendFigure::Border& border : figure_.borders) {
      if (border.kind != TrendFigure::Border::Kind::kAccepted) stretch(border.index);
    }
    stretch(figure_.nights.size());
    Path("best", path, html_);
  }

  void Dots(const Axis& x, const Axis& y) {
    for (size_t i = 0; i < figure_.nights.size(); ++i) {
      const TrendFigure::Night& night = figure_.nights[i];
      if (!Known(night)) continue;
      const std::string at =
          fmt::format("M{} {}", Coordinate(x.At(static_cast<double>(i))), Coordinate(y.At(Percent(night.value))));
      // A circle of two arcs: hollow, as it says nothing.
      html_->Open("path", {{"class", night.counted ? "dots" : "rings"},
                           {"d", at + (night.counted ? "h0" : "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0")}});
      if (!night.words.empty()) html_->Element("title", night.words);
      html_->Close();
    }
  }

  const TrendFigure& figure_;
  HtmlWriter* html_;
  double low_ = -2, high_ = 2;  // per cent
};

}  // namespace

void DrawTrend(const TrendFigure& figure, HtmlWriter* html) { TrendDrawing(figure, html).Draw(); }

}  // namespace hone::report
