// Lets one system call of a program fail: the n-th of its kind, whichever of its processes and threads makes it. The
// kernel asks this process about each call (seccomp's user notifications), so the calls inside libc, SQLite and the
// loader count too.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"

namespace hone {

enum class CallKind { kMmap, kWrite, kFsync, kRename, kFork, kThread, kFtruncate, kOpen, kPipe, kLink };
inline constexpr int kCallKinds = 10;
const char* CallKindName(CallKind kind);  // "mmap"
int CallError(CallKind kind);             // the errno with which it fails: ENOMEM

// A call before it is made. Its process waits meanwhile.
struct SeenCall {
  pid_t pid = 0;  // the thread
  int number = 0;
  std::array<uint64_t, 6> args{};
};

struct FailingCall {
  CallKind kind = CallKind::kMmap;
  int n = 0;  // from 1; 0: no call fails
};

struct WatchOptions {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;
  double limit_seconds = 30;
  std::function<void(const SeenCall&)> see;  // is told each call, of all kinds
  bool describe = false;                     // fills WatchedRun::calls
};

struct WatchedRun {
  ExitStatus status;
  bool hung = false;                     // it or one of its processes had not ended in time; they were killed
  std::array<int, kCallKinds> counts{};  // calls of each kind; of one kind only if a call was to fail
  std::array<std::vector<std::string>, kCallKinds> calls;  // in order: DescribeCall of each
  std::string failed;      // the call that failed: "openat(/proc/cpuinfo) in hone-tune"; empty: it was not reached
  bool by_loader = false;  // the loader made that call
  std::string out;         // stdout and stderr
};

// Of a process that waits: the file of a descriptor, memory, and a text that ends with a zero.
std::string PathOf(pid_t pid, int fd);
std::string BytesIn(pid_t pid, uint64_t address, size_t size);
std::string TextIn(pid_t pid, uint64_t address);

// "openat(/proc/cpuinfo) in hone-tune".
std::string DescribeCall(const SeenCall& call);

// Why the kernel gives no such notifications (before Linux 5.19, in some containers); empty if nothing is known against
// them.
std::string WhyNoWatching();

// Runs a program to its end, and waits for all processes that it started.
Result<WatchedRun> RunWatched(const WatchOptions& options, FailingCall failing = {});

}  // namespace hone
