#include "search/tuner/feature_rows.h"

#include <algorithm>
#include <atomic>

#include "base/threads.h"
#include "ir/stmt.h"
#include "search/feature/knob_features.h"
#include "search/feature/loop_features.h"
#include "search/feature/store_features.h"

namespace hone::search {
namespace {

class KnobRows : public FeatureRows {
 public:
  explicit KnobRows(const TaskSpace& space) : features_(space) {}

  std::vector<std::vector<float>> Rows(const std::vector<PointIndex>& indices) override {
    std::vector<std::vector<float>> rows;
    for (const PointIndex index : indices) features_.Write(index, rows.emplace_back(features_.columns()).data());
    return rows;
  }
  std::vector<float> RowOfDonor(const Donor&, const Config& config) override { return features_.RowOf(config); }

 private:
  const KnobFeatures features_;
};

class LoopRows : public FeatureRows {
 public:
  // Cleared when full: a row has some hundred floats.
  static constexpr size_t kMostCached = 50000;

  LoopRows(FeatureKind kind, const TaskSpace& space, const TunerContext& context)
      : kind_(kind), space_(space), context_(context) {}

  std::vector<std::vector<float>> Rows(const std::vector<PointIndex>& indices) override {
    if (cache_.size() > kMostCached) cache_.clear();
    std::vector<PointIndex> missing;
    for (const PointIndex index : indices) {
      if (cache_.emplace(index, std::vector<float>()).second) missing.push_back(index);
    }
    std::vector<std::vector<float>> made(missing.size());
    std::atomic<size_t> next{0};
    RunInThreads(std::min<int64_t>(context_.threads, static_cast<int64_t>(missing.size())), [&] {
      for (size_t i; (i = next.fetch_add(1)) < missing.size();) {
        made[i] = Make(context_.workload, space_.At(missing[i]));
      }
    });
    for (size_t i = 0; i < missing.size(); ++i) cache_[missing[i]] = std::move(made[i]);
    std::vector<std::vector<float>> rows;
    rows.reserve(indices.size());
    for (const PointIndex index : indices) rows.push_back(cache_.at(index));
    return rows;
  }

  std::vector<float> RowOfDonor(const Donor& donor, const Config& config) override {
    return Make(donor.workload, config);
  }

 private:
  std::vector<float> Make(const Workload& workload, const Config& config) const {
    const Result<ir::Function> loops = context_.loops(workload, config);
    if (!loops.ok()) return {};
    if (kind_ == FeatureKind::kStores) return StoreFeatures(*loops);
    std::vector<float> row;
    // Templates have different loops, so their rows share only this column.
    if (space_.spaces().size() > 1) {
      float position = -1;
      for (size_t s = 0; s < space_.spaces().size(); ++s) {
        if (space_.spaces()[s].template_name() == config.template_name) position = static_cast<float>(s);
      }
      row.push_back(position);
    }
    const std::vector<float> features =
        kind_ == FeatureKind::kItervar ? ItervarFeatures(*loops) : CurveFeatures(*loops);
    row.insert(row.end(), features.begin(), features.end());
    AppendOtherKnobs(config, &row);
    return row;
  }

  const FeatureKind kind_;
  const TaskSpace& space_;
  const TunerContext& context_;
  std::unordered_map<PointIndex, std::vector<float>, PointHash> cache_;
};

}  // namespace

std::unique_ptr<FeatureRows> MakeFeatureRows(FeatureKind kind, const TaskSpace& space, const TunerContext& context) {
  if (kind == FeatureKind::kKnob) return std::make_unique<KnobRows>(space);
  return std::make_unique<LoopRows>(kind, space, context);
}

}  // namespace hone::search
