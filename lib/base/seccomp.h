// A filter of system calls (seccomp), made of the list in base/seccomp_list.h.
#pragma once

#include <signal.h>

#include <string>

#include "base/seccomp_list.h"

namespace hone {

// A call that the filter refuses:
enum class Refusal {
  kEnd,     // raises SIGSYS, which ends the process unless it has a handler; a handler knows the call from its siginfo
  kMissing  // fails with ENOSYS, as on a kernel without it; for drivers, which try what there is
};

// Allows only the calls of these rules, for all threads of this process and all that they start. Returns false, and
// changes nothing, where the kernel has no seccomp filters. REQUIRES: no_new_privs.
bool AllowOnly(std::span<const CallRule> rules, std::span<const CallRule> more, Refusal refusal);

// The number of different calls.
int CountCalls(std::span<const CallRule> rules, std::span<const CallRule> more = {});

// "ioctl"; "0x1ab" for a call that the headers of the build lack.
std::string CallName(long call);

// In a handler of SIGSYS (SA_SIGINFO): appends the name of the refused call to `text`, a buffer of `size` bytes. Safe
// in a signal handler.
void AppendRefusedCall(const siginfo_t& info, char* text, size_t size);
// Ends the process by SIGSYS. For the end of that handler: returning from it would go on behind the refused call.
[[noreturn]] void EndByRefusedCall();

}  // namespace hone
