#include "op/knobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "op/shapes.h"

namespace hone::op {

constexpr PointIndex kMostLooked = 200000;

static Result<Config> PointOf(const Space& space, const std::map<std::string, KnobSetting>& settings) {
  std::vector<size_t> digits;
  for (const Knob& knob : space.knobs()) {
    auto setting = settings.find(knob.name());
    if (setting == settings.end()) return Status::Invalid("knob `{}` is not set", knob.name());
    size_t digit = 0;
    for (; digit < knob.size(); ++digit) {
      const KnobValue& value = knob.value(digit);
      const auto* number = std::get_if<int64_t>(&setting->second);
      if (number ? value.numbers == std::vector<int64_t>{*number}
                 : value.words == std::vector<std::string>{std::get<std::string>(setting->second)}) {
        break;
      }
    }
    if (digit == knob.size()) return Status::Invalid("knob `{}` has no such value", knob.name());
    digits.push_back(digit);
  }
  return space.At(space.IndexOf(digits));
}

std::vector<int64_t> PartsFor(int64_t extent, const std::vector<int64_t>& counts) {
  std::vector<int64_t> parts;
  for (int64_t k : counts) parts.push_back(CeilDiv(extent, std::min(k, extent)));
  std::sort(parts.rbegin(), parts.rend());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

std::vector<int64_t> DivisorsAmong(int64_t extent, std::vector<int64_t> values) {
  std::erase_if(values, [&](int64_t v) { return extent % v != 0; });
  return values;
}

Result<Config> LegalNear(const Space& space, const std::map<std::string, KnobSetting>& settings) {
  HONE_ASSIGN_OR_RETURN(const Config preferred, PointOf(space, settings));
  std::optional<std::string> why = space.Reject(preferred);
  if (!why) return preferred;
  std::optional<Config> best;
  int most = -1;
  for (PointIndex i = 0; i < space.size() && i < kMostLooked; ++i) {
    Config config = space.At(i);
    int same = 0;
    for (size_t k = 0; k < config.values.size(); ++k) same += config.values[k] == preferred.values[k];
    if (same > most && !space.Reject(config)) {
      most = same;
      best = std::move(config);
    }
  }
  if (best) return *best;
  return Status::Invalid("{}: no legal point ({})", space.template_name(), *why);
}

}  // namespace hone::op
