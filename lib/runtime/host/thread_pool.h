// ThreadPool: hone_pool_* (pool.h) as a value that cleans up after itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/host/kernel_abi.h"
#include "runtime/host/pool.h"

namespace hone::runtime {

class ThreadPool {
 public:
  // `pin`: the workers and the calling thread are bound to one core each. kIo if threads cannot be made.
  static Result<ThreadPool> Create(int threads, bool pin);

  int threads() const { return hone_pool_threads(pool_.get()); }
  Status Reserve(int64_t scratch_bytes);                         // of every thread; not during a launch
  // hone_pool_lend_scratch: one block a thread, or none for its own again.
  void LendScratch(const std::vector<char*>& blocks) {
    hone_pool_lend_scratch(pool_.get(), blocks.empty() ? nullptr : blocks.data());
  }
  char* scratch() { return hone_pool_scratch(pool_.get(), 0); }  // the caller's
  // The argument for kernels; valid while this object lives.
  HoneParallel parallel() { return {hone_pool_launch, pool_.get()}; }
  HonePool* get() { return pool_.get(); }

 private:
  struct Destroy {
    void operator()(HonePool* pool) const { hone_pool_destroy(pool); }
  };
  explicit ThreadPool(HonePool* pool) : pool_(pool) {}
  std::unique_ptr<HonePool, Destroy> pool_;
};

}  // namespace hone::runtime
