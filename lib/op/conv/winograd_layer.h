// A layer as Winograd's tiles see it: their sizes, the arithmetic that they save, and their inaccuracy.
#pragma once

#include <cstdint>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "target/target.h"

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

struct WinogradLayer {
  Conv2dShape s;
  int64_t lanes = 16;
  int64_t ic_blocks = 1, oc_blocks = 1;
  // Outputs are pooled (maximum or average) by disjoint windows of pool x pool. 1: no pooling.
  int64_t pool = 1;
  bool pool_max = true;

  // For a convolution, or a group of one and a pool.
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
  // The expected largest error (WinogradError). REQUIRES: as there.
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

// The inaccuracy of Winograd in single precision, predicted without running it.
//
// With inputs and weights of variance 1, the products that are summed for element (i, j) of a tile have the variance
// b_i^2 b_j^2 g_i^2 g_j^2: b_i^2 is the sum of the squares of row i of B^T, g_i^2 that of row i of G (over the taps
// that a phase has). A sum of n such products is off by about sqrt(n / 2) half units in the last place of itself; A^T
// carries that to output y. In standard deviations of the output, which are sqrt(channels * taps), an axis so
// multiplies variances by
//
//   E = max over y of sum over i of A^T[y][i]^2 b_i^2 (sum over phases of g_i^2), divided by its taps
//
// and the largest error of a layer is about 2.15 * 2^-24 * sqrt(n E_h E_w), n = channels * phases. 2.15 is the largest
// factor measured on layers of 64 and 256 channels with windows along both axes (3x3, 5x5, 7x7 with stride 2;
// winograd_test); F(2x2, 7x7) had 1.9. It covers the 1/2, the maximum over many errors, and the rounding of the
// transforms themselves. Windows along one axis have up to 1.2 times as much, far from their bounds.

struct WinogradAxis {
  int64_t m, taps, phases;  // outputs of a tile; taps of the kernel; the stride. With one tap, all three are 1
};

// REQUIRES: m + ceil(taps / phases) - 1 is at most 10 (GoodPoints). Thread-safe.
double WinogradError(const WinogradAxis& rows, const WinogradAxis& columns, int64_t channels);

}  // namespace hone::op
