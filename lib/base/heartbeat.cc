#include "base/heartbeat.h"

#include <signal.h>

#include <chrono>
#include <system_error>

#include "base/log.h"

namespace hone {

Heartbeat::Heartbeat(FileLock* lock, double seconds) : lock_(lock) {
  try {
    thread_ = std::thread([this, seconds] { Run(seconds); });
  } catch (const std::system_error& error) {
    LogWarning(std::string("cannot start a thread that renews the lock: ") + error.what());  // Check() renews it too
  }
}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard guard(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::Run(double seconds) {
  // Signals must reach the main thread, to interrupt its blocking calls.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, std::chrono::duration<double>(seconds), [this] { return ending_; })) {
    const Status status = lock_->Touch();
    if (status.ok()) continue;
    // Only a lost lock is final; other errors may be temporary, such as a shared file system that does not answer.
    if (status.kind() != StatusKind::kLocked) {
      LogWarning(status.message());
      continue;
    }
    lost_ = true;
    return;
  }
}

Status Heartbeat::Check() {
  std::lock_guard guard(mutex_);
  const Status status = lock_->Touch();
  if (status.kind() == StatusKind::kLocked) lost_ = true;
  return status;
}

}  // namespace hone
