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
  // kCrashed if the child is gone.
  Status Send(std::string_view message);
  // kTimeout: nothing yet; kInterrupted: the user asked us to stop; kCrashed, with "killed by SIGSEGV: <last words>":
  // the child is gone. Whatever it was, call Stop() before Start().
  Result<std::string> Receive(double timeout_seconds);
  // True after kCrashed if the child was killed from outside (SIGKILL, SIGTERM: the out-of-memory killer, a person),
  // and so not by what it was doing.
  bool killed_from_outside() const { return killed_from_outside_; }
  void Stop();  // SIGKILL; nothing if there is no child

 private:
  Status Ended();  // the Status for a child that closed its end
  std::string LastWords() const;

  WorkerOptions options_;
  Subprocess process_;
  Channel channel_;
  int stderr_fd_ = -1;
  bool killed_from_outside_ = false;
};

// The hone-worker beside the running program.
Result<std::string> DefaultWorkerProgram();

}  // namespace hone::measure
