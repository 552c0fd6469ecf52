// Charts of times, as inline SVG that uses the colours of the page's style sheet (page_style.h). Every figure has a
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
    kSteps,   // horizontal from each point to the x of the next; REQUIRES: ascending x
  };
  Kind kind = Kind::kDots;
  const char* style = "";  // class in the style sheet
  std::vector<ChartPoint> points;
};

// The vertical axis is logarithmic if the times span more than a factor of five, else linear and not from zero.
struct Chart {
  std::string label;        // describes the chart to readers who cannot see it
  std::string description;  // the outcome; may be empty
  std::string x_title;
  double x_end = 1;                 // the horizontal axis goes from 0 to this
  std::vector<ChartSeries> series;  // later ones on top; overlapping points are drawn once
  std::vector<double> ticks;        // x of short marks at the bottom, for trials without a time
  std::vector<double> dividers;     // x of vertical lines
  std::vector<double> levels;       // y of dashed lines, within the range of the points
  // Names for values that are not numbers, one for each of 0, 1, .. x_end; long ones are cut. They replace round
  // numbers.
  std::vector<std::string> x_names;
};

void DrawChart(const Chart& chart, HtmlWriter* html);

// Opens an <svg> with its <title> and <desc>; the caller closes it.
void OpenFigure(double width, double height, const std::string& title, const std::string& description,
                HtmlWriter* html);

// A coordinate of a path: one decimal, omitted if it is 0.
std::string Coordinate(double value);

// About `wanted` round values inside [low, high], at least one, for the labels of an axis. Logarithmic: 1, 2, 5 times
// powers of ten, or only the powers if there are more than twice as many.
std::vector<double> LinearTicks(double low, double high, int wanted);
std::vector<double> LogTicks(double low, double high, int wanted);

// Explains a series' mark in a line of text.
void DrawKey(ChartSeries::Kind kind, const char* style, const std::string& meaning, HtmlWriter* html);

}  // namespace hone::report
