// The system calls that a measuring child may make once its threads run and its files are open, as data. base/seccomp.h
// makes a filter of it.
#pragma once

#include <cstdint>
#include <span>

namespace hone {

// A condition on one argument of a call. Arguments are 64 bits wide; descriptors, flags and pids are their lower half.
struct ArgumentRule {
  enum class Kind {
    kAny,
    kIs,    // the lower half is `value`
    kNot,   // the lower half is not `value`
    kSelf,  // the lower half is the pid of this process
    kNull,  // all 64 bits are 0
    kLacks  // no bit of `value` is set
  };
  Kind kind = Kind::kAny;
  int index = 0;  // from 0
  uint32_t value = 0;
};

// Allows a call if all conditions hold. Several rules may allow the same call.
struct CallRule {
  long call;        // SYS_*
  const char* why;  // who needs it, and for what
  ArgumentRule arguments[4] = {};
};

// For a child that measures on the host.
std::span<const CallRule> HostCalls();
// Additional calls for the drivers of devices.
std::span<const CallRule> DriverCalls();

}  // namespace hone
