#include "sketch/gpu_sum_tiles.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/integers.h"

namespace hone::sketch {
namespace {

// As the members of GpuSumPoint; those of an axis are in the order x, y, z.
enum { kThreads = 0, kOwn = 3, kSpread = 6, kStep = 9, kUnroll, kStages, kWindow, kCopy, kReduce, kPart };
constexpr std::array<const char*, 16> kNames = {"threads_x", "threads_y", "threads_z", "own_x", "own_y",  "own_z",
                                                "spread_x",  "spread_y",  "spread_z",  "step",  "unroll", "stages",
                                                "window",    "copy",      "reduce",    "part"};

// The dimensions of a constant that threads share come last.
std::vector<size_t> OrderOf(const GpuSums& s, const SumRead& read) {
  if (!read.constant) return {};
  std::vector<size_t> outer, inner;
  for (size_t d = 0; d < read.indices.size(); ++d) {
    const bool shared = std::ranges::any_of(
        read.indices[d], [&](const Term& term) { return std::ranges::count(s.tiled, std::optional(term.axis)) != 0; });
    (shared ? inner : outer).push_back(d);
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  return std::ranges::is_sorted(outer) ? std::vector<size_t>() : outer;
}

}  // namespace

std::optional<GpuSums> GpuSumsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                 const DeviceLimits& limits) {
  std::optional<SumNest> nest = SumNestOf(out, constants, /*streams=*/false);
  if (!nest || !nest->blocked.empty() || !nest->SourceReadsArguments()) return {};
  GpuSums s{std::move(*nest), limits, {}, {}, {}, {}, {}};
  const SumNest& n = s.nest;
  for (size_t i = n.outputs; i-- > 0;) {
    const bool lacked = n.IsLacked(i) && s.Extent(i) > 1;
    if (!s.tiled[0] && (s.Extent(i) > 1 || i == 0)) {
      s.tiled[0] = i;
    } else if (lacked && s.tiled[0] && !s.tiled[1] && !n.SameReads(i, *s.tiled[0])) {
      s.tiled[1] = i;
    } else if (lacked && s.tiled[0] && !s.tiled[2] && n.SameReads(i, *s.tiled[0])) {
      s.tiled[2] = i;
    } else {
      s.others.insert(s.others.begin(), i);
    }
  }
  for (size_t i = n.outputs; i < n.axes.size(); ++i) (n.IsWindow(i) ? s.window : s.channels).push_back(i);
  if (s.channels.empty()) {
    s.channels.push_back(s.window.back());
    s.window.pop_back();
  }
  std::set<const te::TensorNode*> seen;
  for (const SumRead& read : n.reads) {
    if (!seen.insert(read.tensor.node()).second) continue;
    const std::vector<size_t> order = OrderOf(s, read);
    s.inputs.push_back({read, order, order.empty() ? read.indices.size() - 1 : order.back()});
  }
  return s;
}

GpuSumReader::GpuSumReader(const std::vector<search::Knob>& decisions) : reader_(decisions, kNames) {}

GpuSumPoint GpuSumReader::Read(const Config& config) const {
  const auto number = [&](size_t which) { return reader_.Number(config, which); };
  GpuSumPoint p;
  for (size_t i = 0; i < 3; ++i) {
    p.shares[i] = {.spread = number(kSpread + i), .threads = number(kThreads + i), .own = number(kOwn + i)};
  }
  p.step = number(kStep), p.unroll = number(kUnroll), p.stages = number(kStages);
  p.shared = reader_.Is(config, kCopy, "shared"), p.padded = reader_.Is(config, kCopy, "padded");
  p.window_inside = !reader_.Is(config, kWindow, "outside");
  p.divided = reader_.Is(config, kReduce, "parts"), p.part = number(kPart);
  return p;
}

int64_t GpuSumPoint::Rounds(const GpuSums& s) const {
  int64_t rounds = divided ? part : CeilDiv(s.Depth(), step);
  for (size_t i = 0; i + 1 < s.channels.size(); ++i) rounds *= s.Extent(s.channels[i]);
  for (size_t i = 0; i < s.window.size() && !window_inside; ++i) rounds *= s.Extent(s.window[i]);
  return rounds;
}

std::vector<GpuSumPoint::Box> GpuSumPoint::Fetched(const GpuSums& s) const {
  std::vector<int64_t> cover(s.nest.axes.size(), 1);
  for (size_t i = 0; i < 3; ++i) {
    if (s.tiled[i]) cover[*s.tiled[i]] = shares[i].whole();
  }
  for (size_t i = 0; i < s.window.size() && window_inside; ++i) cover[s.window[i]] = s.Extent(s.window[i]);
  cover[s.channels.back()] = step;
  std::vector<Box> boxes;
  for (const GpuSumInput& input : s.inputs) {
    Box box;
    for (size_t d = 0; d < input.read.indices.size(); ++d) {
      int64_t reach = 1;
      for (const Term& term : input.read.indices[d]) {
        reach +=
            std::abs(term.coefficient) * (std::min(CeilDiv(cover[term.axis] - 1, term.divisor) + 1, term.modulus) - 1);
      }
      box.elements *= reach;
      if (d == input.last) box.run = reach;
    }
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace hone::sketch
