#include "runtime/host/thread_pool.h"

namespace hone::runtime {

Result<ThreadPool> ThreadPool::Create(int threads, bool pin) {
  HonePool* pool = hone_pool_create(threads, pin ? 1 : 0);
  if (!pool) return Status::Io("cannot start a pool of {} threads", threads);
  if (pin) hone_pool_pin_caller(pool);
  return ThreadPool(pool);
}

Status ThreadPool::Reserve(int64_t scratch_bytes) {
  if (hone_pool_reserve(pool_.get(), scratch_bytes) == 0) return Status::Ok();
  return Status::Io("no memory for {} bytes of scratch a thread", scratch_bytes);
}

}  // namespace hone::runtime
