// Space: the knobs of one template for one workload and target, and which of their combinations are legal.
//
// index <-> config is mixed radix with the first knob as the least significant digit, exactly as in AutoTVM's
// ConfigSpace, so that its logs resolve. Split knobs also enumerate as there: depth-first over factors of the extent,
// the innermost part chosen first and the last choice varying fastest; the outermost part is stored as -1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "task/config.h"

namespace hone::search {

// One knob: a name and the values it may take; a digit of the index is a position among them.
class Knob {
 public:
  // All ways to split `extent` into `parts` parts whose product divides it, with inner parts of at most max_factor.
  static Knob Split(std::string name, int64_t extent, int parts, int64_t max_factor = INT64_MAX);
  // The given splits: lists of part sizes, the outermost of each -1.
  static Knob SplitOf(std::string name, std::vector<std::vector<int64_t>> sizes);
  static Knob Reorder(std::string name, std::vector<std::vector<int64_t>> permutations);
  static Knob Annotate(std::string name, std::vector<std::vector<std::string>> annotations);
  static Knob Choice(std::string name, const std::vector<int64_t>& values);
  static Knob Words(std::string name, const std::vector<std::string>& values);

  // The knob with only the values that `keep` accepts, in their order.
  Knob Only(const std::function<bool(const KnobValue&)>& keep) const;

  const std::string& name() const { return name_; }
  KnobKind kind() const { return kind_; }
  size_t size() const { return values_.size(); }
  const KnobValue& value(size_t digit) const { return values_[digit]; }

 private:
  Knob(std::string name, KnobKind kind, std::vector<std::vector<int64_t>> numbers,
       std::vector<std::vector<std::string>> words);

  std::string name_;
  KnobKind kind_;
  std::vector<KnobValue> values_;
};

// A cheap, closed-form legality rule over the knobs; returns why `config` is illegal, or nothing.
struct Rule {
  std::string name;  // "registers", "shared_memory": records contain it
  std::function<std::optional<std::string>(const Config&)> reject;
};

class Space {
 public:
  explicit Space(std::string template_name) : template_name_(std::move(template_name)) {}
  void Add(Knob knob);  // REQUIRES: the result has fewer than 2^128 points
  void AddRule(Rule rule) { rules_.push_back(std::move(rule)); }

  // Sets how to draw points if few are legal: every legal point must be equally likely; it may also return illegal
  // points, which the rules reject. Call it after the last Add. Without a sampler, all points are equally likely.
  void SetSampler(std::function<PointIndex(Rng&)> sampler) { sampler_ = std::move(sampler); }

  const std::string& template_name() const { return template_name_; }
  const std::vector<Knob>& knobs() const { return knobs_; }
  const std::vector<Rule>& rules() const { return rules_; }
  PointIndex size() const { return size_; }  // all points, legal or not; 1 without knobs, 0 if a knob has no value

  Config At(PointIndex index) const;  // REQUIRES: index < size()
  // The index of a config by its values. Returns kInvalid with the knob's name if it is not a point of this space.
  Result<PointIndex> IndexOf(const Config& config) const;
  // Calls visit(k, digit) for each knob k in order. REQUIRES: index < size()
  template <typename Visit>
  void VisitDigits(PointIndex index, const Visit& visit) const;
  std::vector<size_t> Digits(PointIndex index) const;
  PointIndex radix(size_t knob) const { return radixes_[knob]; }  // the steps of the index from a value to the next
  PointIndex IndexOf(const std::vector<size_t>& digits) const;

  // "rule: reason" of the first rule that rejects it, or nothing.
  std::optional<std::string> Reject(const Config& config) const;
  // Like Reject, but faster as it needs no reason.
  bool Legal(const Config& config) const;
  bool Legal(PointIndex index) const { return Legal(At(index)); }
  // A random point, legal or not: uniform, or from the sampler. REQUIRES: size() > 0
  PointIndex Uniform(Rng& rng) const;
  PointIndex Draw(Rng& rng) const { return sampler_ ? sampler_(rng) : Uniform(rng); }
  // A legal index, uniformly distributed; nothing after `tries` misses.
  std::optional<PointIndex> SampleLegal(Rng& rng, int tries = 10000) const;
  // Calls `visit` with each index in `begin` .. `end` - 1 and whether it is legal, until it returns false. Faster than
  // calling Legal for each point. REQUIRES: end <= size()
  void ForEach(PointIndex begin, PointIndex end,
               const std::function<bool(PointIndex index, bool legal)>& visit) const;

 private:
  std::string template_name_;
  std::vector<Knob> knobs_;
  std::vector<PointIndex> radixes_;
  PointIndex size_ = 1;
  std::vector<Rule> rules_;
  std::function<PointIndex(Rng&)> sampler_;
};

// The union of the spaces of a task's templates: what a tuner sees. Indices run through the templates in order.
class TaskSpace {
 public:
  void Add(Space space);  // REQUIRES: the result has fewer than 2^128 points
  const std::vector<Space>& spaces() const { return spaces_; }
  PointIndex size() const { return size_; }
  // The first index of a template's points.
  PointIndex offset(size_t space) const { return offsets_[space]; }
  // The template of a point, and the point's index in it. REQUIRES: index < size()
  struct Place {
    size_t space = 0;
    PointIndex index = 0;
  };
  Place Find(PointIndex index) const;
  Config At(PointIndex index) const;  // Config::index is the index in the union
  Result<PointIndex> IndexOf(const Config& config) const;
  std::optional<std::string> Reject(PointIndex index) const;
  // All legal indices, ascending, if the union has at most `limit` points; nothing otherwise.
  std::optional<std::vector<PointIndex>> LegalIndices(uint64_t limit) const;
  // A legal index: a template drawn uniformly, then one of its legal points, drawn uniformly in up to 32 tries; then
  // another template's turn. So a template with many points does not hide one with few. Nothing after `tries` misses in
  // all.
  std::optional<PointIndex> SampleLegal(Rng& rng, int tries = 10000) const;

 private:
  std::vector<Space> spaces_;
  std::vector<PointIndex> offsets_;
  PointIndex size_ = 0;
};

struct PointHash {
  size_t operator()(PointIndex index) const { return static_cast<size_t>(index ^ index >> 64); }
};
using IndexSet = std::unordered_set<PointIndex, PointHash>;

template <typename Visit>
void Space::VisitDigits(PointIndex index, const Visit& visit) const {
  size_t k = 0;
  for (; k < knobs_.size() && index > UINT64_MAX; ++k) {
    visit(k, static_cast<size_t>(index % knobs_[k].size()));
    index /= knobs_[k].size();
  }
  auto rest = static_cast<uint64_t>(index);  // 64-bit division is much faster
  for (; k < knobs_.size(); ++k) {
    visit(k, static_cast<size_t>(rest % knobs_[k].size()));
    rest /= knobs_[k].size();
  }
}

}  // namespace hone::search
