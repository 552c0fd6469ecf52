#include "op/estimate/estimate.h"

#include <algorithm>
#include <cmath>

#include "op/estimate/parts.h"

namespace hone::op {
namespace {

// Of an FMA, 4, less what the next tile's overlaps.
constexpr double kLatency = 3;

struct Entry {
  const char* name;
  std::vector<double> (*estimate)(const Workload&, const Target&, const Config&);
  std::vector<std::string> features;
};

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = {
      {"conv2d_direct", EstimateDirect, {"tile", "weights", "input", "cold", "pad", "loops", "imbalance"}},
      {"conv3d_direct", EstimateDirect, {"tile", "weights", "input", "cold", "pad", "loops", "imbalance"}},
      {"conv2d_winograd", EstimateWinograd, {"tile", "weights", "input", "output", "scratch", "loops", "imbalance"}},
      {"chain_winograd_pool",
       EstimateWinograd,
       {"tile", "weights", "input", "output", "scratch", "loops", "imbalance"}},
      {"chain_conv2d_pool", EstimateChain, {"tile", "weights", "scratch", "again", "loops", "imbalance"}},
      {"chain_conv2d_depthwise", EstimateChain, {"tile", "weights", "scratch", "again", "loops", "imbalance"}},
      {"chain_depthwise_conv2d", EstimateChain, {"tile", "weights", "scratch", "again", "loops", "imbalance"}},
      {"chain_conv2d_depthwise_conv2d", EstimateChain, {"tile", "weights", "scratch", "again", "loops", "imbalance"}},
      {"conv2d_depthwise", EstimateDepthwise, {"tile", "pad", "loops", "imbalance"}},
      {"dense_packed", EstimateDense, {"tile", "weights", "loops", "imbalance"}},
  };
  return entries;
}

const Entry* Find(const std::string& name) {
  for (const Entry& entry : Entries()) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

const KnobValue* FindKnob(const Config& config, const std::string& knob) {
  for (const KnobValue& v : config.values) {
    if (v.name == knob && v.kind == KnobKind::kOther) return &v;
  }
  return nullptr;
}

}  // namespace

std::vector<double> EstimateCost(const Workload& workload, const Target& target, const Config& config) {
  const Entry* entry = Find(config.template_name);
  if (entry == nullptr || target.kind != TargetKind::kCpu) return {};
  return entry->estimate(workload, target, config);
}

std::vector<std::string> EstimateNames(const std::string& template_name) {
  const Entry* entry = Find(template_name);
  if (entry == nullptr) return {};
  std::vector<std::string> names = {"cycles"};
  names.insert(names.end(), entry->features.begin(), entry->features.end());
  return names;
}

double CacheModel::Read(double bytes, double resident) const {
  if (resident <= l1_bytes) return 0;
  // Between two sizes of caches a part of the data stays: no jump that measured times do not have.
  const double near = std::clamp((2 * l2_bytes - resident) / l2_bytes, 0.0, 1.0);
  const double first = std::clamp((2 * l1_bytes - resident) / l1_bytes, 0.0, 1.0);
  return (1 - first) * bytes * (near / l2_rate + (1 - near) / l3_rate);
}

int64_t NumberOr(const Config& config, const std::string& knob, int64_t neutral) {
  const KnobValue* v = FindKnob(config, knob);
  return v != nullptr && v->numbers.size() == 1 ? v->numbers[0] : neutral;
}

bool Prefetches(const Config& config) {
  return NumberOr(config, "prefetch", 0) != 0 || WordOr(config, "prefetch", "none") != "none";
}

std::string WordOr(const Config& config, const std::string& knob, const std::string& neutral) {
  const KnobValue* v = FindKnob(config, knob);
  return v != nullptr && v->words.size() == 1 ? v->words[0] : neutral;
}

std::vector<std::pair<int64_t, int64_t>> Pieces(int64_t extent, int64_t piece) {
  piece = std::clamp<int64_t>(piece, 1, extent);
  std::vector<std::pair<int64_t, int64_t>> pieces = {{piece, extent / piece}};
  if (extent % piece != 0) pieces.push_back({extent % piece, 1});
  return pieces;
}

double StepCycles(double rows, double columns, double loaded, int registers) {
  const double spilled = std::max(0.0, rows * columns + rows + 1 - registers);
  return std::max({rows * columns / 2, (rows + loaded) / 2, kLatency}) + spilled;
}

double LogShare(double part, double whole) { return std::log1p(part / whole); }

}  // namespace hone::op
