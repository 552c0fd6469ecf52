#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"

namespace hone {
namespace {

// Handlers are installed in a child, so that ^C still ends the test program itself.
TEST(Interrupt, EachSignalSetsTheFlagAndTheDescriptor) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    pid_t pid = ::fork();
    if (pid == 0) {
      if (signal == SIGHUP) ::signal(SIGHUP, SIG_DFL);
      InstallInterruptHandlers();
      if (Interrupted() || WaitReadable({InterruptFd()}, 0) != -1) ::_exit(1);
      ::raise(signal);
      if (!Interrupted() || InterruptSignal() != signal) ::_exit(2);
      if (WaitReadable({InterruptFd()}, 0) != 0) ::_exit(3);
      ::raise(SIGTERM);  // a second one changes nothing
      if (InterruptSignal() != signal) ::_exit(4);
      if (WaitReadable({InterruptFd()}, 0) != 0) ::_exit(5);
      ::_exit(kInterrupted);
    }
    int raw = -1;
    ::waitpid(pid, &raw, 0);
    ASSERT_TRUE(WIFEXITED(raw)) << signal;
    EXPECT_EQ(WEXITSTATUS(raw), 75) << signal;
  }
}

TEST(Interrupt, NohupIsRespected) {
  pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGHUP, SIG_IGN);
    InstallInterruptHandlers();
    ::raise(SIGHUP);
    ::_exit(Interrupted() ? 1 : 0);
  }
  int raw = -1;
  ::waitpid(pid, &raw, 0);
  EXPECT_EQ(raw, 0);
}

TEST(Interrupt, CanBeRequestedAndCleared) {
  EXPECT_FALSE(Interrupted());
  RequestInterrupt();
  EXPECT_TRUE(Interrupted());
  ClearInterruptForTest();
  EXPECT_FALSE(Interrupted());
}

TEST(ExitCode, SaysWhoseFaultItWas) {
  EXPECT_EQ(ExitCodeOf(Status()), 0);
  EXPECT_EQ(ExitCodeOf(Status::Invalid("a")), 2);
  EXPECT_EQ(ExitCodeOf(Status::Unsupported("a")), 2);
  EXPECT_EQ(ExitCodeOf(Status::Interrupted("a")), 75);
  for (const StatusKind kind : {StatusKind::kNotFound, StatusKind::kIo, StatusKind::kLocked, StatusKind::kTimeout,
                                StatusKind::kCrashed, StatusKind::kCorrupt}) {
    EXPECT_EQ(ExitCodeOf(Status(kind, "a")), 1) << StatusKindName(kind);
  }
}

}  // namespace
}  // namespace hone
