// Charts of times, as inline SVG that takes its colours from the page's style sheet (page_style.h). Every figure has a
// <title> that describes it and a <desc> with its outcome in words.
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
    kCarets,  // open, pointing up: "at least this"
    kSteps,   // from each point level to the x of the next; REQUIRES: ascending x
  };
  Kind kind = Kind::kDots;
  const char* style = "";  // class of the style sheet
  std::vector<ChartPoint> points;
};

// The vertical axis is logarithmic if the times span more than a factor of five, else linear and not from zero.
struct Chart {
  std::string label;        // a description, for readers who cannot see it
  std::string description;  // what comes of it; may be empty
  std::string x_title;
  double x_end = 1;                 // the horizontal axis goes from 0 to this
  std::vector<ChartSeries> series;  // later ones on top; points that would cover one another are drawn once
  std::vector<double> ticks;        // x of short marks at the bottom: what has no time
  std::vector<double> dividers;     // x of vertical lines
  std::vector<double> levels;       // y of dashed lines, within the range of the points
  // For values that are not numbers: a name for each of 0, 1, .. x_end, instead of round numbers; long ones are cut.
  std::vector<std::string> x_names;
};

void DrawChart(const Chart& chart, HtmlWriter* html);

// <svg> with its <title> and <desc>, to be closed by the caller.
void OpenFigure(double width, double height, const std::string& title, const std::string& description,
                HtmlWriter* html);

// A coordinate of a path: one digit behind the point, none if it is 0.
std::string Coordinate(double value);

// Round values inside [low, high] for the labels of an axis, at least one, about `wanted` of them.
// Logarithmic: 1, 2, 5 times powers of ten, thinned to the powers alone if there are more than twice as many.
std::vector<double> LinearTicks(double low, double high, int wanted);
std::vector<double> LogTicks(double low, double high, int wanted);

// The meaning of a series' mark, in a line of text.
void DrawKey(ChartSeries::Kind kind, const char* style, const std::string& meaning, HtmlWriter* html);

}  // namespace hone::report
