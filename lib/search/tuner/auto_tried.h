// Records which values of the knobs have been tried, and which pairs of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/tuner/auto_points.h"

namespace hone::search {

// Counts each template separately. `points` must outlive it.
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
    uint32_t count = 0;                        // number of values
    std::vector<std::vector<float>> values;    // distinct values of each knob's column,
    std::vector<std::vector<uint32_t>> names;  // and their numbers
    std::vector<std::vector<bool>> pairs;      // [b][a]: whether a and b were tried together, a in the earlier column
  };

  // The number of the value in a column of a row; kNew if it was not tried.
  static constexpr uint32_t kNew = UINT32_MAX;
  uint32_t Number(const Tried& tried, size_t row, size_t column) const;
  std::vector<uint32_t> Numbers(size_t row) const;

  const AutoPoints& points_;
  std::vector<Tried> tried_;  // per template
};

}  // namespace hone::search
