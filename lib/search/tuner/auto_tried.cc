#include "search/tuner/auto_tried.h"

namespace hone::search {
TriedValues::TriedValues(const AutoPoints& points) : points_(points), tried_(points.templates.size()) {
  for (size_t t = 0; t < tried_.size(); ++t) {
    tried_[t].values.resize(points.templates[t].columns);
    tried_[t].names.resize(points.templates[t].columns);
  }
}

uint32_t TriedValues::Number(const Tried& tried, size_t row, size_t column) const {
  const float value = points_.row(row)[column];
  const std::vector<float>& values = tried.values[column];  // few values: a linear scan is fastest
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == value) return tried.names[column][i];
  }
  return kNew;
}

std::vector<uint32_t> TriedValues::Numbers(size_t row) const {
  const size_t t = points_.template_of[row];
  std::vector<uint32_t> numbers;
  for (size_t c = points_.templates[t].estimates; c < points_.templates[t].columns; ++c) {
    numbers.push_back(Number(tried_[t], row, c));
  }
  return numbers;
}

void TriedValues::Add(size_t row) {
  const size_t t = points_.template_of[row];
  Tried& tried = tried_[t];
  for (size_t c = points_.templates[t].estimates; c < points_.templates[t].columns; ++c) {
    if (Number(tried, row, c) != kNew) continue;
    tried.values[c].push_back(points_.row(row)[c]);
    tried.names[c].push_back(tried.count++);
  }
  const std::vector<uint32_t> numbers = Numbers(row);
  tried.pairs.resize(tried.count);
  for (std::vector<bool>& pairs : tried.pairs) pairs.resize(tried.count);
  for (size_t b = 0; b < numbers.size(); ++b) {
    for (size_t a = 0; a < b; ++a) tried.pairs[numbers[b]][numbers[a]] = true;
  }
}

bool TriedValues::HasNew(size_t row) const {
  const size_t t = points_.template_of[row];
  for (size_t c = points_.templates[t].estimates; c < points_.templates[t].columns; ++c) {
    if (Number(tried_[t], row, c) == kNew) return true;
  }
  return false;
}

double TriedValues::NewPairs(size_t row) const {
  const Tried& tried = tried_[points_.template_of[row]];
  const std::vector<uint32_t> numbers = Numbers(row);
  double fresh = 0, all = 0;
  for (size_t b = 0; b < numbers.size(); ++b) {
    all += static_cast<double>(b);
    const std::vector<bool>* pairs = numbers[b] == kNew ? nullptr : &tried.pairs[numbers[b]];
    for (size_t a = 0; a < b; ++a) {
      if (pairs == nullptr || numbers[a] == kNew || !(*pairs)[numbers[a]]) ++fresh;
    }
  }
  return all > 0 ? fresh / all : 0;
}

}  // namespace hone::search
