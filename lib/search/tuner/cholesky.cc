#include "search/tuner/cholesky.h"

#include <cmath>

namespace hone::search {

bool Cholesky(size_t n, std::vector<double>* matrix) {
  std::vector<double>& m = *matrix;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = m[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= m[i * n + k] * m[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        m[i * n + i] = std::sqrt(sum);
      } else {
        m[i * n + j] = sum / m[j * n + j];
      }
    }
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
