#include "op/conv/cook_toom.h"

#include <numeric>

#include "base/check.h"

namespace hone::op {

using Coefficients = std::vector<Rational>;  // coefficient k of x^k

static int64_t Times(int64_t a, int64_t b) {
  int64_t product;
  HONE_CHECK(!__builtin_mul_overflow(a, b, &product));
  return product;
}

// The product of (x - p) over all points except the one at `without`, with `size` coefficients.
static Coefficients ProductOf(const std::vector<Rational>& points, size_t without, size_t size) {
  Coefficients product(size);
  product[0] = 1;
  size_t degree = 0;
  for (size_t j = 0; j < points.size(); ++j) {
    if (j == without) continue;
    ++degree;
    for (size_t k = degree + 1; k-- > 0;) {
      product[k] = (k > 0 ? product[k - 1] : Rational(0)) - points[j] * product[k];
    }
  }
  return product;
}

static Rational Power(Rational x, size_t exponent) {
  Rational power = 1;
  while (exponent-- > 0) power = power * x;
  return power;
}

Rational::Rational(int64_t n, int64_t d) : numerator(n), denominator(d) {
  HONE_CHECK(d != 0);
  int64_t common = std::gcd(n, d) * (d < 0 ? -1 : 1);
  numerator /= common;
  denominator /= common;
}

Rational operator+(Rational a, Rational b) {
  const int64_t common = std::gcd(a.denominator, b.denominator), x = b.denominator / common;
  return {Times(a.numerator, x) + Times(b.numerator, a.denominator / common), Times(a.denominator, x)};
}
Rational operator-(Rational a, Rational b) { return a + Rational(-b.numerator, b.denominator); }
Rational operator*(Rational a, Rational b) {
  Rational x(a.numerator, b.denominator), y(b.numerator, a.denominator);  // crosswise, to keep products small
  return {Times(x.numerator, y.numerator), Times(x.denominator, y.denominator)};
}
Rational operator/(Rational a, Rational b) { return a * Rational(b.denominator, b.numerator); }

Result<CookToom> MakeCookToom(int m, int r, const std::vector<Rational>& points) {
  if (m < 1 || r < 1) return Status::Invalid("F({},{}): m and r must be at least 1", m, r);
  const size_t n = static_cast<size_t>(m + r - 1);
  if (points.size() != n - 1) {
    return Status::Invalid("F({},{}) needs {} finite points, not {}", m, r, n - 1, points.size());
  }
  CookToom t{m, r, RationalMatrix(m, std::vector<Rational>(n)), RationalMatrix(n, std::vector<Rational>(r)), {}};
  for (size_t i = 0; i + 1 < n; ++i) {
    Rational scale = 1;
    for (size_t j = 0; j + 1 < n; ++j) {
      if (j != i) scale = scale * (points[i] - points[j]);
    }
    if (scale == Rational(0)) return Status::Invalid("F({},{}): a point is given twice", m, r);
    for (int k = 0; k < m; ++k) t.at[k][i] = Power(points[i], k);
    for (int k = 0; k < r; ++k) t.g[i][k] = Power(points[i], k) / scale;
    t.bt.push_back(ProductOf(points, i, n));
  }
  t.at[m - 1][n - 1] = 1;
  t.g[n - 1][r - 1] = 1;
  t.bt.push_back(ProductOf(points, n, n));
  return t;
}

std::vector<Rational> GoodPoints(int multiplications) {
  HONE_CHECK(multiplications >= 1 && multiplications <= 10);
  // Of all sets of small fractions in pairs, the ones with the least float32 error in random convolutions. For six
  // multiplications, the usual pairs +-1 and +-2 have three times the error of +-3/4 and +-3/2.
  const Rational half(1, 2), three_quarters(3, 4), five_quarters(5, 4), three_halves(3, 2);
  auto pairs = [](std::vector<Rational> points, const std::vector<Rational>& positive) {
    for (Rational p : positive) {
      points.push_back(p);
      points.push_back(Rational(0) - p);
    }
    return points;
  };
  switch (multiplications) {
    case 1:
      return {};
    case 2:
      return {0};
    case 3:
      return pairs({}, {1});
    case 4:
      return pairs({0}, {1});
    case 5:
      return pairs({}, {half, five_quarters});
    case 6:
      return pairs({0}, {three_quarters, three_halves});
    case 7:
      return {0, {2, 3}, {-2, 3}, 1, -1, 3};
    case 8:
      return pairs({0}, {1, 2, half});
    case 9:
      return pairs({}, {half, three_quarters, five_quarters, 2});
    default:
      return pairs({0}, {half, three_quarters, {4, 3}, 2});
  }
}

}  // namespace hone::op
