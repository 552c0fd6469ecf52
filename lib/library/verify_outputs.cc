#include "library/verify_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::library {

double RelativeError(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size() || found.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0, squares = 0, worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i]) || !std::isfinite(expected[i])) return std::numeric_limits<double>::infinity();
    sum += expected[i];
    squares += expected[i] * expected[i];
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  const double n = static_cast<double>(expected.size());
  const double deviation = std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)));
  // A constant output: relative to its size.
  const double scale = deviation > 0 ? deviation : std::max(std::abs(sum / n), 1e-30);
  return worst / scale;
}

Status VerifyOutputs(const std::string& where, double rounding, const std::vector<TensorData>& found,
                     const std::vector<std::vector<double>>& expected, double* error) {
  const double tolerance = OutputTolerance(rounding);
  if (found.size() != expected.size()) return Status::Invalid(where + ": has other outputs than its graph");
  *error = 0;
  Status wrong;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double off = RelativeError(found[i].Doubles(), expected[i]);
    *error = std::max(*error, off);
    if (off <= tolerance || !wrong.ok()) continue;
    wrong = Status::Corrupt(
        fmt::format("{}: output {} is wrong: off the reference by {:.2g} standard deviations (tolerance {:g}); a "
                    "kernel is wrong: build with --untuned to see whether it is a tuned one",
                    where, i, off, tolerance));
  }
  return wrong;
}

}  // namespace hone::library
