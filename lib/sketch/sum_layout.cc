// How the rule `sums` stores constants.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sketch/sum_tiles.h"

namespace hone::sketch {

std::vector<std::string> StoredParts(const SumLoops& l, const SumRead& read, const std::vector<Digit>& digits,
                                     const std::vector<size_t>& reduction) {
  std::vector<std::string> parts;
  const auto each = [&](size_t axis, const std::function<void(const Digit&)>& f) {
    for (const Digit& digit : digits) {
      if (digit.axis == axis) f(digit);
    }
  };
  const auto over = [](int64_t unit) { return unit == 1 ? std::string() : fmt::format("/{}", unit); };
  const auto whole = [&](const Digit& digit) {
    const int64_t four = digit.axis == l.channels.back() ? l.products : 1;
    const std::string modulo = digit.highest ? "" : fmt::format("%{}", l.Extent(digit.axis) / four);
    parts.push_back(fmt::format("d{}{}{}", digit.dimension, over(digit.unit * four), modulo));
  };
  for (size_t d = 0; d < read.indices.size(); ++d) {
    const auto here = [&](const Digit& digit) { return digit.dimension == d; };
    if (std::none_of(digits.begin(), digits.end(), here)) parts.push_back(fmt::format("d{}", d));
  }
  for (size_t axis = 0; axis < l.nest.outputs; ++axis) {
    if (axis == l.vectors) {
      each(axis, [&](const Digit& digit) {
        parts.push_back(fmt::format("d{}/{{vectors*{}}}", digit.dimension, digit.unit * l.VectorWidth()));
      });
    } else if (axis != l.nest.last()) {
      each(axis, whole);
    }
  }
  for (size_t axis : reduction) each(axis, whole);
  each(l.vectors, [&](const Digit& digit) {
    const std::string tile = l.VectorWidth() == 1 ? "{vectors}" : fmt::format("{{vectors*{}}}", l.VectorWidth());
    parts.push_back(fmt::format("d{}{}%{}", digit.dimension, over(digit.unit), tile));
  });
  if (l.vectors != l.nest.last()) each(l.nest.last(), whole);
  if (l.products > 1) {
    each(l.channels.back(), [&](const Digit& digit) {
      parts.push_back(fmt::format("d{}{}%{}", digit.dimension, over(digit.unit), l.products));
    });
  }
  return parts;
}

}  // namespace hone::sketch
