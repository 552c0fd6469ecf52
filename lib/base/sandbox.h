// The rights that a process gives up before it runs untrusted code: a search generates the candidates, and a wrong one
// may write anywhere. Rights cannot be regained.
//
// A process enters in two steps: EnterSandbox before it starts threads, LockCalls once all its threads run and all its
// files are open, so that the list of system calls can be short. Each layer may be missing on a kernel; the others then
// still hold. The parent handles crashes and endless loops: it waits with a time limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

struct SandboxOptions {
  bool device = false;                          // leaves what the driver of a device needs
  std::vector<std::string> readable;            // without a device: the only files and folders that can be opened
  uint64_t max_memory_bytes = 0;                // address space; 0: unchanged
  uint64_t max_file_bytes = uint64_t{1} << 20;  // 0: unchanged
  uint64_t max_open_files = 256;
  // false: as on a kernel without it
  bool namespaces = true, landlock = true, seccomp = true;
};

// For a process whose candidates run on a device.
SandboxOptions DeviceSandbox();

// The layers in force, in the order in which they are entered.
struct Sandbox {
  bool limits = false;        // no core dump; limits on file size, open descriptors and memory
  bool environment = false;   // the variables of the parent are wiped
  bool namespaces = false;    // user, network and UTS of its own; without a device also PID and IPC
  bool capabilities = false;  // has no capability and gains none
  int landlock = 0;           // version of the rules for files; 0 without rules
  bool scopes = false;        // Landlock 6: no signal and no abstract socket to processes outside
  bool calls = false;         // seccomp: the list of base/seccomp_list.h; set by LockCalls

  bool operator==(const Sandbox&) const = default;
};

// Enters all layers except `calls`, for the calling thread and all threads that it starts later. REQUIRES: the process
// has one thread. Never fails: a missing layer is false in the result.
//
// With namespaces and without a device, the caller goes on in a grandchild. The process that called waits for it and
// ends as it ends, with the same exit code or signal, so the parent sees no difference.
Sandbox EnterSandbox(const SandboxOptions& options);

// Enters the last layer, for all threads. Without it, forbids new threads and processes instead (RLIMIT_NPROC), which
// has no effect on root.
bool LockCalls(const SandboxOptions& options);

// A layer, tried in a process that does what it forbids.
struct TriedLayer {
  std::string name;  // "system calls"
  bool holds = false;
  std::string text;    // what a candidate cannot do: "35 are allowed, any other ends the candidate"
  std::string advice;  // what the kernel lacks, if it does not hold
};

// In the order of the table in doc/internals/sandbox.md. Returns kIo if no process could be started.
Result<std::vector<TriedLayer>> TrySandbox(const SandboxOptions& options = {});

}  // namespace hone
