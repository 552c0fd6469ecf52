// What a process gives up before it runs code that nobody has looked at: candidates come out of a search, and a wrong
// one may write anywhere. Meant for a process that has opened all it needs; there is no way back.
//
// Fences of Linux, each of which a kernel may lack, and limits, which all have:
//   files      seccomp: no call that opens for writing, creates, renames, removes or changes something by a path.
//              Landlock, beside it: the same by what the paths lead to. Open descriptors stay as they are
//   network    seccomp: no new socket, of any kind or of all that reach beyond this machine
//   processes  seccomp: no new process, no other program, no signal to anybody else, no ptrace; threads are allowed
//   limits     RLIMIT_*: no core dump, no large files, so many open descriptors, so much memory
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

// Which fences stand.
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

// Puts up what this kernel has. Of the calling thread and those it starts from now on: call it while there is only one.
// Never fails: what is missing is false in the result.
Sandbox EnterSandbox(const SandboxOptions& options);

// For where `processes` is missing, once all threads are there: no thread and no process is started any more
// (RLIMIT_NPROC), unless this is root, whom that limit does not bind.
void ForbidNewTasks();

// Tries each fence in children of its own, by doing what it forbids: what is true here does hold. kIo if no child could
// be made.
Result<Sandbox> TrySandbox(const SandboxOptions& options = {});

}  // namespace hone
