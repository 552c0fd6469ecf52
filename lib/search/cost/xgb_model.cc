#include "search/cost/xgb_model.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/check.h"

namespace hone::search {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr double kGoodQuarter = 0.25;

Status Checked(int code) {
  if (code == 0) return Status();
  std::string message = XGBGetLastError();
  message = message.substr(0, message.find('\n'));  // the rest is a stack trace
  return Status::Unsupported("XGBoost: " + message);
}

#define HONE_XGB(call) HONE_RETURN_IF_ERROR(Checked(call))

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using MatrixHandle = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Result<MatrixHandle> MakeMatrix(const Matrix& rows, const std::vector<size_t>& order) {
  std::vector<float> values;
  values.reserve(order.size() * rows.columns);
  for (const size_t r : order) {
    for (size_t c = 0; c < rows.columns; ++c) {
      const float v = rows.values[r * rows.columns + c];
      values.push_back(std::isfinite(v) ? v : kMissing);
    }
  }
  DMatrixHandle handle = nullptr;
  HONE_XGB(XGDMatrixCreateFromMat_omp(values.data(), order.size(), rows.columns, kMissing, &handle, 1));
  return MatrixHandle(handle);
}

std::vector<float> Reordered(const std::vector<float>& values, const std::vector<size_t>& order) {
  std::vector<float> out;
  out.reserve(order.size());
  for (const size_t r : order) out.push_back(values[r]);
  return out;
}

// Whether each row is good compared to its group.
std::vector<float> Binary(const std::vector<float>& labels, const std::vector<unsigned>& group_sizes, double share) {
  std::vector<float> binary(labels.size(), 0);
  size_t begin = 0;
  for (const unsigned size : group_sizes) {
    std::vector<float> sorted(labels.begin() + begin, labels.begin() + begin + size);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const size_t quarter = static_cast<size_t>(kGoodQuarter * static_cast<double>(size));
    const double at_least = share > 0 ? share * sorted[0] : sorted[quarter];
    for (size_t r = begin; r < begin + size; ++r) binary[r] = labels[r] >= at_least ? 1 : 0;
    begin += size;
  }
  return binary;
}

// XgbOptions::recall_of. Equal labels share the rank of the first of them in row order.
double AverageRecall(const std::vector<float>& scores, const std::vector<float>& labels, int n_max) {
  const auto sorted_by = [](const std::vector<float>& key) {
    std::vector<size_t> order(key.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key[a] > key[b]; });
    return order;
  };
  const std::vector<size_t> predicted = sorted_by(scores);
  const std::vector<size_t> true_order = sorted_by(labels);
  std::vector<size_t> true_rank(labels.size());
  for (size_t i = 0; i < true_order.size(); ++i) true_rank[true_order[i]] = i;
  const size_t n_end = std::min(labels.size(), static_cast<size_t>(n_max));
  double sum = 0;
  for (size_t n = 0; n < n_end; ++n) {
    size_t hits = 0;
    for (size_t i = 0; i < n; ++i) hits += true_rank[predicted[i]] <= n;
    sum += static_cast<double>(hits) / static_cast<double>(n + 1);
  }
  return n_end == 0 ? 0 : sum / static_cast<double>(n_end);
}

class XgbModel : public CostModel {
 public:
  explicit XgbModel(const XgbOptions& options) : options_(options) {}

