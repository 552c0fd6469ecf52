// Cost model: learns from rows of features which points are good, and scores others. Knows nothing of spaces or tuners.
// A pure function of options and data; it uses one thread, so that it is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::search {

// Rows of features, all of one length. A value that is not finite is a missing one, which a model must bear.
struct Matrix {
  size_t columns = 0;
  std::vector<float> values;  // row after row
  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  void Append(const std::vector<float>& row);  // cut, or filled up with missing values, to `columns`
};

// Training data. Vectors of one entry a row; empty ones are ignored.
struct FitData {
  Matrix rows;
  std::vector<float> labels;    // larger is better; finite
  std::vector<float> margins;   // where learning starts from: the model learns what to add to them; finite
  std::vector<uint32_t> group;  // of losses that rank: rows of one group are compared with one another, others never.
                                // Any numbers, in any order. Left out: all rows are one group
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  // Learns anew from all of `data`. kInvalid: no rows, a vector of another length, a label that is not finite.
  virtual Status Fit(const FitData& data) = 0;
  // A score a row, larger is better, without margins. Only the order means anything with losses that rank.
  // REQUIRES: a Fit that succeeded, and its number of columns.
  virtual Result<std::vector<float>> Predict(const Matrix& rows) const = 0;
};

enum class Loss {
  kReg,         // squared error of the label
  kRank,        // which of two rows is better
  kRankBinary,  // which rows are among the good ones, without an order among those
};

}  // namespace hone::search
