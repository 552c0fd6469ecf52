// The space of conv2d_direct: knobs, rules, default. conv2d_direct.h lists the knobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op/conv2d_shape.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::op {

// The layer as this template sees it: blocks of channels, and a 1x1 convolution as one row of pixels.
struct DirectLayer {
  Conv2dShape s;
  int64_t lanes = 16;
  int threads = 1, registers = 32;
  int64_t ic_blocks = 1;        // blocks of input channels of one group; 1 for a plain input
  int64_t ic_lanes = 16;        // channels of such a block: lanes, or all channels of a plain input
  int64_t oc_blocks = 1;        // blocks of output channels, all groups
  int64_t group_oc_blocks = 1;  // of one group
  bool pad = false;             // does any window reach outside the input?
  // Groups of `merged` original ones each, with zeros in the weights between them; s.cg and s.groups are the merged
  // ones'.
  int64_t merged = 1, raw_cg = 1, raw_og = 1;

  // How many groups become one, so that groups are whole blocks of channels or there is one group; 0 if this template
  // does not apply, as too much would be multiplied by zero.
  static int64_t MergedGroups(const Conv2dShape& shape, int64_t lanes);
  static DirectLayer Of(const Workload& workload, const Target& target);
  int64_t WeightBytes(int64_t oc) const;    // packed weights of `oc` blocks of output channels
  int64_t PadElements(int64_t rows) const;  // padded input of `rows` output rows of one image
  double FmaVectors() const;                // vector FMAs of the whole layer
};

struct DirectPoint {
  int64_t ocv, tile_oh, tile_ow, oc_block, row_block;
  bool rows_outer;  // inner=rows_oc
  int64_t ic_block, unroll_ic;
  bool unroll_kw;
  int64_t prefetch;    // bytes, into the first level
  bool prefetch_tile;  // the next tile's weights, into the second
  std::string pad, fetch;

  static DirectPoint Of(const Config& config);
};

search::Space DirectSpace(const DirectLayer& layer);
Result<Config> DirectDefault(const search::Space& space, const DirectLayer& layer);

}  // namespace hone::op
