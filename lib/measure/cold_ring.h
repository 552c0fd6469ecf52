// Copies of a task's constants, used in turn, so that every run finds its weights outside the private caches, as it does in
// a network where all the other layers' weights were read in between.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "runtime/host/buffer.h"

namespace hone::measure {

// One set of constants, several times over.
class ColdRing {
 public:
  // `sizes`: bytes of each constant. As many copies as `total_bytes` hold, at least 2, at most 4096.
  static Result<ColdRing> Create(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents,
                                 double total_bytes);

  // The next copy's addresses, one a constant. The order goes on from candidate to candidate.
  const std::vector<char*>& Next();
  int64_t bytes() const { return memory_.bytes(); }
  int copies() const { return static_cast<int>(copies_.size()); }

 private:
  runtime::AlignedBuffer memory_;
  std::vector<std::vector<char*>> copies_;
  size_t next_ = 0;
};

// Rings by content: candidates that pack their weights alike share one. Keeps the most recently used, up to a limit.
class RingCache {
 public:
  explicit RingCache(double total_bytes, size_t limit = 4) : total_bytes_(total_bytes), limit_(limit) {}

  // Valid until the next call. A candidate's own packed constants are `contents`.
  Result<ColdRing*> Get(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents);

 private:
  double total_bytes_;
  size_t limit_;
  std::list<std::pair<Digest, ColdRing>> rings_;  // most recent first
};

}  // namespace hone::measure
