// The cost model made of XGBoost's boosted trees. Builds without XGBoost also have these functions.
#pragma once

#include <memory>

#include "search/cost/cost_model.h"

namespace hone::search {

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
