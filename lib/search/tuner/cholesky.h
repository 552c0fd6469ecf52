// Cholesky factors of small symmetric matrices: n x n numbers row by row; only the lower triangle is used.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::search {

// Replaces a matrix by L with L L^T = matrix. Returns false, with the matrix destroyed, if it is not positive definite.
bool Cholesky(size_t n, std::vector<double>* matrix);

// y = L^-1 y; y = L^-T y. One after the other they solve L L^T x = y.
void Forward(size_t n, const std::vector<double>& l, std::vector<double>* y);
void Backward(size_t n, const std::vector<double>& l, std::vector<double>* y);

}  // namespace hone::search
