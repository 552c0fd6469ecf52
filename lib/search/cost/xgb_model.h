// The cost model: XGBoost's boosted trees learn from rows of features which points are good, and score others. It knows
// nothing of spaces or tuners. A pure function of options and data; it uses one thread, so that it is the same on every
// machine. Builds without XGBoost also have these functions (xgb_missing.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/result.h"

namespace hone::search {

// Rows of features, all of one length. A value that is not finite is a missing one, which a model must bear.
struct Matrix {
  size_t columns = 0;
  std::vector<float> values;  // row after row
  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  // Cut, or filled up with missing values, to `columns`.
  void Append(const std::vector<float>& row) {
    const size_t given = std::min(row.size(), columns);
    values.insert(values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(given));
    values.resize(values.size() + columns - given, std::numeric_limits<float>::quiet_NaN());
  }
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

struct XgbOptions {
  Loss loss = Loss::kReg;
  int rounds = 300;
  int depth = 3;
  double learning_rate = 0.1;
  double min_split_gain = 0;
  double min_child_weight = 1;
  double subsample = 1;
  double column_sample = 1;
  bool exact = false;  // splits between all values instead of 64 bins
  uint64_t seed = 1;
  // Above 0: as AutoTVM decides when to stop. After every second round the rows are sorted by their prediction, and
  // recall(n) = (how many of the first n are truly among the best n) / (n + 1), averaged over n < recall_of; without a
  // new best for `patience` rounds it stops, and trees after the best round are dropped.
  int recall_of = 0;
  int patience = 20;
  // For kRankBinary: a row is good if its label is at least this share of the largest. 0: if it is in the best quarter
  // of its group.
  double good_share = 0;
  bool binary_in_recall_only = false;  // AutoTVM's kRankBinary: training sees the labels, the stop good or not
};

// OK, or kUnsupported with what to install.
Status CheckXgb();
// As CheckXgb says, else a model.
Result<std::unique_ptr<CostModel>> MakeXgbModel(const XgbOptions& options);

}  // namespace hone::search
