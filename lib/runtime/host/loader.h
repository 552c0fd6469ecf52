// Loads a shared object of kernels into this process: dlopen, find, run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel_abi.h"
#include "runtime/host/thread_pool.h"
#include "target/artifact.h"

namespace hone::runtime {

class LoadedModule {
 public:
  // Fails with kNotFound, kInvalid, or kIo (out of memory or descriptors), quoting the loader. The object's symbols
  // stay local to it. The file may be removed once this returns.
  static Result<LoadedModule> Open(const std::string& path);

  Result<HoneKernel> Find(const std::string& symbol) const;  // kNotFound

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  LoadedModule(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<void, Close> handle_;  // unloads when destroyed; no kernel of it may be running then
  std::string path_;
};

// Guarded blocks that replace a pool's own scratch. Movable. Its destructor gives threads that use these blocks the
// pool's scratch again: do not destroy it during a launch.
class LentScratch {
 public:
  LentScratch() = default;  // lends nothing
  // Creates a block of `bytes` between guard pages for each thread of `pool`, which must outlive this. Lends nothing
  // yet.
  static Result<LentScratch> Create(ThreadPool* pool, int64_t bytes);
  LentScratch(LentScratch&& other) noexcept { *this = std::move(other); }
  LentScratch& operator=(LentScratch&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(blocks_, other.blocks_);
    return *this;
  }
  ~LentScratch();

  void Lend();          // in force until other blocks are lent
  bool Intact() const;  // whether the bytes beside the blocks are unchanged

 private:
  ThreadPool* pool_ = nullptr;
  std::vector<AlignedBuffer> blocks_;  // one for each thread
};

// One kernel, ready to run: grows the pool's scratch and keeps a workspace.
class KernelRunner {
 public:
  // `pool` must outlive this. Set `guard` for untrusted kernels: the workspace and a scratch block for each thread, of
  // exactly the entry's sizes, then lie between guard pages (buffer.h), and TakeScratch() must precede Run().
  static Result<KernelRunner> Create(const LoadedModule& module, const EntryPoint& entry, ThreadPool* pool,
                                     bool guard = false);
  // Gives a guarded runner's scratch to the pool's threads, until another runner does so or this one is destroyed.
  // Separate from Run() because Run() is timed.
  void TakeScratch();
  bool Intact() const;  // whether the bytes beside workspace and scratch are unchanged

  // `buffers` has one pointer for each argument of the entry, in order. Returns when all results are written.
  void Run(const std::vector<void*>& buffers) { Run(buffers.data()); }
  void Run(void* const* buffers) { kernel_(buffers, &parallel_, workspace_.data(), pool_->scratch()); }

 private:
  HoneKernel kernel_ = nullptr;
  ThreadPool* pool_ = nullptr;
  HoneParallel parallel_{};
  AlignedBuffer workspace_;
  LentScratch scratch_;  // only of a guarded runner
};

}  // namespace hone::runtime
