// The parent's side of a child that compiles or measures (`hone-worker compile|measure`): started when needed, asked
// and answered by base/channel.h on its descriptor 3, thrown away when it crashes, hangs or is interrupted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/channel.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace hone::measure {

struct WorkerOptions {
  std::string program;                             // path of hone-worker
  std::string mode;                                // its argument
  std::vector<std::string> arguments = {};         // further ones
  uint64_t max_memory_bytes = uint64_t{64} << 30;  // of address space: a bound for runaways only; 0: none
};

// One child at a time. Its standard output is discarded, its standard error kept: the last line explains a crash.
class Worker {
 public:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) = delete;
  ~Worker();

  bool started() const { return process_.pid() > 0; }
  pid_t pid() const { return process_.pid(); }
  int fd() const { return channel_.fd(); }  // readable when an answer, or the end, has come

  Status Start();  // REQUIRES: !started()
  // kCrashed or kIo, as Receive, if the child is gone.
  Status Send(std::string_view message);
  // kTimeout: nothing yet; kInterrupted: the user asked us to stop; kCrashed, with "killed by SIGSEGV: <last words>":
  // the child is gone by what it was doing; kIo, with such words: it is gone because this machine had no memory for it,
  // or somebody ended it (the out-of-memory killer, a person, a limit). Whatever it was, call Stop() before Start().
  Result<std::string> Receive(double timeout_seconds);
  void Stop();  // SIGKILL; nothing if there is no child

 private:
  Status Ended();  // the Status for a child that closed its end
  std::string LastText() const;  // the end of what it wrote to its standard error

  WorkerOptions options_;
  Subprocess process_;
  Channel channel_;
  int stderr_fd_ = -1;
};

// How often a candidate is given to a new child after this machine's failures, before it is left without a verdict.
inline constexpr int kMostAttempts = 3;

// For the child: ends the process such that the parent's Receive returns kIo with `reason`. Safe in a signal handler.
[[noreturn]] void EndForTheMachine(const char* reason);
// For the child: from now on `new` ends the process in that way if there is no memory.
void EndWithoutMemory();

// The hone-worker beside the running program.
Result<std::string> DefaultWorkerProgram();

}  // namespace hone::measure
