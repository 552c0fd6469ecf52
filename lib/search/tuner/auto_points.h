// The candidate points of `auto` as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/context.h"

namespace hone::search {

// One row per point. Columns, in this order: the operator's estimate and its features (if it has an estimate), then the
// knobs: numbers as log2(1 + |v|), scaled to 0 .. 1 over the values that occur; words, orders and annotations as a
// column per value (for two values, one column); the inner parts of a split each as a number. Column `slope` has the
// estimate again, times kSlope: it is not part of the distance, but the model's linear term may use it. Columns of one
// template are comparable only among its points. From `mains` on, each knob has columns whose dot product with another
// row's gives the similarity of the two values alone: 1 for the same value; for other words 0, for other numbers the
// Matern 5/2 function of their distance, minus kSame (not part of the distance either).
struct AutoPoints {
  struct Template {
    std::string name;
    size_t begin = 0, end = 0;  // rows
    size_t estimates = 0;       // number of columns for the estimate
    size_t columns = 0;         // total; the rest of a row is 0
    std::vector<float> means;   // mean that was subtracted from each column
  };
  std::vector<PointIndex> index;  // the first `sorted` rows are ascending; later ones were added
  std::vector<float> log_cost;    // of the estimate; 0 without an estimate
  std::vector<float> values;    // rows x columns
  std::vector<uint8_t> template_of;
  std::vector<Template> templates;
  static constexpr float kSlope = 6;
  static constexpr double kSame = 0.4;
  size_t columns = 0, slope = 0, mains = 0;
  bool complete = false;  // has all legal points of the space
  size_t sorted = 0;
  std::unordered_map<PointIndex, size_t, PointHash> added;  // rows of points that were added

  size_t rows() const { return index.size(); }
  const float* row(size_t r) const { return values.data() + r * columns; }
  // The row of an index; rows() if the index has no row.
  size_t Find(PointIndex index) const;
  // Removes the rows from `rows` on. REQUIRES: rows >= sorted
  void Truncate(size_t rows);
};

// All legal points if the space has at most `most_points` points in total and at most `most_rows` legal ones; else
// `most_rows` points drawn with `seed`, from each template in turn, and the context's defaults.
AutoPoints MakeAutoPoints(const TaskSpace& space, const TunerContext& context, uint64_t seed, uint64_t most_points,
                          size_t most_rows);

// Adds rows for those of `indices` that are points of the space, legal or not, and have no row yet; columns keep their
// meaning. Skips templates without rows. Invalidates pointers to rows.
void AddPoints(const TaskSpace& space, const TunerContext& context, const std::vector<PointIndex>& indices,
               AutoPoints* points);

}  // namespace hone::search
