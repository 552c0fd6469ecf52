// What a process gives up before it runs code that nobody has looked at: candidates come out of a search, and a wrong
// one may write anywhere. Meant for a process that has opened all it needs; there is no way back.
//
// Three fences of Linux, each of which a kernel may lack, and limits, which all have:
//   files      Landlock: nothing can be created, written, renamed or removed by a path; open descriptors stay as they
//   are network    seccomp: no new socket of any kind processes  seccomp: no new process, no other program, no signal
//   to anybody else, no ptrace; threads are allowed limits     RLIMIT_*: no core dump, no large files, so many open
//   descriptors, so much memory
// Crashing and looping are left to the parent, which waits with a time limit.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone {

struct SandboxOptions {
  bool files = true;
  bool network = true;
  bool processes = true;
  uint64_t max_memory_bytes = 0;  // of address space; 0: as it is
  uint64_t max_open_files = 256;
};

// Which fences stand.
struct Sandbox {
  bool files = false;
  bool network = false;
  bool processes = false;
  bool limits = false;

  std::string Text() const;  // "files, network, processes, limits"; "none"
  bool operator==(const Sandbox&) const = default;
};

// Puts up what this kernel has. Of the calling thread and those it starts from now on: call it while there is only one.
// Never fails: what is missing is false in the result.
Sandbox EnterSandbox(const SandboxOptions& options);

// Tries each fence in a child of its own, by doing what it forbids: what is true here does hold. kIo if no child could
// be made.
Result<Sandbox> TrySandbox();

}  // namespace hone
