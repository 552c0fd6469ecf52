// The computations of the rule `rows` (rows.h): reductions that share their kept axes, and element-wise stages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "te/tensor.h"

namespace hone::sketch {

constexpr int64_t kMostWidth = 64;  // lanes of a vectorized loop

// One stage. A full stage has more axes than the kept ones: it has a value for each element of a row.
struct RowStage {
  std::string name;
  bool reduction = false, full = false;
  std::vector<std::string> kept, others;  // names of its axes; the others are reduced, or the elements of a row
  double cycles = 0, again = 0;           // for a vector: if full stages are stored, and if they are computed again
};

// A row is all that has the same indices of the kept axes.
struct RowStages {
  int64_t lanes = 1, threads = 1;
  std::vector<RowStage> stages;  // readers first, so the output is the first one
  std::vector<int64_t> kept;     // extents
  std::vector<int64_t> reduced;  // extents of a reduction's axes
  // Vectors run along the last index of what is read. It is a kept axis, or else the last reduced one.
  bool across = false;
  double bytes = 0;  // of all inputs

  int64_t Rows() const;    // without the vectors' axis
  int64_t Length() const;  // the product of `reduced`
  bool Inner() const;      // whether a stage beside the output is full
  // Elements that each thread reduces if all threads share a row: a multiple of any width.
  int64_t Part() const;
};

// Nothing if
// - `output` depends on no reduction, or on stages that are not float;
// - reductions have different kept axes, or another stage lacks a kept axis of more than one index;
// - a stage reads another one at an index that is not one of its own axes;
// - the vectors' axis is used in another index than the last one, or a reduction reads an input without it.
std::optional<RowStages> RowStagesOf(const te::Tensor& output);

}  // namespace hone::sketch
