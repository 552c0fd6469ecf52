// The rights that a process gives up before it runs untrusted code: a search generates the candidates, and a wrong one
// may write anywhere. First open everything that the process needs; rights cannot be regained.
//
// Layers of Linux, each of which a kernel may lack, and limits, which all kernels have:
//   files      seccomp: no call that opens for writing, creates, renames, removes or changes a file by its path.
//              Landlock, in addition: the same by the file that a path leads to. Open descriptors stay as they are
//   network    seccomp: no new socket, either of any kind or only of those that reach beyond this machine
//   processes  seccomp: no new process, no exec, no signal to other processes, no ptrace; threads are allowed
//   limits     RLIMIT_*: no core dump; limits on file size, open descriptors and memory
// The parent handles crashes and endless loops: it waits with a time limit.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone {

enum class Sockets { kAll, kLocal, kNone };  // kLocal: only AF_UNIX and AF_NETLINK, which stay on this machine

struct SandboxOptions {
  bool files = true;
  Sockets sockets = Sockets::kNone;
  bool processes = true;
  uint64_t max_memory_bytes = 0;                // address space; 0: unchanged
  uint64_t max_file_bytes = uint64_t{1} << 20;  // 0: unchanged
  uint64_t max_open_files = 256;
  bool landlock = true, seccomp = true;  // false: as on a kernel without it
};

// For a process whose candidates run on a GPU: the device's driver writes caches, starts linkers and talks to services
// of this machine.
SandboxOptions DeviceSandbox();

// The layers in force.
struct Sandbox {
  int landlock = 0;         // version of the active rules, 0 without rules; versions 1 and 2 allow truncation
  bool file_calls = false;  // the seccomp part of `files`
  bool network = false;
  bool processes = false;
  bool limits = false;

  bool files() const { return file_calls || landlock >= 3; }
  std::string Text() const;  // "files (seccomp, Landlock 7), network, processes, limits"; "nothing"
  bool operator==(const Sandbox&) const = default;
};

// Enters the layers that this kernel has, for the calling thread and all threads that it starts later: call it while
// the process has one thread. Never fails: a missing layer is false in the result.
Sandbox EnterSandbox(const SandboxOptions& options);

// Forbids new threads and processes (RLIMIT_NPROC). Use it where the `processes` layer is missing, after all threads
// have started. Has no effect on root.
void ForbidNewTasks();

// Tries each layer in a child process that attempts what the layer forbids: true means the layer works. Returns kIo if
// no child could be created.
Result<Sandbox> TrySandbox(const SandboxOptions& options = {});

}  // namespace hone
