// The space of conv2d_direct and conv3d_direct: knobs, rules, default. conv_direct.h lists the knobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "op/conv/conv_volume.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::op {

// The layer as this template sees it: blocks of channels, and a 1x1 convolution as one row of pixels. A plane is one
// depth of one image of the output.
struct DirectLayer : ConvVolume {
  int64_t lanes = 16;
  int threads = 1, registers = 32;
  int64_t ic_blocks = 1;        // blocks of input channels of one group; 1 for a plain input
  int64_t ic_lanes = 16;        // channels of such a block: lanes, or all channels of a plain input
  int64_t oc_blocks = 1;        // blocks of output channels of all groups
  int64_t group_oc_blocks = 1;  // per group
  bool pad = false;             // whether any window reaches outside the input
  // The share of (output row, tap) pairs of all axes but the last that lie inside the input, and of (column, tap)
  // pairs.
  double inside_rows = 1, inside_columns = 1;
  // Number of original groups per merged group, with zeros in the weights between them; s.cg and s.groups are for
  // merged groups.
  int64_t merged = 1, raw_cg = 1, raw_og = 1;

  // How many groups to merge, so that groups are whole blocks of channels or there is one group; 0 if this template
  // does not apply, because too many multiplications by zero would result.
  static int64_t MergedGroups(const Conv2dShape& shape, int64_t lanes);
  // For a conv2d or a conv3d; `merge`: with merged groups.
  static DirectLayer Of(const Workload& workload, const Target& target, bool merge = true);
  int64_t planes() const { return s.n * depth.out; }
  int64_t WeightBytes(int64_t oc) const;  // packed weights of `oc` blocks of output channels
  // Elements of the padded input for `rows` output rows of `planes` planes.
  int64_t PadElements(int64_t rows, int64_t planes) const;
  double FmaVectors() const;  // vector FMAs of the whole layer
  bool pads_columns() const { return s.pl > 0 || s.pw() > s.w; }
  // Whether a quarter of all taps or more lie in padding, so that skipping them may pay.
  bool MaySkip() const { return inside_rows * inside_columns <= 0.75; }
  // With pad=skip, columns in padding are skipped in tiles of whole rows: there, they are known at compile time.
  bool SkipsColumns(int64_t tile_ow) const { return !pads_columns() || tile_ow == s.ow; }
  // The share of the multiply-adds that pad=skip leaves.
  double ShareInside(int64_t tile_ow) const { return inside_rows * (SkipsColumns(tile_ow) ? inside_columns : 1); }

  // For LayerTemplate.
  Space MakeSpace(const char* name) const;
  Result<Config> Default(const Space& space) const;
  Candidate Build(const Workload& workload, const Target& target, const Config& config) const;
};

struct DirectPoint {
  int64_t ocv, tile_oh, tile_ow, oc_block, row_block;
  bool rows_outer;  // inner=rows_oc
  int64_t ic_block, unroll_ic;
  bool unroll_kw;
  int64_t prefetch;    // bytes, into the first level
  bool prefetch_tile;  // the next tile's weights, into the second
  std::string pad, fetch;
  int64_t planes;  // 1 if the space lacks this knob

  static DirectPoint Of(const Config& config);
  // Splits the planes of a task into a block of depths and one of images.
  int64_t Depths(const DirectLayer& layer) const { return std::min(planes, layer.depth.out); }
  int64_t Images(const DirectLayer& layer) const { return planes / Depths(layer); }
};

}  // namespace hone::op
