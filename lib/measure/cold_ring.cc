#include "measure/cold_ring.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace hone::measure {
namespace {

int64_t Padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

Result<ColdRing> ColdRing::Create(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents,
                                  double total_bytes) {
  int64_t one = 0;
  for (const int64_t size : sizes) one += Padded(size);
  const double fit = one > 0 ? total_bytes / static_cast<double>(one) : 2;
  const int64_t copies = std::clamp<int64_t>(static_cast<int64_t>(fit), 2, 4096);
  ColdRing ring;
  HONE_ASSIGN_OR_RETURN(ring.memory_, runtime::AlignedBuffer::Create(copies * one));
  char* at = ring.memory_.data();
  for (int64_t c = 0; c < copies; ++c) {
    std::vector<char*> addresses;
    for (size_t i = 0; i < sizes.size(); ++i) {
      std::memcpy(at, contents[i], static_cast<size_t>(sizes[i]));
      addresses.push_back(at);
      at += Padded(sizes[i]);
    }
    ring.copies_.push_back(std::move(addresses));
  }
  return ring;
}

const std::vector<char*>& ColdRing::Next() {
  const std::vector<char*>& copy = copies_[next_];
  next_ = (next_ + 1) % copies_.size();
  return copy;
}

Result<ColdRing*> RingCache::Get(const std::vector<int64_t>& sizes, const std::vector<const char*>& contents) {
  Hasher hasher;
  for (size_t i = 0; i < sizes.size(); ++i) {
    hasher.AddField(std::string_view(contents[i], static_cast<size_t>(sizes[i])));
  }
  const Digest digest = hasher.Finish();
  auto found = std::find_if(rings_.begin(), rings_.end(), [&](const auto& ring) { return ring.first == digest; });
  if (found == rings_.end()) {
    HONE_ASSIGN_OR_RETURN(ColdRing ring, ColdRing::Create(sizes, contents, total_bytes_));
    rings_.emplace_front(digest, std::move(ring));
    if (rings_.size() > limit_) rings_.pop_back();
  } else {
    rings_.splice(rings_.begin(), rings_, found);
  }
  return &rings_.front().second;
}

}  // namespace hone::measure
