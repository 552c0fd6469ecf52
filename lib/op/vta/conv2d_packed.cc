#include "op/vta/conv2d_packed.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "search/space/rules.h"
#include "target/vta/instruction.h"

namespace hone::op {
namespace {

using search::Knob;
using search::Rejection;
using search::Unless;

constexpr int64_t Most(int bits) { return (int64_t{1} << bits) - 1; }
constexpr int64_t kMostPadding = Most(HONE_VTA_PAD_BITS), kMostSize = Most(HONE_VTA_SIZE_BITS);
constexpr int64_t kMostIterations = Most(HONE_VTA_ITERATION_BITS);

Rejection Fits(int64_t entries, const HoneVtaConfig& config, int memory) {
  const int64_t most = hone_vta_entries(&config, memory);
  return Unless(entries <= most, "{} entries of {}, which has {}", entries, hone_vta_memory_name(memory), most);
}

// The loops of a product around the block, outermost first: the first two that are not 1 become the instruction's, the
// others a list of micro-operations.
struct UopList {
  int64_t uops = 1, results = 1;  // in the list; those of them that differ in their accumulator
  bool reduces = false;           // whether a loop of the list is a reduction
  int64_t longest_loop = 1;
};

UopList ListOf(const PackedConv& conv, const PackedTile& t) {
  const std::pair<int64_t, bool> loops[] = {{t.in_blocks, true}, {t.width, false},      {conv.kernel, true},
                                            {conv.kernel, true}, {t.out_blocks, false}, {t.height, false}};
  UopList list;
  int outer = 0;
  for (const auto& [extent, reduction] : loops) {
    if (extent == 1) continue;
    if (outer++ < 2) {
      list.longest_loop = std::max(list.longest_loop, extent);
      continue;
    }
    list.uops *= extent;
    list.reduces = list.reduces || reduction;
    if (!reduction) list.results *= extent;
  }
  return list;
}

Rejection Threads(const PackedConv& conv, const PackedTile& t) {
  const int64_t channel_tiles = conv.out_blocks / t.out_blocks, row_tiles = conv.OutHeight() / t.height;
  if (channel_tiles % t.channel_threads != 0) {
    return fmt::format("{} threads do not divide {} tiles of channels", t.channel_threads, channel_tiles);
  }
  return Unless(row_tiles % t.row_threads == 0, "{} threads do not divide {} tiles of rows", t.row_threads, row_tiles);
}

// With padding, a load takes the rows of its tile as they are; otherwise it merges what it can.
std::optional<TransferRows> InputRows(const PackedConv& conv, const PackedTile& t) {
  if (conv.padding > 0) {
    return TransferRows{std::min(t.InHeight(conv), conv.height), std::min(t.InWidth(conv), conv.width), conv.width};
  }
  return MergeRows({t.in_blocks, t.InHeight(conv), t.InWidth(conv)}, {conv.in_blocks, conv.height, conv.width});
}

std::optional<TransferRows> WeightRows(const PackedConv& conv, const PackedTile& t) {
  const int64_t window = conv.kernel * conv.kernel;
  return MergeRows({t.out_blocks, t.in_blocks, window}, {conv.out_blocks, conv.in_blocks, window});
}

std::optional<TransferRows> OutputRows(const PackedConv& conv, const PackedTile& t) {
  return MergeRows({t.out_blocks, t.height, t.width}, {conv.out_blocks, conv.OutHeight(), conv.OutWidth()});
}

Rejection DmaIn(const PackedConv& conv, const PackedTile& t) {
  if (conv.padding > 0) {
    return Unless(t.in_blocks == 1, "{} blocks of channels with padding, which is two-dimensional", t.in_blocks);
  }
  return Unless(InputRows(conv, t).has_value(), "the tile of the input is three-dimensional");
}

Rejection DmaOut(const PackedConv& conv, const PackedTile& t) {
  return Unless(OutputRows(conv, t).has_value(), "the tile of the output is three-dimensional");
}

Rejection Verify(const PackedConv& conv, const PackedTile& t) {
  const UopList list = ListOf(conv, t);
  return Unless(!list.reduces || list.results >= HONE_VTA_READ_DISTANCE,
                "micro-operations read an accumulator {} after writing it, the pipeline needs {}", list.results,
                HONE_VTA_READ_DISTANCE);
}

Rejection FitsFields(const char* what, const std::optional<TransferRows>& rows) {
  if (!rows) return std::nullopt;  // the rules before
  for (const auto& [name, value] : {std::pair("rows", rows->rows), std::pair("columns", rows->columns),
                                    std::pair("stride", rows->rows > 1 ? rows->stride : 1)}) {
    if (value > kMostSize) return fmt::format("a transfer of {} with {} {}, at most {}", what, name, value, kMostSize);
  }
  return std::nullopt;
}

Rejection Limits(const HoneVtaConfig& config, const PackedConv& conv, const PackedTile& t) {
  const UopList list = ListOf(conv, t);
  if (Rejection uops = Fits(list.uops, config, HONE_VTA_UOP)) return uops;  // lists replace each other, as in a ring
  if (conv.padding > kMostPadding) return fmt::format("padding of {}, at most {}", conv.padding, kMostPadding);
  // The first tile along an axis begins in the padding. If it reaches the input, then so do all others.
  if (t.InHeight(conv) <= conv.padding || t.InWidth(conv) <= conv.padding) {
    return "a tile of the input is all padding";
  }
  if (Rejection input = FitsFields("inputs", InputRows(conv, t))) return input;
  if (Rejection weights = FitsFields("weights", WeightRows(conv, t))) return weights;
  if (Rejection output = FitsFields("results", OutputRows(conv, t))) return output;
  return Unless(list.longest_loop <= kMostIterations, "a loop of {} iterations, at most {}", list.longest_loop,
                kMostIterations);
}

}  // namespace

PackedTile PackedTile::Of(const Config& config) {
  const auto inner = [&](const char* name) { return config.Sizes(name).back(); };
  return {inner("tile_h"),           inner("tile_w"), inner("tile_ci"), inner("tile_co"), config.Number("oc_nthread"),
          config.Number("h_nthread")};
}

std::optional<TransferRows> MergeRows(const std::vector<int64_t>& extents, const std::vector<int64_t>& sizes) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // extent and distance, innermost first
  int64_t distance = 1;
  for (size_t k = extents.size(); k-- > 0; distance *= sizes[k]) {
    if (extents[k] == 1) continue;
    if (!dims.empty() && dims.back().first * dims.back().second == distance) {
      dims.back().first *= extents[k];
    } else {
      dims.push_back({extents[k], distance});
    }
  }
  if (dims.empty() || dims[0].second != 1) dims.insert(dims.begin(), {1, 1});
  if (dims.size() > 2) return std::nullopt;
  if (dims.size() == 1) return TransferRows{1, dims[0].first, dims[0].first};
  return TransferRows{dims[1].first, dims[0].first, dims[1].second};
}

