// Where elements go.
#pragma once

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

// The output's element `index` along an axis of `pad` (its input has `extent`): the input's index, or -1 for the value.
int64_t PaddedFrom(const std::string& mode, int64_t index, int64_t low, int64_t extent);

// The entries [begin, end) of a list of indices: first, first + step, ..
struct IndexRun {
  int64_t begin = 0, first = 0, step = 0, end = 0;
};
// A list of indices as runs, each as long as it can be. What begins where a run does is cut as the whole list is.
std::vector<IndexRun> IndexRuns(const Shape& indices);
// A gather's kernel has its indices in its code: it takes no list of more runs.
inline constexpr size_t kMostIndexRuns = 512;

}  // namespace hone::semantics
