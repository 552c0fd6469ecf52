// The space of conv2d_winograd: knobs and rules. conv2d_winograd.h lists the knobs.
#pragma once

#include <cstdint>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::op {

// The tiles of a layer for one m: F(mh, rh) along rows of the image, F(mw, rw) along columns; an axis with one tap has
// m = r = 1. With a stride the taps fall into `stride` phases per axis, each a convolution of stride 1 with r taps or
// one less; phases are summed like channels.
struct WinogradTiles {
  int64_t mh, mw;          // outputs of a tile
  int64_t rh, rw;          // largest number of taps of a phase
  int64_t ah, aw;          // transformed elements: m + r - 1
  int64_t sh, sw;          // phases
  int64_t full_h, full_w;  // phases with all r taps; the last element of the others is 0
  int64_t rows, columns;   // per image
  int64_t count;           // for all images

  bool both() const { return ah > 1 && aw > 1; }
  bool strided() const { return full_h < sh || full_w < sw; }
  // Products per input and output channel for one tile.
  int64_t Products() const { return (ah * sh - (sh - full_h)) * (aw * sw - (sw - full_w)); }
};

// The layer as this template sees it.
struct WinogradLayer {
  Conv2dShape s;
  int64_t lanes = 16;
  int threads = 1, registers = 32;
  int64_t ic_blocks = 1, oc_blocks = 1;
  // Outputs are pooled (maximum or average) by disjoint windows of pool x pool. 1: no pooling.
  int64_t pool = 1;
  bool pool_max = true;

  static WinogradLayer Of(const Workload& workload, const Target& target);
  WinogradTiles Tiles(int64_t m) const;
  // Whether the output contains partial tiles.
  bool Ragged(int64_t m) const;
  // Whether whole tiles are computed before the output takes the existing part of them.
  bool MakesTiles(int64_t m) const { return pool > 1 || Ragged(m); }
  // Rows and columns that the tiles of an image read, and whether they exceed those that exist.
  int64_t Height(int64_t m) const;
  int64_t Width(int64_t m) const;
  bool NeedsPad(int64_t m) const { return s.pt > 0 || s.pl > 0 || Height(m) > s.h || Width(m) > s.w; }
  // Multiplications relative to a direct convolution, including incomplete tiles.
  double Work(int64_t m) const;
  // The expected largest error (conv2d_winograd_error.h). REQUIRES: as there.
  double Error(int64_t m) const;
  // Whether tiles of m outputs can compute it with an error within WinogradErrorBound.
  bool Computes(int64_t m) const;
  // The useful m among them: at most 0.9 of a direct convolution's multiplications. Empty: the layer does not suit
  // Winograd.
  std::vector<int64_t> Sizes() const;
};

// The bound of the largest error against double precision in standard deviations of the output, for all taps and
// channels that Sizes() accepts. winograd_test checks it on layers of 64 and 256 channels.
double WinogradErrorBound(int64_t m);

enum class WinogradPrefetch { kNone, kNear, kFar };

struct WinogradPoint {
  int64_t m;
  bool by_channel;  // form=oc_xi
  int64_t ocv, tiles, oc_block, block;
  WinogradPrefetch prefetch;

  static WinogradPoint Of(const Config& config);
  // Input channels unrolled in the products: large register tiles hide a loop's cost without unrolling.
  int64_t UnrollIc() const { return ocv * tiles >= 16 ? 4 : 8; }
};

search::Space WinogradSpace(const WinogradLayer& layer, const char* name = "conv2d_winograd");
// The legal point with the least estimated time.
Result<Config> WinogradDefault(const search::Space& space, const WinogradLayer& layer);

}  // namespace hone::op
