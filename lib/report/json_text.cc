#include "report/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace hone::report {

std::string IslandText(const Json& json) {
  // Only strings can hold one, and there the escape means the same character.
  return ReplaceAll(DumpJson(json, -1), "<", "\\u003c");
}

double Rounded(double value, int digits) {
  if (!std::isfinite(value)) return value;
  const Result<double> rounded = ParseDouble(fmt::format("{:.{}g}", value, digits));
  return rounded.ok() ? *rounded : value;
}

}  // namespace hone::report
