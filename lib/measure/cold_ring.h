// Copies of a task's constants, used in turn, so that every run finds its weights outside the private caches, as it
// does in a network where all the other layers' weights were read in between.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"

namespace hone::measure {

// One set of constants, several times over, with marked bytes around each of them.
class ColdRing {
 public:
  // The next copy's addresses, one a constant. The order continues from candidate to candidate.
  const std::vector<char*>& Next();
  // Nothing was written beside the constants of the copy that Next() gave last.
  bool Intact() const;
  int copies() const { return static_cast<int>(copies_.size()); }
  // Makes it hold as many copies as `total_bytes` have room for, at least 2, at most 4096; of large constants 8, or as
  // many as three times `total_bytes` have room for. Filled by all threads of the pool; keeps its memory where that is
  // large enough, as fresh pages cost more than the copying.
  Status Fill(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents, double total_bytes,
              runtime::ThreadPool* pool);

 private:
  runtime::AlignedBuffer memory_;
  std::vector<int64_t> sizes_;
  std::vector<std::vector<char*>> copies_;
  size_t last_ = 0, next_ = 0;
};

// Rings by content: candidates that pack their weights alike share one. Keeps the most recently used, up to a limit.
class RingCache {
 public:
  RingCache(double total_bytes, size_t limit) : total_bytes_(total_bytes), limit_(limit) {}

  // `sizes`: bytes of each constant. The ring is good until `limit` other contents were asked for.
  Result<ColdRing*> Get(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents,
                        runtime::ThreadPool* pool);
  void Forget() { digests_.clear(); }  // contents may be spoilt: fill every ring again before it is used

 private:
  double total_bytes_;
  size_t limit_;
  std::list<ColdRing> rings_;  // most recent first
  std::list<Digest> digests_;  // of the first rings, in their order
};

}  // namespace hone::measure
