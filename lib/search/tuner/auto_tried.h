// Which values of the knobs have been tried, and which pairs of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "search/tuner/auto_points.h"

namespace hone::search {

// Of each template by itself. `points` must outlive it.
class TriedValues {
 public:
  explicit TriedValues(const AutoPoints& points) : points_(points), tried_(points.templates.size()) {}

  void Add(size_t row);
  // Whether the row has a value of a knob that no row added had.
  bool HasNew(size_t row) const;
  // Of the pairs of the row's values the share that no row added had.
  double NewPairs(size_t row) const;

 private:
  using Value = std::pair<size_t, float>;  // column of a knob, what stands in it
  struct Tried {
    std::map<Value, uint32_t> values;  // numbered
    std::unordered_set<uint64_t> pairs;
  };

  // The numbers of a row's values; UINT32_MAX: not tried.
  std::vector<uint32_t> Numbers(size_t row) const;

  const AutoPoints& points_;
  std::vector<Tried> tried_;  // of each template
};

}  // namespace hone::search
