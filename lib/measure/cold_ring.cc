#include "measure/cold_ring.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hone::measure {
namespace {

constexpr int64_t kFence = 64;  // bytes behind each constant, and before the first, at least
// Large constants still get this many copies, in up to this many times the bytes: two or three copies could stay in the
// last-level cache, while a network would have read other data in between.
constexpr double kFewCopies = 8, kMoreBytes = 3;

// Bytes of a constant and its padding, so that the next one is aligned.
int64_t Stride(int64_t bytes) { return (bytes + 63) / 64 * 64 + kFence; }

struct FillJob {
  const std::vector<std::vector<char*>>& copies;
  const std::vector<int64_t>& sizes;
  const std::vector<const char*>& contents;
};

void FillBody(void* closure, int64_t begin, int64_t end, char*) {
  const FillJob& job = *static_cast<const FillJob*>(closure);
  for (int64_t c = begin; c < end; ++c) {
    const std::vector<char*>& addresses = job.copies[static_cast<size_t>(c)];
    for (size_t i = 0; i < addresses.size(); ++i) {
      std::memcpy(addresses[i], job.contents[i], static_cast<size_t>(job.sizes[i]));
      runtime::AlignedBuffer::Mark(addresses[i] + job.sizes[i], addresses[i] + Stride(job.sizes[i]));
    }
  }
}

}  // namespace

Status ColdRing::Fill(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents, double total_bytes,
                      runtime::ThreadPool* pool) {
  int64_t one = 0;
  for (const int64_t size : sizes) one += Stride(size);
  const auto each = static_cast<double>(one);
  const double bytes_of_all = std::clamp(kFewCopies * each, total_bytes, kMoreBytes * total_bytes);
  const double fit = one > 0 ? bytes_of_all / each : 2;
  const int64_t copies = std::clamp<int64_t>(static_cast<int64_t>(fit), 2, 4096);
  const int64_t needed = kFence + copies * one;
  if (memory_.bytes() < needed) {
    const int64_t bytes = std::max(needed, kFence + static_cast<int64_t>(total_bytes));
    HONE_ASSIGN_OR_RETURN(memory_, runtime::AlignedBuffer::Create(bytes, /*guard=*/true));
  }
  sizes_ = sizes;
  copies_.clear();
  last_ = next_ = 0;
  // Place it at the end of the memory, next to the guard page.
  char* at = memory_.data() + (memory_.bytes() - needed) / 64 * 64 + kFence;
  runtime::AlignedBuffer::Mark(at - kFence, at);
  for (int64_t c = 0; c < copies; ++c) {
    std::vector<char*> addresses;
    for (const int64_t size : sizes) {
      addresses.push_back(at);
      at += Stride(size);
    }
    copies_.push_back(std::move(addresses));
  }
  FillJob job{copies_, sizes, contents};
  hone_pool_launch(pool->get(), FillBody, &job, copies);
  return Status();
}

const std::vector<char*>& ColdRing::Next() {
  last_ = next_;
  next_ = (next_ + 1) % copies_.size();
  return copies_[last_];
}

bool ColdRing::Intact() const {
  const std::vector<char*>& copy = copies_[last_];
  for (size_t i = 0; i < copy.size(); ++i) {
    if (!runtime::AlignedBuffer::Untouched(copy[i] - kFence, copy[i]) ||
        !runtime::AlignedBuffer::Untouched(copy[i] + sizes_[i], copy[i] + Stride(sizes_[i]))) {
      return false;
    }
  }
  return true;
}

void RingCache::SetLimit(size_t limit) {
  limit_ = limit;
  if (rings_.size() > limit) rings_.resize(limit);
  if (digests_.size() > limit) digests_.resize(limit);
}

Result<ColdRing*> RingCache::Get(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents,
                                 runtime::ThreadPool* pool) {
  Hasher hasher;
  for (size_t i = 0; i < sizes.size(); ++i) {
    hasher.AddField(std::string_view(contents[i], static_cast<size_t>(sizes[i])));
  }
  const Digest digest = hasher.Finish();
  const auto found = std::find(digests_.begin(), digests_.end(), digest);
  if (found != digests_.end()) {
    auto ring = std::next(rings_.begin(), std::distance(digests_.begin(), found));
    rings_.splice(rings_.begin(), rings_, ring);
    digests_.splice(digests_.begin(), digests_, found);
    return &rings_.front();
  }
  if (rings_.size() < limit_) {
    rings_.emplace_front();
  } else {  // reuse the memory of the least recently used one
    rings_.splice(rings_.begin(), rings_, std::prev(rings_.end()));
    if (digests_.size() == rings_.size()) digests_.pop_back();
  }
  if (const Status filled = rings_.front().Fill(sizes, contents, total_bytes_, pool); !filled.ok()) {
    rings_.pop_front();  // it has no digest
    return filled;
  }
  digests_.push_front(digest);
  return &rings_.front();
}

}  // namespace hone::measure
