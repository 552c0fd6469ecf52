#include "base/interrupt.h"

#include <signal.h>

#include "base/channel.h"
#include "in_child.h"

namespace hone {
namespace {

// Handlers are installed in a child, so that ^C still ends the test program itself.
TEST(Interrupt, EachSignalSetsTheFlagAndTheDescriptor) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const int status = InChild([signal] {
      if (signal == SIGHUP) ::signal(SIGHUP, SIG_DFL);
      InstallInterruptHandlers();
      if (Interrupted() || WaitReadable({InterruptFd()}, 0) != -1) return 1;
      ::raise(signal);
      if (!Interrupted() || InterruptSignal() != signal) return 2;
      if (WaitReadable({InterruptFd()}, 0) != 0) return 3;
      ::raise(SIGTERM);  // a second one changes nothing
      if (InterruptSignal() != signal) return 4;
      return WaitReadable({InterruptFd()}, 0) == 0 ? int{kInterrupted} : 5;
    });
    EXPECT_TRUE(ExitedWith(status, 75)) << signal << ": " << status;
  }
}

TEST(Interrupt, NohupIsRespected) {
  EXPECT_EQ(InChild([] {
              ::signal(SIGHUP, SIG_IGN);
              InstallInterruptHandlers();
              ::raise(SIGHUP);
              return Interrupted() ? 1 : 0;
            }),
            0);
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
    EXPECT_EQ(ExitCodeOf(Status(kind, "a")), 1) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace hone
