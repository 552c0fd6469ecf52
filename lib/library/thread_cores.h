// The cores that this thread may use, as they were: an instance of a network pins its creator, and one that a pinned
// thread makes would have that core alone.
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
