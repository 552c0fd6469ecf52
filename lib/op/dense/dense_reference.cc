#include "op/dense/dense_reference.h"

#include "op/epilogue.h"
#include "op/shapes.h"

namespace hone::op {

void DenseReference(const Workload& workload, const std::vector<Operand>& operands,
                    const std::vector<float*>& buffers) {
  int64_t n = workload.inputs[0].shape[0], k = workload.inputs[0].shape[1], m = workload.inputs[1].shape[0];
  std::vector<double> out(n * m);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const float* a = buffers[0] + i * k;
      const float* b = buffers[1] + j * k;
      double sum = 0;
      for (int64_t x = 0; x < k; ++x) sum += static_cast<double>(a[x]) * b[x];
      out[i * m + j] = sum;
    }
  }
  ReferenceEpilogue(workload, {operands.begin() + 2, operands.end() - 1}, {buffers.begin() + 2, buffers.end() - 1},
                    operands.back().logical, &out);
  WritePlain(operands.back(), out, buffers.back());
}

}  // namespace hone::op
