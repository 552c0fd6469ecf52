#include "search/tuner/auto_tried.h"

#include <algorithm>

namespace hone::search {
namespace {

uint64_t Pair(uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) << 32 | b; }

}  // namespace

std::vector<uint32_t> TriedValues::Numbers(size_t row) const {
  const size_t t = points_.template_of[row];
  const AutoPoints::Template& info = points_.templates[t];
  std::vector<uint32_t> numbers;
  for (size_t c = info.estimates; c < info.columns; ++c) {
    const auto at = tried_[t].values.find({c, points_.row(row)[c]});
    numbers.push_back(at != tried_[t].values.end() ? at->second : UINT32_MAX);
  }
  return numbers;
}

void TriedValues::Add(size_t row) {
  const size_t t = points_.template_of[row];
  const AutoPoints::Template& info = points_.templates[t];
  Tried& tried = tried_[t];
  for (size_t c = info.estimates; c < info.columns; ++c) {
    tried.values.emplace(Value(c, points_.row(row)[c]), static_cast<uint32_t>(tried.values.size()));
  }
  const std::vector<uint32_t> numbers = Numbers(row);
  for (size_t b = 0; b < numbers.size(); ++b) {
    for (size_t a = 0; a < b; ++a) tried.pairs.insert(Pair(numbers[a], numbers[b]));
  }
}

bool TriedValues::HasNew(size_t row) const {
  const std::vector<uint32_t> numbers = Numbers(row);
  return std::find(numbers.begin(), numbers.end(), UINT32_MAX) != numbers.end();
}

double TriedValues::NewPairs(size_t row) const {
  const Tried& tried = tried_[points_.template_of[row]];
  const std::vector<uint32_t> numbers = Numbers(row);
  double fresh = 0, all = 0;
  for (size_t b = 0; b < numbers.size(); ++b) {
    for (size_t a = 0; a < b; ++a, ++all) fresh += tried.pairs.count(Pair(numbers[a], numbers[b])) ? 0 : 1;
  }
  return all > 0 ? fresh / all : 0;
}

}  // namespace hone::search
