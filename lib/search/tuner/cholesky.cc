#include "search/tuner/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hone::search {

namespace {

// The order of the sums decides the last bits of all predictions, and this file is compiled with permission to change
// it. So the sums of a factor are written out with vectors, in functions that are not inlined.
typedef double Two __attribute__((vector_size(16)));
constexpr size_t kTwos = 4;
constexpr size_t kBlock = 2 * kTwos;  // rows computed together: as many sums do not wait for each other

Two Load(const double* at) {
  Two two;
  std::memcpy(&two, at, sizeof two);
  return two;
}

// Minus the products of the first `count` terms, an even number, of a block's rows with those of row j. The terms with
// an even and with an odd k are summed apart.
[[gnu::noinline]] void SumBlock(const double* columns, size_t width, size_t first, size_t j, size_t count,
                                double* sums) {
  Two even[kTwos] = {}, odd[kTwos] = {};
  for (size_t k = 0; k < count; k += 2) {
    const double *a = columns + k * width, *b = a + width;
    const Two factor_a = {a[j], a[j]}, factor_b = {b[j], b[j]};
    for (size_t t = 0; t < kTwos; ++t) {
      even[t] -= Load(a + first + 2 * t) * factor_a;
      odd[t] -= Load(b + first + 2 * t) * factor_b;
    }
  }
  for (size_t t = 0; t < kTwos; ++t) {
    even[t] += odd[t];
    std::memcpy(sums + 2 * t, &even[t], sizeof even[t]);
  }
}

[[gnu::noinline]] void SubtractTerm(const double* term, double factor, size_t count, double* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] -= term[i] * factor;
}

}  // namespace

// Column by column. `columns` has the factor transposed, so that the rows of a block lie side by side.
bool Cholesky(size_t n, std::vector<double>* matrix) {
  std::vector<double>& m = *matrix;
  const size_t width = (n + kBlock - 1) / kBlock * kBlock;
  std::vector<double> columns(n * width, 0);
  for (size_t j = 0; j < n; ++j) {
    double* column = columns.data() + j * width;
    for (size_t i = j; i < n; ++i) column[i] = m[i * n + j];
    for (size_t first = j / kBlock * kBlock; j > 1 && first < n; first += kBlock) {
      double sums[kBlock];
      SumBlock(columns.data(), width, first, j, j / 2 * 2, sums);
      for (size_t i = std::max(first, j); i < std::min(first + kBlock, n); ++i) column[i] += sums[i - first];
    }
    if (j % 2 == 1) SubtractTerm(column - width + j, (column - width)[j], n - j, column + j);
    if (!(column[j] > 0)) return false;
    column[j] = std::sqrt(column[j]);
    for (size_t i = j + 1; i < n; ++i) column[i] /= column[j];
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) m[i * n + j] = columns[j * width + i];
  }
  return true;
}

void Forward(size_t n, const std::vector<double>& l, std::vector<double>* y) {
  for (size_t i = 0; i < n; ++i) {
    double sum = (*y)[i];
    for (size_t k = 0; k < i; ++k) sum -= l[i * n + k] * (*y)[k];
    (*y)[i] = sum / l[i * n + i];
  }
}

void Backward(size_t n, const std::vector<double>& l, std::vector<double>* y) {
  for (size_t i = n; i-- > 0;) {
    double sum = (*y)[i];
    for (size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * (*y)[k];
    (*y)[i] = sum / l[i * n + i];
  }
}

}  // namespace hone::search
