#include "search/space/space.h"

#include <fmt/format.h>

#include "base/check.h"

namespace hone::search {
namespace {

// a * b, or the largest value if that does not fit: a space that large is only ever sampled.
uint64_t SaturatingMultiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace

void Space::Add(Knob knob) {
  for (const Knob& k : knobs_) HONE_CHECK(k.name() != knob.name());
  knobs_.push_back(std::move(knob));
}

void Space::AddRule(Rule rule) { rules_.push_back(std::move(rule)); }

uint64_t Space::size() const {
  uint64_t n = 1;
  for (const Knob& k : knobs_) n = SaturatingMultiply(n, k.size());
  return n;
}

Config Space::At(uint64_t index) const {
  HONE_CHECK(index < size());
  Config config;
  config.template_name = template_name_;
  config.index = index;
  config.values.reserve(knobs_.size());
  for (const Knob& k : knobs_) {
    config.values.push_back(k.value(index % k.size()));
    index /= k.size();
  }
  return config;
}

Result<uint64_t> Space::IndexOf(const Config& config) const {
  const auto not_here = [&](const std::string& what) {
    return Status::Invalid(
        fmt::format("config `{}` is not a point of the space of {}: {}", config.Text(), template_name_, what));
  };
  if (config.template_name != template_name_) return not_here("another template");
  if (config.values.size() != knobs_.size()) {
    return not_here(fmt::format("it has {} knobs, the space {}", config.values.size(), knobs_.size()));
  }
  uint64_t index = 0, radix = 1;
  for (const Knob& knob : knobs_) {
    const KnobValue* given = nullptr;
    for (const KnobValue& v : config.values) {
      if (v.name == knob.name()) given = &v;
    }
    if (!given) return not_here("knob `" + knob.name() + "` is missing");
    size_t digit = 0;
    while (digit < knob.size() && !(knob.value(digit) == *given)) ++digit;
    if (digit == knob.size()) return not_here("knob `" + knob.name() + "` cannot have that value");
    index += radix * digit;
    radix = SaturatingMultiply(radix, knob.size());
  }
  return index;
}

std::optional<std::string> Space::Reject(const Config& config) const {
  for (const Rule& rule : rules_) {
    if (std::optional<std::string> reason = rule.reject(config)) return rule.name + ": " + *reason;
  }
  return std::nullopt;
}

std::optional<uint64_t> Space::SampleLegal(Rng& rng, int tries) const {
  const uint64_t all = size();
  for (int t = 0; t < tries && all > 0; ++t) {
    const uint64_t index = sampler_ ? sampler_(rng) : rng.UniformInt(all);
    if (!Reject(At(index))) return index;
  }
  return std::nullopt;
}

void Space::ForEach(uint64_t begin, uint64_t end, const std::function<bool(uint64_t index, bool legal)>& visit) const {
  if (begin >= end) return;
  Config config = At(begin);
  std::vector<size_t> digits;
  uint64_t rest = begin;
  for (const Knob& k : knobs_) {
    digits.push_back(rest % k.size());
    rest /= k.size();
  }
  for (uint64_t index = begin;;) {
    if (!visit(index, !Reject(config).has_value()) || ++index == end) return;
    config.index = index;
    for (size_t k = 0; k < knobs_.size(); ++k) {
      digits[k] = digits[k] + 1 == knobs_[k].size() ? 0 : digits[k] + 1;
      config.values[k] = knobs_[k].value(digits[k]);
      if (digits[k] != 0) break;
    }
  }
}

void TaskSpace::Add(Space space) { spaces_.push_back(std::move(space)); }

uint64_t TaskSpace::size() const {
  uint64_t n = 0;
  for (const Space& s : spaces_) {
    if (__builtin_add_overflow(n, s.size(), &n)) return UINT64_MAX;
  }
  return n;
}

Config TaskSpace::At(uint64_t index) const {
  const uint64_t in_union = index;
  for (const Space& s : spaces_) {
    if (index < s.size()) {
      Config config = s.At(index);
      config.index = in_union;
      return config;
    }
    index -= s.size();
  }
  HONE_CHECK(false && "index is in the space");
  return {};
}

Result<uint64_t> TaskSpace::IndexOf(const Config& config) const {
  uint64_t offset = 0;
  for (const Space& s : spaces_) {
    if (s.template_name() == config.template_name) {
      HONE_ASSIGN_OR_RETURN(uint64_t index, s.IndexOf(config));
      return offset + index;
    }
    offset += s.size();
  }
  return Status::Invalid("config `" + config.Text() + "`: this task has no template `" + config.template_name + "`");
}

std::optional<std::string> TaskSpace::Reject(uint64_t index) const {
  for (const Space& s : spaces_) {
    if (index < s.size()) return s.Reject(s.At(index));
    index -= s.size();
  }
  HONE_CHECK(false && "index is in the space");
  return std::nullopt;
}

std::optional<std::vector<uint64_t>> TaskSpace::LegalIndices(uint64_t limit) const {
  const uint64_t n = size();
  if (n > limit) return std::nullopt;
  std::vector<uint64_t> legal;
  uint64_t offset = 0;
  for (const Space& s : spaces_) {
    s.ForEach(0, s.size(), [&](uint64_t index, bool is_legal) {
      if (is_legal) legal.push_back(offset + index);
      return true;
    });
    offset += s.size();
  }
  return legal;
}

std::optional<uint64_t> TaskSpace::SampleLegal(Rng& rng, int tries) const {
  if (size() == 0) return std::nullopt;
  for (int t = 0; t < tries; ++t) {
    const size_t chosen = spaces_.size() == 1 ? 0 : rng.UniformInt(spaces_.size());
    const Space& space = spaces_[chosen];
    if (space.size() == 0) continue;
    const uint64_t index = space.sampler_ ? space.sampler_(rng) : rng.UniformInt(space.size());
    if (space.Reject(space.At(index))) continue;
    uint64_t offset = 0;
    for (size_t s = 0; s < chosen; ++s) offset += spaces_[s].size();
    return offset + index;
  }
  return std::nullopt;
}

}  // namespace hone::search
