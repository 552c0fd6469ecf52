#include <algorithm>
#include <set>

#include "base/check.h"
#include "search/space/space.h"

namespace hone::search {
namespace {

std::vector<int64_t> Divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<int64_t> Powers2(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t p = 1; p <= n; p *= 2) out.push_back(p);
  return out;
}

// The factors one part may have, ascending (space.h says how each policy chooses).
std::vector<int64_t> Factors(int64_t extent, const SplitOptions& options) {
  std::set<int64_t> all;
  if (options.policy != SplitPolicy::kPower2) {
    for (int64_t d : Divisors(extent)) all.insert(d);
  }
  if (options.policy != SplitPolicy::kFactors) {
    for (int64_t p : Powers2(extent)) all.insert(p);
  }
  std::vector<int64_t> out;
  for (int64_t f : all) {
    if (f <= options.max_factor) out.push_back(f);
  }
  return out;
}

// Depth first over the parts from the innermost outwards; the deepest choice varies fastest.
class SplitEnumeration {
 public:
  SplitEnumeration(int64_t extent, int parts, const SplitOptions& options)
      : extent_(extent),
        options_(options),
        tails_(!options.no_tail.value_or(options.policy == SplitPolicy::kFactors)),
        factors_(Factors(extent, options)),
        parts_(parts, -1) {}

  std::vector<std::vector<int64_t>> Run() {
    Visit(parts_.size() - 1, 1);
    return std::move(found_);
  }

 private:
  void Visit(size_t part, int64_t product) {
    if (part == 0) {
      const bool accepted = extent_ % product == 0 || (tails_ && product < extent_);
      if (accepted && (!options_.filter || options_.filter(parts_))) found_.push_back(parts_);
      return;
    }
    for (int64_t f : factors_) {
      if (product * f > extent_) break;
      parts_[part] = f;
      Visit(part - 1, product * f);
    }
  }

  const int64_t extent_;
  const SplitOptions& options_;
  const bool tails_;
  const std::vector<int64_t> factors_;
  std::vector<int64_t> parts_;
  std::vector<std::vector<int64_t>> found_;
};

KnobValue Value(const std::string& name, KnobKind kind, std::vector<int64_t> numbers, std::vector<std::string> words) {
  return {name, kind, std::move(numbers), std::move(words)};
}

}  // namespace

Knob Knob::Split(std::string name, int64_t extent, int parts, const SplitOptions& options) {
  HONE_CHECK(extent >= 1 && parts >= 2);
  Knob knob;
  knob.name_ = std::move(name);
  knob.kind_ = KnobKind::kSplit;
  std::vector<std::vector<int64_t>> all;
  if (options.policy == SplitPolicy::kCandidate) {
    for (const std::vector<int64_t>& sizes : options.candidates) {
      if (!options.filter || options.filter(sizes)) all.push_back(sizes);
    }
  } else {
    all = SplitEnumeration(extent, parts, options).Run();
  }
  for (std::vector<int64_t>& sizes : all) knob.values_.push_back(Value(knob.name_, knob.kind_, std::move(sizes), {}));
  return knob;
}

Knob Knob::Reorder(std::string name, std::vector<std::vector<int64_t>> permutations) {
  Knob knob;
  knob.name_ = std::move(name);
  knob.kind_ = KnobKind::kReorder;
  for (auto& p : permutations) knob.values_.push_back(Value(knob.name_, knob.kind_, std::move(p), {}));
  return knob;
}

Knob Knob::Annotate(std::string name, std::vector<std::vector<std::string>> annotations) {
  Knob knob;
  knob.name_ = std::move(name);
  knob.kind_ = KnobKind::kAnnotate;
  for (auto& a : annotations) knob.values_.push_back(Value(knob.name_, knob.kind_, {}, std::move(a)));
  return knob;
}

Knob Knob::Choice(std::string name, std::vector<int64_t> values) {
  Knob knob;
  knob.name_ = std::move(name);
  for (int64_t v : values) knob.values_.push_back(Value(knob.name_, knob.kind_, {v}, {}));
  return knob;
}

Knob Knob::Words(std::string name, std::vector<std::string> values) {
  Knob knob;
  knob.name_ = std::move(name);
  for (std::string& v : values) knob.values_.push_back(Value(knob.name_, knob.kind_, {}, {std::move(v)}));
  return knob;
}

}  // namespace hone::search
