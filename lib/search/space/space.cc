#include "search/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace hone::search {

void Space::Add(Knob knob) {
  for (const Knob& k : knobs_) HONE_CHECK(k.name() != knob.name());
  radixes_.push_back(size_);
  HONE_CHECK(!__builtin_mul_overflow(size_, PointIndex{knob.size()}, &size_));
  knobs_.push_back(std::move(knob));
}

Config Space::At(PointIndex index) const {
  HONE_CHECK(index < size());
  Config config;
  config.template_name = template_name_;
  config.index = index;
  config.values.reserve(knobs_.size());
  VisitDigits(index, [&](size_t k, size_t digit) { config.values.push_back(knobs_[k].value(digit)); });
  return config;
}

std::vector<size_t> Space::Digits(PointIndex index) const {
  std::vector<size_t> digits(knobs_.size());
  VisitDigits(index, [&](size_t k, size_t digit) { digits[k] = digit; });
  return digits;
}

PointIndex Space::IndexOf(const std::vector<size_t>& digits) const {
  PointIndex index = 0;
  for (size_t k = 0; k < knobs_.size(); ++k) index += radixes_[k] * digits[k];
  return index;
}

Result<PointIndex> Space::IndexOf(const Config& config) const {
  const auto not_here = [&](const std::string& what) {
    return Status::Invalid("config `{}` is not a point of the space of {}: {}", config.Text(), template_name_, what);
  };
  if (config.template_name != template_name_) return not_here("another template");
  if (config.values.size() != knobs_.size()) {
    return not_here(fmt::format("it has {} knobs, the space {}", config.values.size(), knobs_.size()));
  }
  std::vector<size_t> digits;
  for (const Knob& knob : knobs_) {
    const KnobValue* given = nullptr;
    for (const KnobValue& v : config.values) {
      if (v.name == knob.name()) given = &v;
    }
    if (!given) return not_here("knob `" + knob.name() + "` is missing");
    size_t digit = 0;
    while (digit < knob.size() && !(knob.value(digit) == *given)) ++digit;
    if (digit == knob.size()) return not_here("knob `" + knob.name() + "` cannot have that value");
    digits.push_back(digit);
  }
  return IndexOf(digits);
}

std::optional<std::string> Space::Reject(const Config& config) const {
  for (const Rule& rule : rules_) {
    if (std::optional<std::string> reason = rule.reject(config)) return rule.name + ": " + *reason;
  }
  return std::nullopt;
}

bool Space::Legal(const Config& config) const {
  return std::none_of(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.reject(config).has_value(); });
}

PointIndex Space::Uniform(Rng& rng) const {
  if (size_ <= UINT64_MAX) return rng.UniformInt(static_cast<uint64_t>(size_));
  std::vector<size_t> digits;
  for (const Knob& knob : knobs_) digits.push_back(rng.UniformInt(knob.size()));
  return IndexOf(digits);
}

// Gives knob `k` of a point another value. The name stays: copying that as well takes longer.
static void Set(const Knob& knob, size_t k, size_t digit, Config* config) {
  const KnobValue& value = knob.value(digit);
  config->values[k].numbers = value.numbers, config->values[k].words = value.words;
}

std::optional<PointIndex> Space::SampleLegal(Rng& rng, int tries) const {
  Config config;
  for (int t = 0; t < tries && size_ > 0; ++t) {
    const PointIndex index = Draw(rng);
    if (t == 0) {
      config = At(index);
    } else {
      config.index = index;
      VisitDigits(index, [&](size_t k, size_t digit) { Set(knobs_[k], k, digit, &config); });
    }
    if (Legal(config)) return index;
  }
  return std::nullopt;
}

void Space::ForEach(PointIndex begin, PointIndex end,
                    const std::function<bool(PointIndex index, bool legal)>& visit) const {
  if (begin >= end) return;
  Config config = At(begin);
  std::vector<size_t> digits = Digits(begin);
  for (PointIndex index = begin;;) {
    if (!visit(index, Legal(config))) return;
    if (++index == end) return;
    config.index = index;
    for (size_t k = 0; k < knobs_.size(); ++k) {
      digits[k] = digits[k] + 1 == knobs_[k].size() ? 0 : digits[k] + 1;
      Set(knobs_[k], k, digits[k], &config);
      if (digits[k] != 0) break;
    }
  }
}

void TaskSpace::Add(Space space) {
  offsets_.push_back(size_);
  HONE_CHECK(!__builtin_add_overflow(size_, space.size(), &size_));
  spaces_.push_back(std::move(space));
}

TaskSpace::Place TaskSpace::Find(PointIndex index) const {
  HONE_CHECK(index < size_);
  size_t s = 0;
  while (index - offsets_[s] >= spaces_[s].size()) ++s;
  return {s, index - offsets_[s]};
}

Config TaskSpace::At(PointIndex index) const {
  const Place place = Find(index);
  Config config = spaces_[place.space].At(place.index);
  config.index = index;
  return config;
}

Result<PointIndex> TaskSpace::IndexOf(const Config& config) const {
  for (size_t s = 0; s < spaces_.size(); ++s) {
    if (spaces_[s].template_name() != config.template_name) continue;
    HONE_ASSIGN_OR_RETURN(const PointIndex index, spaces_[s].IndexOf(config));
    return offsets_[s] + index;
  }
  return Status::Invalid("config `" + config.Text() + "`: this task has no template `" + config.template_name + "`");
}

std::optional<std::string> TaskSpace::Reject(PointIndex index) const {
  const Place place = Find(index);
  return spaces_[place.space].Reject(spaces_[place.space].At(place.index));
}

std::optional<std::vector<PointIndex>> TaskSpace::LegalIndices(uint64_t limit) const {
  if (size_ > limit) return std::nullopt;
  std::vector<PointIndex> legal;
  for (size_t s = 0; s < spaces_.size(); ++s) {
    spaces_[s].ForEach(0, spaces_[s].size(), [&](PointIndex index, bool is_legal) {
      if (is_legal) legal.push_back(offsets_[s] + index);
      return true;
    });
  }
  return legal;
}

std::optional<PointIndex> TaskSpace::SampleLegal(Rng& rng, int tries) const {
  constexpr int kOfOne = 32;  // tries before another template has its turn: this one may have no legal point
  std::vector<size_t> left;   // templates without a turn in this round
  for (int t = 0; t < tries && size_ > 0; t += kOfOne) {
    if (left.empty()) {
      left.resize(spaces_.size());
      std::iota(left.begin(), left.end(), size_t{0});
    }
    std::swap(left[left.size() == 1 ? 0 : rng.UniformInt(left.size())], left.back());
    const size_t s = left.back();
    left.pop_back();
    if (const auto index = spaces_[s].SampleLegal(rng, kOfOne)) return offsets_[s] + *index;
  }
  return std::nullopt;
}

}  // namespace hone::search
