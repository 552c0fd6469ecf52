// Measures processor time that this process lost to others: time in which its threads were ready but did not run, and
// time that the hypervisor gave to other machines. Both come from Linux; where it does not report them, the loss is 0.
#pragma once

#include <vector>

#include "base/fd.h"

namespace hone {

// Use it only from the thread that created it.
class LoadMeter {
 public:
  // Watches all threads that the process has at this moment.
  LoadMeter();

  // Starts a new measurement.
  void Start();

  // Seconds since Start() that the thread which lost most was kept from running: it waited in a run queue behind any
  // other thread, or it lost time without sleeping (calling thread only: stolen by the hypervisor). Costs a few system
  // calls, microseconds.
  double Lost();

  // Seconds stolen from all processors of this machine since the last call, in ticks (usually 10 ms). Slower: reads a
  // file that has a line for each processor.
  double Stolen();

 private:
  struct Thread {
    Fd fd;              // /proc/self/task/TID/schedstat
    double waited = 0;  // at the last reading
  };
  std::vector<Thread> files_;
  Fd stat_;
  double wall_ = 0, ran_ = 0;  // at Start()
  long slept_ = 0;             // voluntary switches at Start()
  double stolen_ = -1;
};

}  // namespace hone
