// HONE_CHECK: an invariant of ours. If it does not hold the bug is in Hone; the process says where and aborts.
// Never reachable by input: bad input is a Status (base/status.h).
#pragma once

namespace hone {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace hone

#define HONE_CHECK(condition)                              \
  do {                                                     \
    if (!(condition)) [[unlikely]]                         \
      ::hone::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (0)
