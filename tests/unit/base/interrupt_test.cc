#include "base/interrupt.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/channel.h"
#include "base/file.h"
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

TEST(BeginTool, AFileThatIsTooLargeIsAnError) {
  const TempDir dir = Must(TempDir::Create());
  EXPECT_EQ(InChild([&] {
              const rlimit limit = {10, 10};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              BeginTool();
              const Status status = WriteFileAtomic(dir.Join("x"), "more than ten bytes");
              return status.message().find("File too large; raise the limit") != std::string::npos ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(ListDir(dir.path())->empty());
}

// A tool that Ninja started, also if Ninja ends before the tool can see who started it.
TEST(BeginTool, ItEndsWithItsNinja) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    int lives[2], reads[2];  // readable until the tool has ended; the output that Ninja reads
    ASSERT_EQ(::pipe(lives), 0);
    ASSERT_EQ(::pipe(reads), 0);
    const pid_t ninja = ::fork();
    if (ninja == 0) {
      ::prctl(PR_SET_NAME, "ninja");
      const pid_t parent = ::getpid();
      if (::fork() == 0) {
        ::close(reads[0]);
        ::dup2(reads[1], STDOUT_FILENO);
        ::dup2(reads[1], STDERR_FILENO);
        ::close(reads[1]);
        ::alarm(60);
        (void)!::write(lives[1], "s", 1);
        while (late && ::getppid() == parent) ::usleep(1000);
        (void)!::write(lives[1], "o", 1);
        BeginTool();
        (void)!::write(lives[1], "b", 1);
        while (true) ::pause();
      }
      while (true) ::pause();
    }
    ::close(lives[1]);
    ::close(reads[0]);
    ::close(reads[1]);
    std::string steps;  // started, about to begin, begun
    const auto read_up_to = [&](char step) {
      char byte = 0;
      while (byte != step && WaitReadable({lives[0]}, 60) == 0 && ::read(lives[0], &byte, 1) == 1) steps += byte;
    };
    read_up_to(late ? 's' : 'b');
    EXPECT_EQ(steps, late ? "s" : "sob");
    ::kill(ninja, SIGKILL);
    ::waitpid(ninja, nullptr, 0);
    read_up_to('e');  // the end
    EXPECT_EQ(steps, late ? "so" : "sob") << "it ends when it begins, or when its Ninja ends";
    EXPECT_EQ(WaitReadable({lives[0]}, 0), 0) << "it has ended";
    ::close(lives[0]);
  }
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
