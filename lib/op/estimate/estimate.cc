#include "op/estimate/estimate.h"

#include <algorithm>
#include <cmath>

#include "op/estimate/parts.h"

namespace hone::op {

// FMA latency (4 cycles) minus the part hidden by the next tile.
constexpr double kLatency = 3;

static const KnobValue* FindKnob(const Config& config, const std::string& knob) {
  for (const KnobValue& v : config.values) {
    if (v.name == knob && v.kind == KnobKind::kOther) return &v;
  }
  return nullptr;
}

const Estimate* FindEstimate(const Target& target, const std::string& template_name) {
  for (const Template* t : AllTemplates(target.family())) {
    if (template_name == t->name()) return t->estimate();
  }
  return nullptr;
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
