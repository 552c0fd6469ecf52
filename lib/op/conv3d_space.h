// The space of conv3d_direct: knobs, rules, default; conv3d_direct.h lists the knobs.
#pragma once

#include <string>

#include "op/conv3d.h"
#include "search/space/space.h"

namespace hone::op {

struct Layer3d {
  Conv3dShape s;
  int64_t lanes = 16, registers = 32;
  int threads = 1;
  int64_t ic_blocks = 1, ic_lanes = 16;  // a plain input is one block of its real channels
  int64_t oc_blocks = 1;
  bool pad = false;

  static Layer3d Of(const Workload& workload, const Target& target);
  int64_t WeightBytes(int64_t oc) const { return oc * lanes * ic_blocks * ic_lanes * s.taps() * 4; }
  int64_t PadElements(int64_t rows) const;  // padded input of `rows` output rows of one depth
};

struct Point3d {
  int64_t ocv, tile_oh, tile_ow, oc_block, row_block;
  bool rows_outer;
  int64_t unroll_ic, prefetch;
  std::string pad;
  static Point3d Of(const Config& config);
};

search::Space Space3d(const Layer3d& layer);
Result<Config> Default3d(const search::Space& space, const Layer3d& layer);

}  // namespace hone::op
