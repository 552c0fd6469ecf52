// A workload compiled, linked, loaded and run in this process: for tests and benchmarks of operators. A kernel for
// another architecture runs under emulation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "op/operator.h"
#include "runtime/host/buffer.h"
#include "runtime/host/loader.h"
#include "runtime/host/thread_pool.h"
#include "unit/op/emulated_kernel.h"

namespace hone::testing {

// Inputs of all operands: deterministic, about N(0, 1), scaled so that outputs are about 1; lanes beyond the channels
// are zero. Outputs are filled with a signalling pattern (NaN), to expose elements that a kernel does not write.
struct OperandData {
  std::vector<Operand> operands;
  std::vector<std::vector<float>> values;  // one per operand, physical layout
  std::vector<void*> Pointers();
};
Result<OperandData> MakeOperandData(const Workload& workload, const Target& target, uint64_t seed);

class KernelCase {
 public:
  static Result<KernelCase> Create(const Workload& workload, const Target& target, const Candidate& candidate,
                                   runtime::ThreadPool* pool);
  static Result<KernelCase> Create(const Workload& workload, const Target& target, const Config& config,
                                   runtime::ThreadPool* pool);

  // Copies the inputs in, packs the constants, and fills the output with NaN.
  Status Load(const OperandData& data);
  // The same from operands of any types, each with its bytes.
  Status Load(const std::vector<Operand>& operands, const std::vector<std::string_view>& bytes);
  void Run();
  // Whether the bytes beside the buffers are unchanged.
  bool Intact() const;
  // For timing as in a network: makes `bytes` of copies of the constants, which RunCold uses in turn. Call it after
  // Load.
  Status MakeCold(int64_t bytes);
  // The pool's threads rewrite every data operand, like the previous layer.
  void TouchData(runtime::ThreadPool* pool);
  void NextCold();  // Run() uses the next copy of the constants
  const float* output() const { return reinterpret_cast<const float*>(operands_.back().data()); }
  std::string_view output_bytes() const {
    return {operands_.back().data(), static_cast<size_t>(operands_.back().bytes())};
  }
  const compile::CompiledKernel& compiled() const { return compiled_; }

 private:
  compile::CompiledKernel compiled_;
  std::vector<runtime::LoadedModule> module_;   // one
  std::vector<runtime::KernelRunner> runners_;  // prepare, if there is one, then the kernel, if it runs here
  std::vector<EmulatedKernel> emulated_;        // else the kernel, one
  std::vector<runtime::AlignedBuffer> operands_, prepared_;
  std::vector<void*> args_;
  std::vector<runtime::AlignedBuffer> cold_;  // copies of the constants, one buffer each
  std::vector<Operand> described_;
  size_t next_cold_ = 0;
};

// The largest |difference| of two physical outputs relative to max(1, |reference|), and its place; NaN counts as
// infinite unless the reference is NaN.
struct Difference {
  double worst = 0;
  size_t at = 0;
};
Difference Compare(const std::vector<float>& reference, const float* output);

}  // namespace hone::testing