  Status Fit(const FitData& data) override {
    HONE_RETURN_IF_ERROR(Check(data));
    booster_.reset();
    kept_ = 0;
    const size_t n = data.rows.rows();
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<unsigned> group_sizes;
    // XGBoost needs the rows of a group together; all data of a row moves with it.
    if (data.group.empty()) {
      group_sizes.push_back(static_cast<unsigned>(n));
    } else {
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return data.group[a] < data.group[b]; });
      std::map<uint32_t, unsigned> sizes;
      for (const uint32_t g : data.group) ++sizes[g];
      for (const auto& [g, size] : sizes) group_sizes.push_back(size);
    }
    HONE_ASSIGN_OR_RETURN(const MatrixHandle matrix, MakeMatrix(data.rows, order));
    const std::vector<float> labels = Reordered(data.labels, order);
    const bool binary = options_.loss == Loss::kRankBinary;
    const std::vector<float> good = binary ? Binary(labels, group_sizes, options_.good_share) : labels;
    const std::vector<float>& trained = binary && !options_.binary_in_recall_only ? good : labels;
    HONE_XGB(XGDMatrixSetFloatInfo(matrix.get(), "label", trained.data(), n));
    if (!data.margins.empty()) {
      const std::vector<float> margins = Reordered(data.margins, order);
      HONE_XGB(XGDMatrixSetFloatInfo(matrix.get(), "base_margin", margins.data(), n));
    }
    const bool ranks = options_.loss == Loss::kRank || binary;
    if (ranks) {
      HONE_XGB(XGDMatrixSetUIntInfo(matrix.get(), "group", group_sizes.data(), group_sizes.size()));
    }
    DMatrixHandle cache[] = {matrix.get()};
    BoosterHandle handle = nullptr;
    HONE_XGB(XGBoosterCreate(cache, 1, &handle));
    Booster booster(handle);
    HONE_RETURN_IF_ERROR(SetParameters(handle, trained, !data.margins.empty()));
    if (options_.loss == Loss::kPackSum) {
      HONE_RETURN_IF_ERROR(TrainPacks(handle, matrix.get(), labels, group_sizes));
    } else {
      HONE_RETURN_IF_ERROR(Train(handle, matrix.get(), good));
    }
    booster_ = std::move(booster);
    columns_ = data.rows.columns;
    return Status();
  }

  Result<std::vector<float>> Predict(const Matrix& rows) const override {
    HONE_CHECK(booster_ && rows.columns == columns_);
    std::vector<size_t> order(rows.rows());
    std::iota(order.begin(), order.end(), size_t{0});
    if (order.empty()) return std::vector<float>();
    HONE_ASSIGN_OR_RETURN(const MatrixHandle matrix, MakeMatrix(rows, order));
    return Scores(booster_.get(), matrix.get(), kept_);
  }

 private:
  static Status Check(const FitData& data) {
    const size_t n = data.rows.rows();
    if (n == 0) return Status::Invalid("cost model: there are no rows to learn from");
    const auto fits = [&](size_t size) { return size == 0 || size == n; };
    if (data.labels.size() != n || !fits(data.margins.size()) || !fits(data.group.size())) {
      return Status::Invalid("cost model: {} rows, but {} labels, {} margins and {} groups", n, data.labels.size(),
                             data.margins.size(), data.group.size());
    }
    for (const std::vector<float>* values : {&data.labels, &data.margins}) {
      for (size_t r = 0; r < values->size(); ++r) {
        if (!std::isfinite((*values)[r])) {
          return Status::Invalid("cost model: the {} of row {} is not finite",
                                 values == &data.labels ? "label" : "margin", r);
        }
      }
    }
    return Status();
  }

  Status SetParameters(BoosterHandle booster, const std::vector<float>& labels, bool margins) {
    // Without margins it starts at the mean, as boosting from a far start wastes rounds; AutoTVM starts at 0.5. With
    // margins it starts at 0: Predict returns what is added to them.
    double base = 0;
    if (!margins && options_.loss == Loss::kReg) {
      base = std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(labels.size());
      if (options_.recall_of > 0) base = 0.5;
    }
    const std::pair<const char*, std::string> parameters[] = {
        {"verbosity", "0"},
        {"nthread", "1"},  // sums in a fixed order: equal trees on every machine
        {"seed", fmt::format("{}", options_.seed & 0x7fffffff)},
        {"objective",
         options_.loss == Loss::kRank || options_.loss == Loss::kRankBinary ? "rank:pairwise" : "reg:squarederror"},
        {"tree_method", options_.exact ? "exact" : "hist"},
        {"max_bin", "64"},
        {"max_depth", fmt::format("{}", options_.depth)},
        {"eta", fmt::format("{}", options_.learning_rate)},
        {"gamma", fmt::format("{}", options_.min_split_gain)},
        {"min_child_weight", fmt::format("{}", options_.min_child_weight)},
        {"subsample", fmt::format("{}", options_.subsample)},
        {"colsample_bytree", fmt::format("{}", options_.column_sample)},
        {"base_score", fmt::format("{}", base)},
        {"disable_default_eval_metric", "1"},
    };
    for (const auto& [name, value] : parameters) {
      // `exact` has no max_bin and would warn on every fit.
      if (options_.exact && std::string(name) == "max_bin") continue;
      HONE_XGB(XGBoosterSetParam(booster, name, value.c_str()));
    }
    return Status();
  }

  Status Train(BoosterHandle booster, DMatrixHandle matrix, const std::vector<float>& good) {
    double best = -1;
    for (int round = 0; round < options_.rounds; ++round) {
      HONE_XGB(XGBoosterUpdateOneIter(booster, round, matrix));
      kept_ = options_.recall_of == 0 ? round + 1 : kept_;
      if (options_.recall_of == 0 || round % 2 != 0) continue;
      HONE_ASSIGN_OR_RETURN(const std::vector<float> scores, Scores(booster, matrix, 0));
      const double recall = AverageRecall(scores, good, options_.recall_of);
      if (recall > best) {
        best = recall;
        kept_ = round + 1;
      } else if (round + 1 - kept_ >= options_.patience) {
        break;
      }
    }
    return Status();
  }

  Status TrainPacks(BoosterHandle booster, DMatrixHandle matrix, const std::vector<float>& labels,
                    const std::vector<unsigned>& pack_sizes) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<float> gradient(labels.size()), hessian = labels;
    for (int round = 0; round < options_.rounds && round - kept_ < options_.patience; ++round) {
      HONE_ASSIGN_OR_RETURN(const std::vector<float> scores, Scores(booster, matrix, 0));
      double error = 0;
      size_t row = 0;
      for (const unsigned size : pack_sizes) {
        const size_t end = row + size;
        const float sum = std::accumulate(scores.begin() + static_cast<std::ptrdiff_t>(row),
                                          scores.begin() + static_cast<std::ptrdiff_t>(end), 0.0F);
        error += labels[row] * std::pow(sum - labels[row], 2);
        for (; row < end; ++row) gradient[row] = labels[row] * (sum - labels[row]);
      }
      if (error < least) {
        least = error;
        kept_ = round;  // trees before this round
      }
      HONE_XGB(XGBoosterBoostOneIter(booster, matrix, gradient.data(), hessian.data(), gradient.size()));
    }
    return Status();
  }

  // Predictions of the first `trees` rounds; 0: all rounds.
  static Result<std::vector<float>> Scores(BoosterHandle booster, DMatrixHandle matrix, int trees) {
    bst_ulong length = 0;
    const float* out = nullptr;
    HONE_XGB(XGBoosterPredict(booster, matrix, /*raw margin*/ 1, static_cast<unsigned>(trees), 0, &length, &out));
    return std::vector<float>(out, out + length);
  }

  const XgbOptions options_;
  Booster booster_;
  int kept_ = 0;
  size_t columns_ = 0;
};

}  // namespace

Status CheckXgb() { return Status(); }

Result<std::unique_ptr<CostModel>> MakeXgbModel(const XgbOptions& options) {
  return std::unique_ptr<CostModel>(std::make_unique<XgbModel>(options));
}

}  // namespace hone::search
