// Which values of the knobs have been tried, and which pairs of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "search/tuner/auto_points.h"

namespace hone::search {

// Counts each template by itself. `points` must outlive it.
class TriedValues {
 public:
  explicit TriedValues(const AutoPoints& points);

  void Add(size_t row);
  // Returns true if the row has a knob value that no added row had.
  bool HasNew(size_t row) const;
  // Returns the share of the row's pairs of values that no added row had.
  double NewPairs(size_t row) const;

 private:
  struct Tried {
    uint32_t count = 0;                        // of values
    std::vector<std::vector<float>> values;    // of each column of a knob what stood in it,
    std::vector<std::vector<uint32_t>> names;  // and its number
    std::unordered_set<uint64_t> pairs;        // of numbers
  };

  // The number of what stands in a column of a row; kNew: not tried.
  static constexpr uint32_t kNew = UINT32_MAX;
  uint32_t Number(const Tried& tried, size_t row, size_t column) const;
  std::vector<uint32_t> Numbers(size_t row) const;

  const AutoPoints& points_;
  std::vector<Tried> tried_;  // of each template
};

}  // namespace hone::search
