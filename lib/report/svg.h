// Small charts of times, as inline SVG that takes its colours from the page's style sheet (page_style.h).
#pragma once

#include <string>
#include <vector>

#include "report/html.h"

namespace hone::report {

struct ChartPoint {
  double x = 0;
  double y = 0;  // seconds, above 0
};

struct ChartSeries {
  enum class Kind {
    kDots,
    kSteps,  // from each point level to the x of the next; REQUIRES: ascending x
  };
  Kind kind = Kind::kDots;
  const char* style = "";  // class of the style sheet
  std::vector<ChartPoint> points;
};

// The vertical axis is logarithmic if the times span more than a factor of five, else linear and not from zero.
struct Chart {
  std::string label;  // what it shows, for those who cannot see it
  std::string x_title;
  double x_end = 1;                 // the horizontal axis goes from 0 to this
  std::vector<ChartSeries> series;  // later ones on top
  std::vector<double> ticks;        // x of short marks at the bottom: what has no time
  std::vector<double> dividers;     // x of vertical lines
  std::vector<double> levels;       // y of dashed lines, within the range of the points
};

void DrawChart(const Chart& chart, HtmlWriter* html);

// Round values inside [low, high] for the labels of an axis, at least one, about `wanted` of them.
// Logarithmic: 1, 2, 5 times powers of ten, thinned to the powers alone if there are more than twice as many.
std::vector<double> LinearTicks(double low, double high, int wanted);
std::vector<double> LogTicks(double low, double high, int wanted);

}  // namespace hone::report
