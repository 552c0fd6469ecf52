// A shared object of kernels in this process: dlopen, find, run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel_abi.h"
#include "runtime/host/lent_scratch.h"
#include "runtime/host/thread_pool.h"
#include "target/artifact.h"

namespace hone::runtime {

class LoadedModule {
 public:
  // kNotFound, kInvalid, or kIo (no memory, no descriptors), with the loader's own words. Symbols of the object stay
  // local to it. The file may be removed once this returns.
  static Result<LoadedModule> Open(const std::string& path);

  Result<HoneKernel> Find(const std::string& symbol) const;  // kNotFound

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  LoadedModule(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<void, Close> handle_;  // unloads with this; no kernel of it may run then
  std::string path_;
};

// One kernel, ready to run: grows the pool's scratch and keeps a workspace.
class KernelRunner {
 public:
  // `pool` must outlive this. `guard`: for untrusted kernels. The workspace and a scratch block for each thread, of
  // just the size that the entry says, lie between guard pages (buffer.h), and TakeScratch() comes before Run().
  static Result<KernelRunner> Create(const LoadedModule& module, const EntryPoint& entry, ThreadPool* pool,
                                     bool guard = false);
  // Makes a guarded one's scratch that of the pool's threads, until another takes its turn, or this goes and the pool
  // has its own again. Apart from Run(), which is what is timed.
  void TakeScratch();
  bool Intact() const;  // nothing was written beside workspace and scratch

  // `buffers`: one pointer an argument of the entry, in order. Returns when all is written.
  void Run(const std::vector<void*>& buffers) { Run(buffers.data()); }
  void Run(void* const* buffers) { kernel_(buffers, &parallel_, workspace_.data(), pool_->scratch()); }

 private:
  HoneKernel kernel_ = nullptr;
  ThreadPool* pool_ = nullptr;
  HoneParallel parallel_{};
  AlignedBuffer workspace_;
  LentScratch scratch_;  // of a guarded one; else nothing
};

}  // namespace hone::runtime
