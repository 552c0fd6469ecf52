// The space of conv2d_winograd: knobs, rules. conv2d_winograd.h lists the knobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op/conv2d_shape.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::op {

// The layer as this template sees it.
struct WinogradLayer {
  Conv2dShape s;
  int64_t lanes = 16;
  int threads = 1, registers = 32;
  int64_t ic_blocks = 1, oc_blocks = 1;

  static WinogradLayer Of(const Workload& workload, const Target& target);
  int64_t TileRows(int64_t m) const;     // of one image
  int64_t TileColumns(int64_t m) const;  // in a row
  // Multiplications in proportion to those of a direct convolution, incomplete tiles included.
  double Work(int64_t m) const;
  // The m worth having: at most 0.9 of a direct convolution's multiplications. None: not a layer for Winograd.
  std::vector<int64_t> Sizes() const;
};

struct WinogradPoint {
  int64_t m;
  bool by_channel;  // form=oc_xi
  int64_t ocv, tiles, oc_block, block, unroll_ic, prefetch;

  static WinogradPoint Of(const Config& config);
  int64_t alpha() const { return m + 2; }
};

search::Space WinogradSpace(const WinogradLayer& layer);
Result<Config> WinogradDefault(const search::Space& space, const WinogradLayer& layer);

}  // namespace hone::op
