#include "runtime/host/lent_scratch.h"

#include <algorithm>

namespace hone::runtime {

Result<LentScratch> LentScratch::Create(ThreadPool* pool, int64_t bytes) {
  LentScratch scratch;
  scratch.pool_ = pool;
  for (int i = 0; i < pool->threads(); ++i) {
    HONE_ASSIGN_OR_RETURN(auto block, AlignedBuffer::Create(bytes, /*guard=*/true));
    scratch.blocks_.push_back(std::move(block));
  }
  return scratch;
}

LentScratch::~LentScratch() {
  if (!blocks_.empty() && pool_->scratch() == blocks_[0].data()) pool_->LendScratch({});
}

void LentScratch::Lend() {
  if (pool_ == nullptr) return;
  std::vector<char*> blocks;
  for (AlignedBuffer& block : blocks_) blocks.push_back(block.data());
  pool_->LendScratch(blocks);
}

bool LentScratch::Intact() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const AlignedBuffer& b) { return b.Intact(); });
}

}  // namespace hone::runtime
