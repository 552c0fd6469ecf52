// LentScratch: guarded blocks that stand in for a pool's own scratch.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"

namespace hone::runtime {

// Movable. When it goes, a pool whose threads have its blocks gets its own scratch again: not during a launch.
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

}  // namespace hone::runtime
