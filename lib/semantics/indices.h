// The elements that operators read for an element of their output: axes of reductions and matrix products, resized
// axes, and the index arithmetic of operators that move elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

// For reduce_*: one flag per axis of the input; all true without `axes`.
std::vector<bool> ReducedAxes(const Workload& workload);

// numpy's matmul: a[.., m, k] * b[.., k, n]; a vector is a row on the left and a column on the right.
struct Matmul {
  int64_t m = 1, k = 1, n = 1;
  Shape a_batch, b_batch, batch;  // with equal ranks; an extent of 1 is repeated
  Shape shape;                    // of the output
};
Result<Matmul> MatmulOf(const Workload& workload);

// The source elements along a resized axis.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;  // out / in, or the workload's own value
  std::string coordinate, round;
  double cubic = -0.75;
  bool exclude_outside = false;

  bool Changes() const { return in != out || scale != 1; }
  // The input position of output element i is a * i + b.
  double a() const;
  double b() const;
  int64_t Nearest(int64_t i) const;  // 0 .. in-1
};

// The valid words for `coordinate` and `round`.
const std::vector<std::string>& ResizeCoordinates();
const std::vector<std::string>& ResizeRounds();

// The element to which `round` rounds a position; like the position, it may lie outside of the axis.
int64_t RoundedPlace(const std::string& round, double place);

// The cubic filter with coefficient `a` at a distance of at least 0 from its middle.
double CubicWeight(double distance, double a);

// One for each axis of the workload's input.
std::vector<ResizeAxis> ResizeAxes(const Workload& workload);

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
