// Saves and restores the cores that this thread may use. An instance of a network pins its creator, and an instance
// that a pinned thread creates would get only that core.
#pragma once

#include <sched.h>

namespace hone::library {

class ThreadCores {
 public:
  ThreadCores() { known_ = sched_getaffinity(0, sizeof set_, &set_) == 0; }
  ThreadCores(const ThreadCores&) = delete;
  ThreadCores& operator=(const ThreadCores&) = delete;
  ~ThreadCores() { Restore(); }
  void Restore() const {
    if (known_) sched_setaffinity(0, sizeof set_, &set_);
  }

 private:
  cpu_set_t set_;
  bool known_ = false;
};

}  // namespace hone::library
