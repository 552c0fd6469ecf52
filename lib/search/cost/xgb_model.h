// The cost model: XGBoost's boosted trees learn from rows of features which points are good, and score others. It does
// not know spaces or tuners. A pure function of options and data; it uses one thread, so that it is the same on every
// machine. Builds without XGBoost have these functions as well (xgb_missing.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/result.h"

namespace hone::search {

// Rows of features with equal lengths. A non-finite value means missing, which a model must accept.
struct Matrix {
  size_t columns = 0;
  std::vector<float> values;  // row after row
  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  // Cuts the row, or pads it with missing values, to `columns`.
  void Append(const std::vector<float>& row) {
    const size_t given = std::min(row.size(), columns);
    values.insert(values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(given));
    values.resize(values.size() + columns - given, std::numeric_limits<float>::quiet_NaN());
  }
};

// Training data. Vectors with one entry per row; empty ones are ignored.
struct FitData {
  Matrix rows;
  std::vector<float> labels;    // larger is better; finite
  std::vector<float> margins;   // start values, to which the model learns what to add; finite
  std::vector<uint32_t> group;  // for ranking losses: only rows of the same group are compared; for kPackSum: the
                                // rows of a pack. Any numbers, in any order; empty: all rows are one group
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  // Learns anew from all of `data`. Returns kInvalid for no rows, a vector of another length or a label that is not
  // finite.
  virtual Status Fit(const FitData& data) = 0;
  // A score per row, larger is better, without margins. With ranking losses only the order is meaningful. REQUIRES: a
  // successful Fit with the same number of columns.
  virtual Result<std::vector<float>> Predict(const Matrix& rows) const = 0;
};

enum class Loss {
  kReg,         // squared error of the label
  kRank,        // which of two rows is better
  kRankBinary,  // which rows are among the good ones, without ordering those
  kPackSum,     // squared error of the label, to which the scores of a pack's rows add up, weighted by the label, which
                // all rows of a pack have. Ansor's loss
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
  // Above 0: stops as AutoTVM does. After every second round it sorts the rows by prediction and averages recall(n) =
  // (how many of the first n are truly among the best n) / (n + 1) over n < recall_of. It stops after `patience` rounds
  // without a new best, and drops the trees after the best round.
  int recall_of = 0;
  int patience = 20;  // kPackSum: stops after this many rounds without a smaller error of the training data
  // For kRankBinary: a row is good if its label is at least this share of the largest one; with 0, if it is in the best
  // quarter of its group.
  double good_share = 0;
  bool binary_in_recall_only = false;  // AutoTVM's kRankBinary: trains on the labels, but stops by good or not
};

// OK, or kUnsupported with what to install.
Status CheckXgb();
// Returns the error of CheckXgb or a model.
Result<std::unique_ptr<CostModel>> MakeXgbModel(const XgbOptions& options);

}  // namespace hone::search