search::Space Conv2dPackedSpace(const HoneVtaConfig& config, const PackedConv& conv) {
  HONE_CHECK(std::min(conv.height, conv.width) + 2 * conv.padding >= conv.kernel);
  search::Space space("conv2d_packed.vta");
  space.Add(Knob::Split("tile_b", 1, 2));
  space.Add(Knob::Split("tile_h", conv.OutHeight(), 2));
  space.Add(Knob::Split("tile_w", conv.OutWidth(), 2));
  space.Add(Knob::Split("tile_ci", conv.in_blocks, 2));
  space.Add(Knob::Split("tile_co", conv.out_blocks, 2));
  space.Add(Knob::Choice("oc_nthread", {1, 2}));
  space.Add(Knob::Choice("h_nthread", {1, 2}));
  using RuleOf = std::function<Rejection(const PackedTile&)>;
  const std::pair<const char*, RuleOf> rules[] = {
      {"threads", [=](const PackedTile& t) { return Threads(conv, t); }},
      {"inp",
       [=](const PackedTile& t) {
         return Fits(t.in_blocks * t.InHeight(conv) * t.InWidth(conv) * t.Threads(), config, HONE_VTA_INP);
       }},
      {"wgt",
       [=](const PackedTile& t) {
         return Fits(t.out_blocks * t.in_blocks * conv.kernel * conv.kernel * t.Threads(), config, HONE_VTA_WGT);
       }},
      {"acc",
       [=](const PackedTile& t) {
         return Fits(t.out_blocks * t.height * t.width * t.Threads(), config, HONE_VTA_ACC);
       }},
      {"dma_in", [=](const PackedTile& t) { return DmaIn(conv, t); }},
      {"dma_out", [=](const PackedTile& t) { return DmaOut(conv, t); }},
      {"verify", [=](const PackedTile& t) { return Verify(conv, t); }},
      {"limits", [=](const PackedTile& t) { return Limits(config, conv, t); }}};
  for (const auto& [name, rule] : rules) {
    space.AddRule({name, [rule = rule](const Config& c) { return rule(PackedTile::Of(c)); }});
  }
  return space;
}

}  // namespace hone::op
