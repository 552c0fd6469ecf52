// A shared object of kernels in this process: dlopen, find, run.
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

// Guarded blocks that stand in for a pool's own scratch. Movable. When it goes, a pool whose threads have its blocks
// gets its own scratch again: not during a launch.
class LentScratch {
 public:
  LentScratch() = default;  // lends nothing
  // A block of `bytes` between guard pages for each thread of `pool`, which must outlive this. Nothing is lent yet.
  static Result<LentScratch> Create(ThreadPool* pool, int64_t bytes);
  LentScratch(LentScratch&& other) noexcept { *this = std::move(other); }
  LentScratch& operator=(LentScratch&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(blocks_, other.blocks_);
    return *this;
  }
  ~LentScratch();

  void Lend();          // until another's blocks are lent
  bool Intact() const;  // nothing was written beside the blocks

 private:
  ThreadPool* pool_ = nullptr;
  std::vector<AlignedBuffer> blocks_;  // one a thread
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
