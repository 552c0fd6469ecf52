// The parent's side of a child that compiles or measures (`hone-worker compile|measure`). The child is started when
// needed, answers by base/channel.h on its descriptor 3, and is replaced when it crashes, hangs or is interrupted.
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
  std::vector<std::string> arguments = {};         // additional ones
  uint64_t max_memory_bytes = uint64_t{64} << 30;  // address space limit against runaways; 0: no limit
};

// One child at a time. Discards its standard output, keeps its standard error, whose last line explains a crash.
class Worker {
 public:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
  Worker(Worker&&) noexcept = default;
  Worker& operator=(Worker&&) = delete;
  ~Worker();

  bool started() const { return process_.pid() > 0; }
  pid_t pid() const { return process_.pid(); }
  int fd() const { return channel_.fd(); }  // becomes readable when the child answers or ends

  Status Start();  // REQUIRES: !started()
  // Returns kCrashed or kIo, as Receive, if the child is gone; kIo also if it does not read for a minute.
  Status Send(std::string_view message);
  // Returns kTimeout if nothing arrived yet; kInterrupted if the user asked us to stop; kCrashed, with "killed by
  // SIGSEGV: <last words>", if the child's own work ended it; kIo, with such words, if this machine lacked memory or
  // somebody ended it (the out-of-memory killer, a person, a limit). In all cases call Stop() before Start().
  Result<std::string> Receive(double timeout_seconds);
  bool Pending() const { return channel_.Pending(); }  // whether the child sent more than an answer
  void Stop();                                         // SIGKILL; does nothing without a child

 private:
  Status Ended();                // the Status for a child that closed its end
  off_t StartOfText() const;     // where its standard error goes on after SayStarted(); 0 if it did not come so far
  std::string LastText() const;  // the end of its standard error

  WorkerOptions options_;
  Subprocess process_;
  Channel channel_;
  Fd stderr_;
};

// How many children a candidate gets when this machine fails, before it is left without a verdict.
inline constexpr int kMostAttempts = 3;

// For the child: its first act. Until then, its end is the machine's fault, such as too little memory for its
// libraries.
void SayStarted();
// For the child: ends the process so that the parent's Receive returns kIo with `reason`. Safe in a signal handler.
[[noreturn]] void EndForTheMachine(const char* reason);
// For the child: the exit code after its channel failed. Ends the process as above if this machine refused.
int EndOfChannel(const Status& status);
// For the child: from now on, a `new` that runs out of memory ends the process in that way.
void EndWithoutMemory();

// The hone-worker beside the running program.
Result<std::string> DefaultWorkerProgram();

}  // namespace hone::measure
