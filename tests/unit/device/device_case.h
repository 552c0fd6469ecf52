// Small device functions in their final form, and a way to run them on a device.
#pragma once

#include "common/bytes.h"
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "ir/stmt.h"
#include "runtime/device/device.h"
#include "target/target.h"

namespace hone::device_test {

inline std::vector<float> Ramp(int64_t n, float step) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = 0.25f + step * static_cast<float>(i % 97);
  return values;
}

inline Target CudaTarget(const std::string& arch) { return {.kind = &CudaKind(), .cpu = arch}; }

inline ir::Buffer Argument(const std::string& name, int64_t size, bool written = false, DType type = DType::Float(32)) {
  return ir::Buffer::Make(name, type, size, ir::Scope::kArgument, written);
}

inline ir::Stmt Blocks(const ir::Var& x, int64_t n, ir::Stmt body) {
  return ir::MakeFor(x, 0, ir::Expr(n), ir::ForKind::kBlockX, std::move(body));
}
inline ir::Stmt Threads(const ir::Var& x, int64_t n, ir::Stmt body) {
  return ir::MakeFor(x, 0, ir::Expr(n), ir::ForKind::kThreadX, std::move(body));
}

// out[i] = a * in[i] + in[i + 1], 257 elements: 3 blocks of 96 threads and a guard.
ir::Function Stencil();
// Two kernels with a workspace of global memory between them: squares, then sums of neighbours in reverse.
ir::Function TwoKernels();
// out = A (m x k) * B (k x n), tiles of 16 x 16 in shared memory, a 2 x 4 register tile per thread, vector loads. m, n
// and k are multiples of 16.
ir::Function TiledProduct(int64_t m, int64_t n, int64_t k);
// One warp of 8 x 4 threads. `rounds`: out = tf32(in), one element per thread; else a product of the warp.
ir::Function WithTf32(bool rounds);
// Each function of floats in its own block, over `size` elements.
ir::Function MathFunctions(int64_t size);

// A random program (tests/unit/codegen/random_program.h) as one thread of one block.
ir::Function RandomFunction(uint32_t seed);

// Runs the entry point on copies of the arguments and returns their contents afterwards. Fails the test on any error.
std::vector<Bytes> RunOn(runtime::Device* device, const Artifact& artifact, const std::string& symbol,
                         const std::vector<Bytes>& args);
std::vector<Bytes> Interpret(const ir::Function& f, std::vector<Bytes> args);

}  // namespace hone::device_test
