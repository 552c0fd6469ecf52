// Copies of a task's constants, used in turn, so that each run finds its weights outside the private caches, as in a
// network that has read all the other layers' weights in between.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"

namespace hone::measure {

// Several copies of one set of constants, each surrounded by marked bytes.
class ColdRing {
 public:
  // The next copy's addresses, one per constant. The order continues from candidate to candidate.
  const std::vector<char*>& Next();
  // Whether the bytes around the constants of the copy that Next() returned last are unchanged.
  bool Intact() const;
  int copies() const { return static_cast<int>(copies_.size()); }
  // Makes as many copies as fit into `total_bytes`, at least 2 and at most 4096; of large constants 8, or as many as
  // fit into three times `total_bytes`. All threads of the pool fill them. Keeps its memory if that is large enough, as
  // new pages cost more than copying.
  Status Fill(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents, double total_bytes,
              runtime::ThreadPool* pool);

 private:
  runtime::AlignedBuffer memory_;
  std::vector<int64_t> sizes_;
  std::vector<std::vector<char*>> copies_;
  size_t last_ = 0, next_ = 0;
};

// Rings by content: candidates that pack their weights alike share one. Keeps the most recently used ones, up to a
// limit.
class RingCache {
 public:
  RingCache(double total_bytes, size_t limit) : total_bytes_(total_bytes), limit_(limit) {}

  // `sizes` has the bytes of each constant. The ring is valid until `limit` other contents were requested.
  Result<ColdRing*> Get(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents,
                        runtime::ThreadPool* pool);
  // Rings beyond the new limit go, the least recently used ones first.
  void SetLimit(size_t limit);
  void Forget() { digests_.clear(); }  // contents may be overwritten: refills every ring before its next use

 private:
  double total_bytes_;
  size_t limit_;
  std::list<ColdRing> rings_;  // most recently used first
  std::list<Digest> digests_;  // of the first rings, in order
};

}  // namespace hone::measure
