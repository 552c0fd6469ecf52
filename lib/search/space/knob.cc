#include "base/check.h"
#include "search/space/space.h"

namespace hone::search {

static std::vector<int64_t> Divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// Depth first over the parts from the innermost outwards; the deepest choice varies fastest.
static std::vector<std::vector<int64_t>> Splits(int64_t extent, int parts, int64_t max_factor) {
  std::vector<int64_t> factors = Divisors(extent), sizes(static_cast<size_t>(parts), -1);
  std::erase_if(factors, [&](int64_t factor) { return factor > max_factor; });
  std::vector<std::vector<int64_t>> found;
  const auto visit = [&](const auto& self, size_t part, int64_t product) -> void {
    if (part == 0) {
      if (extent % product == 0) found.push_back(sizes);
      return;
    }
    for (const int64_t factor : factors) {
      if (product * factor > extent) break;
      sizes[part] = factor;
      self(self, part - 1, product * factor);
    }
  };
  visit(visit, sizes.size() - 1, 1);
  return found;
}

Knob::Knob(std::string name, KnobKind kind, std::vector<std::vector<int64_t>> numbers,
           std::vector<std::vector<std::string>> words)
    : name_(std::move(name)), kind_(kind) {
  for (auto& value : numbers) values_.push_back({name_, kind_, std::move(value), {}});
  for (auto& value : words) values_.push_back({name_, kind_, {}, std::move(value)});
}

Knob Knob::Split(std::string name, int64_t extent, int parts, int64_t max_factor) {
  HONE_CHECK(extent >= 1 && parts >= 2);
  return SplitOf(std::move(name), Splits(extent, parts, max_factor));
}

Knob Knob::SplitOf(std::string name, std::vector<std::vector<int64_t>> sizes) {
  return Knob(std::move(name), KnobKind::kSplit, std::move(sizes), {});
}

Knob Knob::Reorder(std::string name, std::vector<std::vector<int64_t>> permutations) {
  return Knob(std::move(name), KnobKind::kReorder, std::move(permutations), {});
}

Knob Knob::Annotate(std::string name, std::vector<std::vector<std::string>> annotations) {
  return Knob(std::move(name), KnobKind::kAnnotate, {}, std::move(annotations));
}

Knob Knob::Choice(std::string name, const std::vector<int64_t>& values) {
  std::vector<std::vector<int64_t>> numbers;
  for (const int64_t value : values) numbers.push_back({value});
  return Knob(std::move(name), KnobKind::kOther, std::move(numbers), {});
}

Knob Knob::Words(std::string name, const std::vector<std::string>& values) {
  std::vector<std::vector<std::string>> words;
  for (const std::string& value : values) words.push_back({value});
  return Knob(std::move(name), KnobKind::kOther, {}, std::move(words));
}

Knob Knob::Only(const std::function<bool(const KnobValue&)>& keep) const {
  Knob some = *this;
  std::erase_if(some.values_, [&](const KnobValue& value) { return !keep(value); });
  return some;
}

}  // namespace hone::search
