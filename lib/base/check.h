// HONE_CHECK(condition): checks an invariant of Hone. If the condition fails, Hone has a bug: the process reports the
// place and aborts. No input may trigger it: bad input is a Status (base/status.h).
#pragma once

namespace hone {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace hone

#define HONE_CHECK(condition)                              \
  do {                                                     \
    if (!(condition)) [[unlikely]]                         \
      ::hone::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (0)
