// A candidate's shared object, loaded into this process: its functions, and memory for its packed constants.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"
#include "runtime/host/buffer.h"
#include "runtime/host/loader.h"
#include "runtime/host/thread_pool.h"

namespace hone::measure {

// Movable. The destructor unloads the library. Use it only from the pool's thread 0.
class LoadedKernel {
 public:
  // Returns kInvalid, saying which, if it cannot be loaded, lacks a function, or its arguments do not fit `operands`.
  // `pool` must outlive it.
  static Result<LoadedKernel> Load(const BuiltKernel& kernel, const std::vector<Operand>& operands,
                                   runtime::ThreadPool* pool);

  // Packs the constants; `operands` has one address per operand. Runs the candidate's code.
  Status Prepare(const std::vector<char*>& operands);
  std::vector<runtime::AlignedBuffer>& prepared() { return prepared_; }

  // Sets the buffers of the next runs: addresses by index. Call it before the first run, and after runs of other
  // kernels.
  void Bind(const std::vector<char*>& operands, const std::vector<char*>& prepared);
  void Run() { kernel_->Run(arguments_); }

  // Whether the bytes around the prepared constants, the workspaces and the threads' scratch are unchanged.
  bool Intact() const;

  const BuiltKernel& built() const { return built_; }

 private:
  LoadedKernel(const BuiltKernel& kernel, runtime::LoadedModule module) : built_(kernel), module_(std::move(module)) {}

  BuiltKernel built_;
  runtime::LoadedModule module_;
  std::optional<runtime::KernelRunner> kernel_;
  std::optional<runtime::KernelRunner> prepare_;
  std::vector<runtime::AlignedBuffer> prepared_;
  std::vector<void*> arguments_;
};

}  // namespace hone::measure
