// Which values of the knobs have been tried.
#pragma once

#include <cstddef>
#include <set>
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

 private:
  using Value = std::pair<size_t, float>;  // column of a knob, what stands in it

  const AutoPoints& points_;
  std::vector<std::set<Value>> tried_;
};

}  // namespace hone::search
