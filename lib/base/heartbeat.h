// Renews a lock from a separate thread, for tools that may hold it longer than its heartbeat timeout: while compiling,
// in regression runs, merging records or waiting for the machine.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/lock.h"

namespace hone {

// A single missed heartbeat does not lose the lock: see FileLock.
inline constexpr double kHeartbeatSeconds = 20;

class Heartbeat {
 public:
  // Touches `lock`, which must outlive this object, every `seconds`, until the lock is lost or this object ends.
  explicit Heartbeat(FileLock* lock, double seconds = kHeartbeatSeconds);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Returns kLocked if another process has taken the lock: write nothing more. Looks at the lock file, so it is
  // right also for a process that was suspended and has just woken up.
  Status Check();

  // The thread's last such result; costs nothing.
  bool lost() const { return lost_.load(); }

 private:
  void Run(double seconds);

  FileLock* const lock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::atomic<bool> lost_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace hone
