// Child processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hone {

struct ExitStatus {
  int code = 0;    // exit code; meaningful if signal is 0
  int signal = 0;  // the signal that ended it, 0 if it exited by itself
  bool ok() const { return code == 0 && signal == 0; }
  std::string ToString() const;  // "exited 3", "killed by SIGSEGV"
};

struct SpawnOptions {
  std::vector<std::string> argv;                         // argv[0] is looked up in PATH if it has no '/'
  std::vector<std::pair<std::string, std::string>> env;  // added to our environment, or replacing variables of it
  std::string cwd;                                       // empty: the same as ours
  int stdin_fd = -1;                                     // -1: inherited; the caller keeps ownership
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<std::pair<int, int>> extra_fds;  // {our fd, the child's fd (3 to 63)}; all other fds are closed
  std::optional<uint64_t> max_memory_bytes;    // address space
  std::optional<uint64_t> max_cpu_seconds;
  bool core_dumps = false;
  // The child gets SIGKILL when the thread that spawned it ends: spawn from a thread that outlives the child.
  bool die_with_parent = true;
  // Gives the child a session, and so a process group, of its own: ^C at a terminal then reaches only us, the child
  // cannot open the terminal (/dev/tty), and Kill() also reaches its children.
  bool own_session = true;
  // Kills what is left of the child's group once the child has ended. REQUIRES: own_session
  bool ends_group = false;
};

// One child. Movable. The destructor kills and reaps a child that still runs (KillAndWait). Use from one thread at a
// time.
class Subprocess {
 public:
  // Returns kNotFound if the program does not exist, kIo if the system refused. The child gets the default signal mask
  // and dispositions.
  static Result<Subprocess> Spawn(const SpawnOptions& options);

  Subprocess() = default;  // no child: running() is false
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }  // -1 before any child

  // The exit status once the child has ended; kTimeout if it still runs after `timeout_seconds` (negative: no limit).
  // Can be called again. kInvalid without a child.
  Result<ExitStatus> Wait(double timeout_seconds = -1);

  bool Running();         // reaps the child if it has ended
  void Kill(int signal);  // to the child or its whole group; does nothing if it has ended
  // SIGKILL and Wait. A process that hangs in a driver does not end by that: after `seconds` this warns, gives the
  // process up (pid() is -1 then) and returns false. It then holds only the descriptors that Spawn gave it.
  bool KillAndWait(double seconds = 30);

 private:
  pid_t pid_ = -1;
  Fd pidfd_;  // not open: the kernel lacks pidfds, and Wait polls
  bool own_session_ = false, ends_group_ = false;
  std::optional<ExitStatus> status_;
};

// Replaces this process by the program argv[0], which is looked up as by Spawn after changing to `cwd` (empty: no
// change). Keeps the environment. Returns only on failure: kInvalid, kNotFound or kIo as Spawn; the current folder may
// then already be `cwd`.
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

// Runs a program until it ends. Returns kTimeout, and kills the program and its group, if it takes too long.
Result<CommandResult> RunCommand(const std::vector<std::string>& argv, const CommandOptions& options = {});

}  // namespace hone
