// The points that `auto` chooses from, as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/context.h"

namespace hone::search {

// One row a point. Columns, in this order: the operator's estimate and its features (none without an estimate), then
// the knobs: numbers as log2(1 + |v|), scaled to 0 .. 1 over the values that occur; words, orders and annotations as a
// column for each value but the first of two; the inner parts of a split each like a number. Column `slope` has the
// estimate again, times kSlope: no distance, but what a model that is linear in the columns may multiply it by. Columns
// of one template are comparable among its points only. From `mains` on each knob has columns whose dot product with
// another row's is how alike the two values are by themselves: 1 for the same value; of other words 0, of other numbers
// by the Matern 5/2 function of their distance, less kSame (no distance either).
struct AutoPoints {
  struct Template {
    std::string name;
    size_t begin = 0, end = 0;  // rows
    size_t estimates = 0;       // columns of the estimate
    size_t columns = 0;         // in all; the rest of a row is 0
    std::vector<float> means;   // mean that was subtracted from each column
  };
  std::vector<PointIndex> index;  // of the first `sorted` rows ascending; others were added since
  std::vector<float> log_cost;  // of the estimate; 0 without one
  std::vector<float> values;    // rows x columns
  std::vector<uint8_t> template_of;
  std::vector<Template> templates;
  static constexpr float kSlope = 6;
  static constexpr double kSame = 0.4;
  size_t columns = 0, slope = 0, mains = 0;
  bool complete = false;  // all legal points of the space
  size_t sorted = 0;
  std::unordered_map<PointIndex, size_t, PointHash> added;  // rows of the others

  size_t rows() const { return index.size(); }
  const float* row(size_t r) const { return values.data() + r * columns; }
  // The row of an index; rows() if it is not there.
  size_t Find(PointIndex index) const;
  // Forgets the rows from `rows` on. REQUIRES: rows >= sorted
  void Truncate(size_t rows);
};

// All legal points if the space has at most `most_points` points, legal or not, and at most `most_rows` legal ones;
// else `most_rows` drawn with `seed`, of each template in turn, and the context's defaults.
AutoPoints MakeAutoPoints(const TaskSpace& space, const TunerContext& context, uint64_t seed, uint64_t most_points,
                          size_t most_rows);

// Adds rows for those of `indices` that are points of the space, legal or not, without one; what columns mean stays. Of
// a template that has no row there will be none. Pointers to rows are no longer good.
void AddPoints(const TaskSpace& space, const TunerContext& context, const std::vector<PointIndex>& indices,
               AutoPoints* points);

// The row that a point of another shape's space of template `t` would be, of points.columns numbers: knobs are found by
// name, values scaled as those of `space`; what this space does not have counts as average. `estimate`: of that point.
std::vector<float> ForeignRow(const AutoPoints& points, const Space& space, size_t t, const Config& config,
                              const std::vector<double>& estimate);

}  // namespace hone::search
