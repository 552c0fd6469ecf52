// The rights that a process gives up before it runs untrusted code: candidates come from a search, and a wrong one may
// write anywhere. For a process that has opened all that it needs; there is no way back.
//
// Layers of Linux, each of which a kernel may lack, and limits, which all kernels have:
//   files      seccomp: no call that opens for writing, creates, renames, removes or changes something by a path.
//              Landlock, beside it: the same by what the paths lead to. Open descriptors stay as they are
//   network    seccomp: no new socket, of any kind or of all that reach beyond this machine
//   processes  seccomp: no new process, no other program, no signal to anybody else, no ptrace; threads are allowed
//   limits     RLIMIT_*: no core dump; limits on file size, open descriptors and memory
// Crashing and looping are left to the parent, which waits with a time limit.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone {

enum class Sockets { kAll, kLocal, kNone };  // kLocal: AF_UNIX and AF_NETLINK, which end at this machine

struct SandboxOptions {
  bool files = true;
  Sockets sockets = Sockets::kNone;
  bool processes = true;
  uint64_t max_memory_bytes = 0;                // of address space; 0: as it is
  uint64_t max_file_bytes = uint64_t{1} << 20;  // 0: as it is
  uint64_t max_open_files = 256;
  bool landlock = true, seccomp = true;  // false: as on a kernel that has none
};

// For a process whose candidates run on a GPU. The device's driver writes caches, starts linkers and talks to services
// of this machine.
SandboxOptions DeviceSandbox();

// The layers that are in force.
struct Sandbox {
  int landlock = 0;         // version of the rules that stand; 0: none. Before 3 they say nothing of truncating
  bool file_calls = false;  // seccomp's part of `files`
  bool network = false;
  bool processes = false;
  bool limits = false;

  bool files() const { return file_calls || landlock >= 3; }
  std::string Text() const;  // "files (seccomp, Landlock 7), network, processes, limits"; "nothing"
  bool operator==(const Sandbox&) const = default;
};

// Enters the layers that this kernel has, for the calling thread and threads that it starts later: call it while there
// is only one. Never fails: a missing layer is false in the result.
Sandbox EnterSandbox(const SandboxOptions& options);

// Use it where `processes` is missing, once all threads run: forbids new threads and processes (RLIMIT_NPROC). Does not
// bind root.
void ForbidNewTasks();

// Tries each layer in a child that does what it forbids: a layer that is true here holds. kIo if no child could be
// made.
Result<Sandbox> TrySandbox(const SandboxOptions& options = {});

}  // namespace hone
