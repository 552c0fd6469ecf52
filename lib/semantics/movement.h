// Index arithmetic of operators that move elements.
#pragma once

#include "semantics/attributes.h"

namespace hone::semantics {

// For the output's element `index` along an axis of `pad` whose input has `extent`: the input's index, or -1 for the
// padding value.
int64_t PaddedFrom(const std::string& mode, int64_t index, int64_t low, int64_t extent);

// The entries [begin, end) of a list of indices, which are first, first + step, ..
struct IndexRun {
  int64_t begin = 0, first = 0, step = 0, end = 0;
};
// Splits a list of indices into runs, each as long as possible. From the start of a run on, the rest is split in the
// same way as in the whole list.
std::vector<IndexRun> IndexRuns(const Shape& indices);
// A gather's kernel contains its indices as code, so it accepts at most this many runs.
inline constexpr size_t kMostIndexRuns = 512;

}  // namespace hone::semantics
