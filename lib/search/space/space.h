// Space: the knobs of one template for one workload and target, and which of their combinations are legal.
//
// index <-> config is mixed radix, the first knob the least significant digit, exactly as AutoTVM's ConfigSpace, so
// that its logs resolve. Split knobs enumerate as there too: depth-first over factors of the extent, the innermost part
// chosen first and the last choice varying fastest; the outermost part is stored as -1.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "task/config.h"

namespace hone::search {

enum class SplitPolicy {
  kFactors,    // divisors of the extent
  kPower2,     // 1, 2, 4, .. up to the extent
  kVerbose,    // union of the two, ascending
  kCandidate,  // the list given
};

struct SplitOptions {
  SplitPolicy policy = SplitPolicy::kFactors;
  int64_t max_factor = INT64_MAX;
  std::optional<bool> no_tail;                              // unset: true only for kFactors
  std::vector<std::vector<int64_t>> candidates;             // of kCandidate: part sizes, outermost -1
  std::function<bool(const std::vector<int64_t>&)> filter;  // on the parts, outermost -1
};

// One knob: a name and the values it may take; a digit of the index is a position among them.
class Knob {
 public:
  static Knob Split(std::string name, int64_t extent, int parts, const SplitOptions& options = {});
  static Knob Reorder(std::string name, std::vector<std::vector<int64_t>> permutations);
  static Knob Annotate(std::string name, std::vector<std::vector<std::string>> annotations);
  static Knob Choice(std::string name, std::vector<int64_t> values);
  static Knob Words(std::string name, std::vector<std::string> values);

  const std::string& name() const { return name_; }
  KnobKind kind() const { return kind_; }
  size_t size() const { return values_.size(); }
  const KnobValue& value(size_t digit) const { return values_[digit]; }

 private:
  std::string name_;
  KnobKind kind_ = KnobKind::kOther;
  std::vector<KnobValue> values_;
};

// A legality rule over the knobs, closed-form and cheap; returns why `config` is not legal, or nothing.
struct Rule {
  std::string name;  // "registers", "shared_memory": records name it
  std::function<std::optional<std::string>(const Config&)> reject;
};

class Space {
 public:
  explicit Space(std::string template_name) : template_name_(std::move(template_name)) {}
  void Add(Knob knob);
  void AddRule(Rule rule);

  // How to draw points where few are legal: each legal point as likely as another, others may come out too (they are
  // rejected by the rules). After the last Add. Without one, all points are as likely.
  void SetSampler(std::function<uint64_t(Rng&)> sampler) { sampler_ = std::move(sampler); }

  const std::string& template_name() const { return template_name_; }
  const std::vector<Knob>& knobs() const { return knobs_; }
  const std::vector<Rule>& rules() const { return rules_; }
  uint64_t size() const;  // product of the knobs, legal or not; 1 without knobs, 0 if a knob has no value

  Config At(uint64_t index) const;  // REQUIRES: index < size()
  // The index of a config by its values; kInvalid with the knob's name if it is not a point of this space.
  Result<uint64_t> IndexOf(const Config& config) const;
  // "rule: reason" of the first rule that rejects, or nothing.
  std::optional<std::string> Reject(const Config& config) const;
  bool Legal(uint64_t index) const { return !Reject(At(index)).has_value(); }
  // A legal index, each as likely; nothing after `tries` misses.
  std::optional<uint64_t> SampleLegal(Rng& rng, int tries = 10000) const;
  // Calls `visit` with each index in `begin` .. `end` - 1 and whether it is legal, until it returns false. Faster than
  // Legal point by point. REQUIRES: end <= size()
  void ForEach(uint64_t begin, uint64_t end, const std::function<bool(uint64_t index, bool legal)>& visit) const;

 private:
  friend class TaskSpace;
  std::string template_name_;
  std::vector<Knob> knobs_;
  std::vector<Rule> rules_;
  std::function<uint64_t(Rng&)> sampler_;
};

// The union of the spaces of a task's templates: what a tuner sees. Indices run through the templates in order.
class TaskSpace {
 public:
  void Add(Space space);
  const std::vector<Space>& spaces() const { return spaces_; }
  uint64_t size() const;
  Config At(uint64_t index) const;  // Config::index is the index in the union
  Result<uint64_t> IndexOf(const Config& config) const;
  std::optional<std::string> Reject(uint64_t index) const;
  // All legal indices, ascending, if the union has at most `limit` points; nothing otherwise.
  std::optional<std::vector<uint64_t>> LegalIndices(uint64_t limit) const;
  // A legal index: first one of the templates, each as likely, then one of its legal points, each as likely (by
  // rejection), so that a template with many points does not hide one with few. Nothing after `tries` misses.
  std::optional<uint64_t> SampleLegal(Rng& rng, int tries = 10000) const;

 private:
  std::vector<Space> spaces_;
};

}  // namespace hone::search
