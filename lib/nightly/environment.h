// Epochs: in one, the machine is the same. Another fingerprint begins one; so does a canary, which is never rebuilt,
// that runs at another level in two nights one after the other. A single such night is only marked: somebody else had
// the machine.
#pragma once

#include <string>
#include <vector>

#include "nightly/change_points.h"
#include "nightly/history.h"

namespace hone::nightly {

// The number of each night's epoch, from 0, never falling.
std::vector<int> Epochs(const std::vector<Night>& nights);

// Does tonight's canary say that the machine is not what it was? A sentence if so, else empty. Silent with fewer nights
// of the epoch than kLeastHistory, and where the canary has found its new level.
std::string EnvironmentMoved(std::vector<Night> before, const Night& tonight);

// The nights as a report draws them.
struct Trend {
  std::vector<double> values;        // library over canary, a night each: what the machine does hits both, and
                                     // accepting another reference moves nothing. 0: a night without a figure
  std::vector<int> epochs;           // a night each
  std::vector<ChangePoint> changes;  // within epochs: across their borders nothing is known. Ascending
};
Trend TrendOf(const std::vector<Night>& nights);

}  // namespace hone::nightly
