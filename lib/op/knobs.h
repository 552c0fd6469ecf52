// Shared functions of templates for building spaces and choosing points.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "search/space/rules.h"
#include "search/space/space.h"

namespace hone::op {

using search::EvenParts;
using search::Imbalance;
using search::NoLarger;
using search::Rejection;
using search::TooUneven;
using search::Unless;

// ceil(extent / k) for the given k, each once, descending.
std::vector<int64_t> PartsFor(int64_t extent, const std::vector<int64_t>& counts);
// The values that divide `extent`.
std::vector<int64_t> DivisorsAmong(int64_t extent, std::vector<int64_t> values);

// The point with these values of the knobs, each a number or a word, if it is legal; else the legal point that shares
// the most values with it (lowest index of equals) among the first 200,000 points of the space. Returns kInvalid
// without a legal point, or if a knob does not have its value.
using KnobSetting = std::variant<int64_t, std::string>;
Result<Config> LegalNear(const search::Space& space, const std::map<std::string, KnobSetting>& settings);

}  // namespace hone::op
