#include "sketch/core_sampler.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace hone::sketch {
namespace {

class CoreTable {
 public:
  CoreTable(search::Space space, const std::vector<std::string>& core) : space_(std::move(space)) {
    for (size_t k = 0; k < space_.knobs().size(); ++k) {
      (std::ranges::count(core, space_.knobs()[k].name()) != 0 ? core_ : others_).push_back(k);
    }
  }

  PointIndex Draw(Rng& rng) {
    std::call_once(once_, [this] { List(); });
    if (combinations_.empty()) return space_.Uniform(rng);  // the rules say why nothing is legal
    PointIndex index = combinations_[rng.UniformInt(combinations_.size())];
    for (const size_t k : others_) index += rng.UniformInt(space_.knobs()[k].size()) * space_.radix(k);
    return index;
  }

 private:
  // The combinations, each as the point with the first value of all other decisions.
  void List() {
    std::vector<size_t> digits(space_.knobs().size(), 0);
    while (true) {
      const PointIndex index = space_.IndexOf(digits);
      if (space_.Legal(index)) combinations_.push_back(index);
      size_t i = 0;
      for (; i < core_.size(); ++i) {
        if (++digits[core_[i]] < space_.knobs()[core_[i]].size()) break;
        digits[core_[i]] = 0;
      }
      if (i == core_.size()) return;
    }
  }

  search::Space space_;  // with the core's rules alone
  std::vector<size_t> core_, others_;
  std::once_flag once_;
  std::vector<PointIndex> combinations_;
};

}  // namespace

std::function<PointIndex(Rng&)> SampleCore(const search::Space& space, const std::vector<std::string>& core,
                                           const std::vector<search::Rule>& core_rules) {
  search::Space narrow(space.template_name());
  for (const search::Knob& knob : space.knobs()) narrow.Add(knob);
  for (const search::Rule& rule : core_rules) narrow.AddRule(rule);
  return [table = std::make_shared<CoreTable>(std::move(narrow), core)](Rng& rng) { return table->Draw(rng); };
}

}  // namespace hone::sketch
