#include "measure/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone::measure {

constexpr std::string_view kStarted = "started\n";  // a line of a child that has started
constexpr int kMachineFailed = 75;                  // exit code: EX_TEMPFAIL of sysexits.h

// Returns whether the code that ran in the child caused its end. An unknown cause counts as the machine's.
static bool ByItself(const ExitStatus& status, const std::string& text) {
  // SIGXFSZ: the sandbox's limit, which a child that writes endlessly hits.
  constexpr int kOwn[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGXFSZ};
  if (status.signal == 0 || status.signal == SIGABRT) {
    // Words of LLVM, of the C++ library, and of the dynamic loader before any code of ours runs.
    constexpr const char* kWords[] = {"out of memory", "bad_alloc", "error while loading shared libraries"};
    const auto says = [&](const char* words) { return text.find(words) != std::string::npos; };
    return status.code != kMachineFailed && std::none_of(std::begin(kWords), std::end(kWords), says);
  }
  return std::find(std::begin(kOwn), std::end(kOwn), status.signal) != std::end(kOwn);
}

void SayStarted() { (void)!write(STDERR_FILENO, kStarted.data(), kStarted.size()); }

void EndForTheMachine(const char* reason) {
  (void)!write(STDERR_FILENO, reason, std::strlen(reason));
  _exit(kMachineFailed);
}

int EndOfChannel(const Status& status) {
  if (status.kind() == StatusKind::kIo) EndForTheMachine(status.message().c_str());
  return status.kind() == StatusKind::kCrashed ? 0 : 1;
}

void EndWithoutMemory() {
  std::set_new_handler([] { EndForTheMachine("no memory"); });
}

Worker::~Worker() { Stop(); }

Status Worker::Start() {
  HONE_CHECK(!started());
  HONE_ASSIGN_OR_RETURN(auto ends, Channel::Pair());
  stderr_ = MemoryFile();
  if (!stderr_.open()) return ErrnoStatus(errno, "memfd_create");
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.open()) return ErrnoStatus(errno, "/dev/null");
  SpawnOptions spawn{.argv = {options_.program, options_.mode}};
  spawn.argv.insert(spawn.argv.end(), options_.arguments.begin(), options_.arguments.end());
  spawn.stdin_fd = null.get();
  spawn.stdout_fd = null.get();
  spawn.stderr_fd = stderr_.get();
  spawn.ends_group = true;  // a driver's child may have started processes
  spawn.extra_fds = {{ends.second.fd(), kChannelFd}};
  if (options_.max_memory_bytes > 0) spawn.max_memory_bytes = options_.max_memory_bytes;
  auto process = Subprocess::Spawn(spawn);
  if (!process.ok()) return process.status().WithContext("cannot start " + options_.program);
  process_ = std::move(*process);
  channel_ = std::move(ends.first);
  return Status();
}

Status Worker::Send(std::string_view message) {
  const Status sent = channel_.Send(message, 60);
  if (sent.kind() == StatusKind::kTimeout) return Status::Io("does not read what it is sent");
  return sent.kind() == StatusKind::kCrashed ? Ended() : sent;
}

Result<std::string> Worker::Receive(double timeout_seconds) {
  Clock* clock = RealClock();
  const double deadline = clock->NowSeconds() + timeout_seconds;
  while (true) {
    if (Interrupted()) return Status::Interrupted("interrupted while waiting for a child");
    const double left = timeout_seconds < 0 ? -1 : std::max(0.0, deadline - clock->NowSeconds());
    const int ready = WaitReadable({channel_.fd(), InterruptFd()}, left);
    if (ready == 0) {
      auto message = channel_.Receive(0);
      if (message.ok()) return message;
      if (message.status().kind() == StatusKind::kCrashed) return Ended();
      if (message.status().kind() != StatusKind::kTimeout) return message.status();
    }
    if (timeout_seconds >= 0 && clock->NowSeconds() >= deadline) return Status::Timeout("no answer from a child");
  }
}

Status Worker::Ended() {
  auto status = process_.Wait(5);
  if (!status.ok()) {
    process_.KillAndWait();
    return Status::Crashed("the child closed its channel");
  }
  const std::string text = LastText();
  const size_t line = text.rfind('\n');
  const std::string words = line == std::string::npos ? text : text.substr(line + 1);
  const std::string message = status->ToString() + (words.empty() ? "" : ": " + words);
  return StartOfText() > 0 && ByItself(*status, text) ? Status::Crashed(message) : Status::Io(message);
}

// The loader and plugins may print before.
off_t Worker::StartOfText() const {
  char buffer[4096];
  const ssize_t got = pread(stderr_.get(), buffer, sizeof buffer, 0);
  const std::string_view text(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  for (size_t at = text.find(kStarted); at != text.npos; at = text.find(kStarted, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return static_cast<off_t>(at + kStarted.size());
  }
  return 0;
}

std::string Worker::LastText() const {
  const off_t end = lseek(stderr_.get(), 0, SEEK_END);
  return std::string(Trim(ReadFrom(stderr_, std::max(StartOfText(), end - 2048))));
}

void Worker::Stop() {
  if (started()) process_.KillAndWait();
  process_ = Subprocess();
  channel_.Close();
  stderr_ = Fd();
}

Result<std::string> DefaultWorkerProgram() {
  HONE_ASSIGN_OR_RETURN(std::string self, CurrentExecutable());
  const std::string path = JoinPath(DirName(self), "hone-worker");
  if (!Exists(path)) return Status::NotFound(path + ": not there; build the target hone-worker");
  return path;
}

}  // namespace hone::measure
