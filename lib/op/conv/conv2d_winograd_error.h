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
#pragma once

#include <cstdint>

namespace hone::op {

struct WinogradAxis {
  int64_t m, taps, phases;  // outputs of a tile; taps of the kernel; the stride. With one tap, all three are 1
};

// REQUIRES: m + ceil(taps / phases) - 1 is at most 10 (GoodPoints). Thread-safe.
double WinogradError(const WinogradAxis& rows, const WinogradAxis& columns, int64_t channels);

}  // namespace hone::op
