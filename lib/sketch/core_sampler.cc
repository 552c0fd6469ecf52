#include "sketch/core_sampler.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace hone::sketch {
namespace {

// The combinations of one core, each as the point with the first value of all other decisions.
class Combinations {
 public:
  Combinations(const search::Space& all, const Core& core) : space_(all.template_name()) {
    for (const search::Knob& knob : all.knobs()) {
      if (std::ranges::count(core.decisions, knob.name()) != 0) places_.push_back(space_.knobs().size());
      space_.Add(knob);
    }
    for (const search::Rule& rule : core.rules) space_.AddRule(rule);
  }

  const std::vector<size_t>& places() const { return places_; }  // of its decisions

  void List() {
    std::vector<size_t> digits(space_.knobs().size(), 0);
    while (true) {
      const PointIndex index = space_.IndexOf(digits);
      if (space_.Legal(index)) listed_.push_back(index);
      size_t i = 0;
      for (; i < places_.size(); ++i) {
        if (++digits[places_[i]] < space_.knobs()[places_[i]].size()) break;
        digits[places_[i]] = 0;
      }
      if (i == places_.size()) return;
    }
  }
  // If nothing is listed, any combination: the rules of the whole space say why nothing is legal.
  PointIndex Draw(Rng& rng) const {
    if (!listed_.empty()) return listed_[rng.UniformInt(listed_.size())];
    PointIndex index = 0;
    for (const size_t k : places_) index += rng.UniformInt(space_.knobs()[k].size()) * space_.radix(k);
    return index;
  }

 private:
  search::Space space_;  // with the core's rules alone
  std::vector<size_t> places_;
  std::vector<PointIndex> listed_;
};

class CoreTables {
 public:
  CoreTables(const search::Space& space, const std::vector<Core>& cores) {
    std::vector<bool> in_core(space.knobs().size());
    for (const Core& core : cores) {
      cores_.emplace_back(space, core);
      for (const size_t k : cores_.back().places()) in_core[k] = true;
    }
    for (size_t k = 0; k < in_core.size(); ++k) {
      if (!in_core[k]) others_.emplace_back(space.knobs()[k].size(), space.radix(k));
    }
  }

  PointIndex Draw(Rng& rng) {
    std::call_once(once_, [this] {
      for (Combinations& core : cores_) core.List();
    });
    PointIndex index = 0;
    for (const Combinations& core : cores_) index += core.Draw(rng);
    for (const auto& [values, radix] : others_) index += rng.UniformInt(values) * radix;
    return index;
  }

 private:
  std::vector<Combinations> cores_;
  std::vector<std::pair<size_t, PointIndex>> others_;  // the other decisions: values and radix
  std::once_flag once_;
};

}  // namespace

std::function<PointIndex(Rng&)> SampleCores(const search::Space& space, const std::vector<Core>& cores) {
  return [tables = std::make_shared<CoreTables>(space, cores)](Rng& rng) { return tables->Draw(rng); };
}

}  // namespace hone::sketch
