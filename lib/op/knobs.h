// Shared functions of templates for building spaces and choosing points.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"

namespace hone::op {

// ceil(extent / k) for k = 1, 2, ..: the sizes of even splits within least .. most, each once, descending.
std::vector<int64_t> EvenParts(int64_t extent, int64_t least, int64_t most);
// ceil(extent / k) for the given k, each once, descending.
std::vector<int64_t> PartsFor(int64_t extent, const std::vector<int64_t>& counts);

// The point with these values of the knobs, each a number or a word; kInvalid if there is none.
using KnobSetting = std::variant<int64_t, std::string>;
Result<Config> PointOf(const search::Space& space, const std::map<std::string, KnobSetting>& settings);
// `preferred` if it is legal; else the legal point that shares the most knob values with it (lowest index of equals)
// among the first `limit` points of the space, or kInvalid.
Result<Config> LegalNear(const search::Space& space, const Config& preferred, uint64_t limit = 200000);

// How much longer the busiest thread works than the average, if `tasks` equal tasks of `size` make up `total` work.
double Imbalance(int64_t tasks, double size, double total, int threads);

}  // namespace hone::op
