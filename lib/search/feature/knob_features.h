// Knob features: a point as numbers, from its knobs alone. Precomputed tables per knob make a row a series of copies.
//
// The columns of one template are those of AutoTVM's `knob` features: for each knob in order, a split gives its parts
// (the outermost is always -1), a reorder its permutation, an annotation a one-hot of 11 words per axis (none, vec,
// unroll, blockIdx.x .y .z, threadIdx.x .y .z, vthread, fuse), another knob its number; a word is its position among
// the knob's words. If a task has several templates, a row begins with the template's position, each template has its
// own columns, and the columns of other templates are missing (not a number).
#pragma once

#include <cstddef>
#include <vector>

#include "search/space/space.h"

namespace hone::search {

class KnobFeatures {
 public:
  explicit KnobFeatures(const TaskSpace& space);

  size_t columns() const { return columns_; }
  // Writes `columns()` floats. REQUIRES: index < the space's size.
  void Write(PointIndex index, float* row) const;
  // The row of a config that need not be a point of this space, such as one for another shape. Ignores knobs and
  // templates that this space lacks; columns without a knob stay missing.
  std::vector<float> RowOf(const Config& config) const;

 private:
  struct KnobTable {
    size_t column = 0, width = 0;
    std::vector<float> values;  // `width` values for each digit
  };
  const TaskSpace& space_;
  std::vector<std::vector<KnobTable>> templates_;
  size_t columns_ = 0;
};

}  // namespace hone::search
