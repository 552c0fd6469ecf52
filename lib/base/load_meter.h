// The processor time that others take from this process: how long its threads were ready to run and did not, and what a
// hypervisor gave to somebody else. Linux tells both; where it does not, nothing is seen.
#pragma once

#include <vector>

namespace hone {

// One thread at a time, always the same one: the one that made it.
class LoadMeter {
 public:
  // Watches all threads that this process has now.
  LoadMeter();
  LoadMeter(const LoadMeter&) = delete;
  LoadMeter& operator=(const LoadMeter&) = delete;
  ~LoadMeter();

  bool SeesWaiting() const { return !files_.empty(); }

  // From here on.
  void Start();

  // Seconds since Start() for which the thread that fared worst was kept from running: waited in a run queue while
  // somebody else ran (any thread), or lost otherwise though it never slept (this thread: stolen by the hypervisor).
  // A few system calls, microseconds.
  double Lost();

  // Seconds stolen from all processors of this machine since the last call, in steps of a tick (10 ms mostly). Slower:
  // it reads a file with a line for each processor.
  double Stolen();

 private:
  struct Thread {
    int fd;             // /proc/self/task/TID/schedstat
    double waited = 0;  // as read last
  };
  std::vector<Thread> files_;
  int stat_fd_ = -1;
  double wall_ = 0, ran_ = 0;  // at Start()
  long slept_ = 0;             // voluntary switches at Start()
  double stolen_ = -1;
};

}  // namespace hone
