// Cholesky factors of small symmetric matrices: n x n numbers row by row, of which the lower triangle counts.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::search {

// In place, L of L L^T. False if the matrix is not positive definite; what stands in it then is of no use.
bool Cholesky(size_t n, std::vector<double>* matrix);

// y = L^-1 y; y = L^-T y. One after the other they solve L L^T x = y.
void Forward(size_t n, const std::vector<double>& l, std::vector<double>* y);
void Backward(size_t n, const std::vector<double>& l, std::vector<double>* y);

}  // namespace hone::search
