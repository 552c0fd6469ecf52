// Cook-Toom (Winograd) transforms: m outputs of a correlation with r taps by m + r - 1 multiplications,
//
//   y = A^T [ (G g) * (B^T d) ]      y[k] = sum_j d[k + j] * g[j]
//
// d: m + r - 1 inputs, g: r taps, * elementwise. With n = m + r - 1 and n - 1 distinct finite points p (the n-th is
// infinity), L_i the product of (x - p_j) over j != i, and M the product over all j:
//
//   A^T[k][i] = p_i^k                      last column: 0 .. 0 1
//   G[i][k]   = p_i^k / L_i(p_i)           last row:    0 .. 0 1
//   B^T[i][k] = coefficient k of L_i       last row:    those of M
//
// which is transposed Lagrange interpolation (Winograd, Arithmetic Complexity of Computations, 1980). The points
// determine the accuracy: large and clustered ones are bad; pairs +-p let the transforms share half of their sums.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace hone::op {

// Exact, in lowest terms, with a positive denominator. Numerators and denominators are small here; overflow is a bug.
struct Rational {
  int64_t numerator = 0, denominator = 1;

  Rational() = default;
  Rational(int64_t n, int64_t d = 1);  // NOLINT: whole numbers convert
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  bool operator==(const Rational&) const = default;
};
Rational operator+(Rational a, Rational b);
Rational operator-(Rational a, Rational b);
Rational operator*(Rational a, Rational b);
Rational operator/(Rational a, Rational b);  // REQUIRES: b is not 0

using RationalMatrix = std::vector<std::vector<Rational>>;  // rows

struct CookToom {
  int m = 0, r = 0;
  RationalMatrix at, g, bt;  // A^T: m x n, G: n x r, B^T: n x n
};

// Returns kInvalid if m or r is below 1, or if there are not m + r - 2 distinct points.
Result<CookToom> MakeCookToom(int m, int r, const std::vector<Rational>& points);

// Finite points that keep float32 errors low for m + r - 1 multiplications, 1 .. 10 of them.
std::vector<Rational> GoodPoints(int multiplications);

}  // namespace hone::op
