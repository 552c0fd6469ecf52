// Figures of nightly runs, each with a <title>; colours as in svg.h.
#pragma once

#include <string>
#include <vector>

#include "report/html.h"

namespace hone::report {

// An estimate with its interval, around 0 = no change. All are shares: 0.02 is 2 %. A change of at most `threshold`
// lies in the grey middle; `range` is where the figure ends on both sides, the same for all rows of a table.
struct IntervalFigure {
  double low = 0, estimate = 0, high = 0;
  double threshold = 0, range = 0.1;
};
void DrawInterval(const IntervalFigure& figure, const std::string& title, HtmlWriter* html);

// Nights along an axis, in per cent of a level.
struct TrendFigure {
  struct Night {
    double value = 0;          // not above 0: no figure, which leaves a gap
    double low = 0, high = 0;  // interval; 0: unknown
    bool counted = true;       // false: drawn as a ring, it says nothing about the library
    std::string words;         // of this night, to be read by pointing at it
  };
  std::string title, description;
  std::string first, last;  // what to write below the ends
  double level = 1;         // the value that is called 0 %
  std::vector<Night> nights;
  struct Border {
    size_t index = 0;  // left of this night
    enum class Kind { kSlower, kFaster, kEpoch, kAccepted } kind = Kind::kEpoch;
    std::string words;
  };
  std::vector<Border> borders;  // ascending
};
void DrawTrend(const TrendFigure& figure, HtmlWriter* html);

}  // namespace hone::report
