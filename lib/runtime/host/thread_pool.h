// ThreadPool: a RAII wrapper of hone_pool_* (pool.h).
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
  // `pin` binds the workers and the calling thread to one core each. kIo if threads cannot be created.
  static Result<ThreadPool> Create(int threads, bool pin);

  int threads() const { return hone_pool_threads(pool_.get()); }
  Status Reserve(int64_t scratch_bytes);  // for each thread; not during a launch
  // hone_pool_lend_scratch: one block for each thread; an empty list restores the pool's own scratch.
  void LendScratch(const std::vector<char*>& blocks) {
    hone_pool_lend_scratch(pool_.get(), blocks.empty() ? nullptr : blocks.data());
  }
  char* scratch() { return hone_pool_scratch(pool_.get(), 0); }  // the calling thread's
  // The argument for kernels; valid as long as this object.
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
