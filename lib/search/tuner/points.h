// The legal points of a space as tuners move among them: drawing new ones, and steps from one to another. All choices
// come from the Rng that is handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::search {

using IndexSet = std::unordered_set<uint64_t>;

// A space whose points are this hard to find by drawing is enumerated after all, if it is not hopelessly large.
inline constexpr int kMissesBeforeEnumerating = 2000;
inline constexpr uint64_t kEnumerateAtMost = uint64_t{1} << 24;

class Points {
 public:
  // Spaces up to this size are enumerated.
  static constexpr uint64_t kEnumerateLimit = uint64_t{1} << 16;

  explicit Points(const TaskSpace& space, uint64_t enumerate_limit = kEnumerateLimit);

  const TaskSpace& space() const { return space_; }
  // All legal indices, ascending, if the space is enumerated.
  const std::optional<std::vector<uint64_t>>& legal() const { return legal_; }

  // `count` different legal points that are in neither set: first a template, each as likely, then one of its points,
  // each as likely, so that one with many does not hide one with few; all of them, shuffled, if there are fewer.
  // In a space that is not enumerated they are drawn one by one, and it is enumerated (up to 2^24 points) only where
  // that keeps missing.
  std::vector<uint64_t> DrawNew(size_t count, const IndexSet& known, const IndexSet& also_known, Rng* rng) const;

  // A legal point with one knob re-drawn among all its values; where there are several templates, also once in as many
  // times as there are knobs another template's point. `index` itself if no legal one was found. `near`: how often the
  // knob takes a neighbouring value instead (values of most knobs are in an order).
  uint64_t Walk(uint64_t index, Rng* rng, double near = 0) const;

  // Which template a point belongs to, and its digits there.
  struct Digits {
    size_t space = 0;
    std::vector<size_t> digits;
  };
  Digits DigitsOf(uint64_t index) const;
  uint64_t IndexOf(const Digits& digits) const;
  bool Legal(uint64_t index) const;

 private:
  const TaskSpace& space_;
  std::optional<std::vector<uint64_t>> legal_;
  std::vector<bool> is_legal_;  // of an enumerated space
};

}  // namespace hone::search
