// Child processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

struct ExitStatus {
  int code = 0;    // exit code; meaningful if signal is 0
  int signal = 0;  // the signal that ended it, 0 if it exited
  bool ok() const { return code == 0 && signal == 0; }
  std::string ToString() const;  // "exited 3", "killed by SIGSEGV"
};

struct SpawnOptions {
  std::vector<std::string> argv;                         // argv[0] is looked up in PATH if it has no '/'
  std::vector<std::pair<std::string, std::string>> env;  // added to, or replacing, our environment
  std::string cwd;                                       // empty: ours
  int stdin_fd = -1;                                     // -1: inherited; still owned by the caller
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<std::pair<int, int>> extra_fds;  // {ours, the child's number (3 to 63)}; all others close
  std::optional<uint64_t> max_memory_bytes;    // address space
  std::optional<uint64_t> max_cpu_seconds;
  bool core_dumps = false;
  // The child gets SIGKILL when the thread that spawned it ends: spawn from a thread that outlives the child.
  bool die_with_parent = true;
  // Its own process group, so that ^C at a terminal reaches only us; Kill() then reaches its children too.
  bool own_group = true;
};

// One child. Movable. The destructor kills (SIGKILL) and reaps it if it is still there. One thread at a time.
class Subprocess {
 public:
  // kNotFound: no such program; kIo: the system refused. The child's signal mask and dispositions are the default ones.
  static Result<Subprocess> Spawn(const SpawnOptions& options);

  Subprocess() = default;  // no child: running() is false
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }  // -1 if there never was a child

  // The status when the child ended; kTimeout if it is still running after `timeout_seconds` (negative: wait for ever).
  // Can be repeated. kInvalid without a child.
  Result<ExitStatus> Wait(double timeout_seconds = -1);

  bool Running();         // false from the moment it has ended (it is reaped by this call)
  void Kill(int signal);  // to the child, or its whole group; nothing if it has ended
  // SIGKILL and Wait.
  void KillAndWait();

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;  // -1: the kernel has none; Wait polls
  bool own_group_ = false;
  std::optional<ExitStatus> status_;
};

// This process becomes the program argv[0], found as by Spawn after `cwd` was entered (empty: stays), with our
// environment. Returns only on failure: kInvalid, kNotFound or kIo as Spawn; it may then stand in `cwd`.
Status ReplaceProcess(const std::vector<std::string>& argv, const std::string& cwd = "");

struct CommandOptions {
  std::string input;  // the child's standard input
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd;
  double timeout_seconds = 60;
};

struct CommandResult {
  ExitStatus status;
  std::string out;
  std::string err;
};

// Runs a program to its end. kTimeout (and the program and its group are killed) if it takes too long.
Result<CommandResult> RunCommand(const std::vector<std::string>& argv, const CommandOptions& options = {});

}  // namespace hone
