// How close a quantised network is to the one of floats, on calibration inputs: the report of hone-quantise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "quantise/settings.h"

namespace hone::command {

// Sums up differences between values and what they should be.
class Difference {
 public:
  void Add(double found, double wanted);
  // 10 * log10(sum of squares of the wanted values / sum of squares of the differences). Nothing without a difference.
  std::optional<double> Decibels() const;
  double largest() const { return largest_; }

 private:
  double signal_ = 0, noise_ = 0, largest_ = 0;
};

struct LayerQuality {
  std::string node, workload;      // as in the graph of floats
  std::optional<double> decibels;  // of its output; nothing if it is exact
  double clipped = 0;              // share of the output's values outside its grid
};

struct QuantiseReport {
  std::string network;
  quantise::Settings settings;
  std::string data;     // path of the calibration inputs; empty: seeded ones, so that accuracy means nothing
  int64_t samples = 0;  // calibration inputs
  int64_t layers = 0, integer_layers = 0;  // convolutions and dense layers; those that compute with integers
  std::optional<double> decibels;          // of all outputs
  double largest_error = 0;                // of all outputs, in units of the outputs
  // Rows of the first output, if it has scores of classes (two axes, two columns or more), and those whose largest
  // value is at the same place.
  int64_t rows = 0, same_class = 0;
  std::vector<LayerQuality> nodes;  // of integer layers, in the network's order
};

std::string ReportJson(const QuantiseReport& report);
Result<QuantiseReport> ParseQuantiseReport(std::string_view text, const std::string& path);

std::string ReportText(const QuantiseReport& report);

}  // namespace hone::command
