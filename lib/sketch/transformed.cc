#include "sketch/transformed.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/lines.h"
#include "sketch/transformed_nest.h"

namespace hone::sketch {

constexpr int64_t kStaysNear = 1 << 18;  // bytes of constants that stay near a core and need no prefetch

// The order of the decisions; the last one may be missing.
enum TransformDecision { kRowsOf, kVectorsOf, kBlockOf, kChannelsOf, kFormOf, kUnrollOf, kPrefetchOf };

TransformPoint TransformPoint::Of(const Config& config) {
  const auto number = [&](TransformDecision decision) { return config.values[decision].numbers[0]; };
  const bool may_prefetch = config.values.size() > kPrefetchOf;
  return {.rows = number(kRowsOf),
          .vectors = number(kVectorsOf),
          .block = number(kBlockOf),
          .channels = number(kChannelsOf),
          .by_channel = config.values[kFormOf].words[0] == "channels",
          .unroll = number(kUnrollOf),
          .prefetch = may_prefetch && config.values[kPrefetchOf].words[0] != "none",
          .far = may_prefetch && config.values[kPrefetchOf].words[0] == "far"};
}

// Even parts of all tiles. Less than a row of tiles must divide it: the padded copy is made in whole rows.
std::vector<int64_t> TileBlocks(const TransformedSum& t) {
  constexpr int64_t kLeast = 6;
  const TileDigit& columns = t.digits.back();
  const int64_t row = CeilDiv(t.out().tensor.node()->axes[columns.axis].extent, columns.size);
  std::vector<int64_t> blocks;
  for (int64_t block = 1; block <= t.Tiles(); ++block) {
    if (t.Tiles() % block != 0 || (block < row && row % block != 0)) continue;
    if (block >= std::min(t.Tiles(), kLeast)) blocks.push_back(block);
  }
  return blocks;
}

std::optional<Sketch> TransformedTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                       const Target& target) {
  const std::optional<TransformedSum> found = TransformedSumOf(output, constants, target);
  if (!found) return {};
  const TransformedSum& t = *found;
  Sketch sketch;
  sketch.name = "transformed";
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const std::vector<int64_t> blocks = TileBlocks(t);
  std::set<int64_t, std::greater<>> rows;
  for (const int64_t block : blocks) {
    for (const int64_t part : search::EvenParts(block, t.sum.registers - 3)) rows.insert(part);
  }
  std::vector<int64_t> vectors = search::NoLarger(t.Vectors(), {1, 2, 3, 4});
  std::erase_if(vectors, [&](int64_t v) { return t.Vectors() % v != 0; });
  std::set<int64_t> channels;
  for (const int64_t parts : {1, t.sum.threads, 2 * t.sum.threads, 4 * t.sum.threads}) {
    if (t.Vectors() % parts == 0) channels.insert(t.Vectors() / parts);
  }
  numbers("rows", {rows.begin(), rows.end()});
  numbers("vectors", vectors);
  numbers("block", blocks);
  numbers("channels", {channels.begin(), channels.end()});
  sketch.decisions.push_back(search::Knob::Words("form", {"elements", "channels"}));
  numbers("unroll", search::NoLarger(t.sum.Extent(t.sum.channels.back()), {1, 4, 8}));
  if (t.sum.ConstantBytes() >= kStaysNear) {
    sketch.decisions.push_back(search::Knob::Words("prefetch", {"none", "near", "far"}));
  }
  AddTransformedRules(t, &sketch);
  AddTransformedLines(t, &sketch);
  sketch.cost = [t](const Config& config) { return TransformedCost(t, TransformPoint::Of(config)); };
  return sketch;
}

}  // namespace hone::sketch
