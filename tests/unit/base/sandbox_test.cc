#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "in_child.h"

namespace hone {
namespace {

// The exit status of a child that enters the sandbox and then does `work`, whose return value is the exit code.
int InSandbox(const SandboxOptions& options, const std::function<int(const Sandbox&)>& work) {
  return InChild([&] { return work(EnterSandbox(options)); });
}

constexpr int kSkip = 99;

// The test passes if a child's work returned 0, and is skipped if it returned kSkip.
void ExpectDone(int status, const char* lacks = "this kernel has no seccomp filters") {
  if (ExitedWith(status, kSkip)) GTEST_SKIP() << lacks;
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
}

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = temp_.path();
    ASSERT_TRUE(WriteFileAtomic(dir_ + "/records.db", "kept").ok());
  }
  TempDir temp_ = Must(TempDir::Create("hone-sandbox"));
  std::string dir_;
};

// Tries every way to write; the exit code tells which one worked.
int TryToWrite(const std::string& dir) {
  const std::string db = dir + "/records.db", other = dir + "/other";
  if (open(db.c_str(), O_WRONLY) >= 0) return 1;
  if (open((dir + "/new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) return 2;
  if (open((dir + "/new").c_str(), O_CREAT, 0600) >= 0) return 3;
  if (open(dir.c_str(), O_TMPFILE | O_RDWR, 0600) >= 0) return 4;
  if (unlink(db.c_str()) == 0) return 5;
  if (rename(db.c_str(), other.c_str()) == 0) return 6;
  if (mkdir(other.c_str(), 0700) == 0) return 7;
  if (symlink(db.c_str(), other.c_str()) == 0) return 8;
  if (mknod(other.c_str(), S_IFIFO | 0600, 0) == 0) return 9;
  if (link(db.c_str(), other.c_str()) == 0) return 10;
  if (truncate(db.c_str(), 0) == 0) return 11;
  const int file = open(db.c_str(), O_RDONLY);
  return file < 0 ? 12 : 0;  // loading kernels and reading references must work
}

TEST_F(SandboxTest, NothingIsWrittenByAPath) {
  std::string skipped;
  for (const bool landlock : {true, false}) {
    for (const bool seccomp : {true, false}) {
      SandboxOptions options{.landlock = landlock, .seccomp = seccomp};
      const int status = InSandbox(options, [&](const Sandbox& sandbox) {
        if (!seccomp && sandbox.file_calls) return 20;
        if (!landlock && sandbox.landlock > 0) return 21;
        return sandbox.files() ? TryToWrite(dir_) : kSkip;
      });
      if (ExitedWith(status, kSkip)) {
        skipped += std::string(landlock ? " Landlock" : "") + (seccomp ? " seccomp" : "") + ";";
        continue;
      }
      EXPECT_TRUE(ExitedWith(status, 0)) << "Landlock " << landlock << ", seccomp " << seccomp << ": " << status;
      EXPECT_EQ(*ReadFile(dir_ + "/records.db"), "kept");
    }
  }
  // With neither, nothing is in force; with one of them, it is in force if the kernel has it.
  if (skipped != ";") GTEST_SKIP() << "this kernel has no sandbox layer with:" << skipped;
}

// Operations that Landlock has no rules for.
TEST_F(SandboxTest, NorAreModesOwnersTimesAndAttributesChanged) {
  ExpectDone(InSandbox({}, [&](const Sandbox& sandbox) {
    if (!sandbox.file_calls) return kSkip;
    const std::string db = dir_ + "/records.db";
    const int file = open(db.c_str(), O_RDONLY);
    if (file < 0) return 1;
    if (chmod(db.c_str(), 0) == 0 || fchmod(file, 0) == 0) return 2;
    if (chown(db.c_str(), getuid(), getgid()) == 0 || fchown(file, getuid(), getgid()) == 0) return 3;
    if (utimensat(AT_FDCWD, db.c_str(), nullptr, 0) == 0 || futimens(file, nullptr) == 0) return 4;
    if (setxattr(db.c_str(), "user.x", "y", 1, 0) == 0 || errno != EACCES) return 5;
    // Message queues also have names, which outlive their creator.
    if (syscall(SYS_mq_open, "hone-sandbox", O_RDWR | O_CREAT, 0600, nullptr) >= 0 || errno != EACCES) return 6;
    if (syscall(SYS_mq_unlink, "hone-sandbox") == 0 || errno != EACCES) return 7;
    return 0;
  }));
}

// Calls whose arguments a filter cannot see, or that are newer than the filter, behave as on a kernel that lacks them.
TEST_F(SandboxTest, CallsThatAFilterCannotJudgeAreNotThere) {
  ExpectDone(InSandbox({}, [&](const Sandbox& sandbox) {
    if (!sandbox.file_calls) return kSkip;
    const std::string db = dir_ + "/records.db";
    const uint64_t how[3] = {O_WRONLY, 0, 0};
    if (syscall(437 /* openat2 */, AT_FDCWD, db.c_str(), how, sizeof how) >= 0 || errno != ENOSYS) return 1;
    char parameters[120] = {};
    if (syscall(425 /* io_uring_setup */, 4, parameters) >= 0 || errno != ENOSYS) return 2;
    if (syscall(999) >= 0 || errno != ENOSYS) return 3;
    if (syscall(467 /* open_tree_attr */, AT_FDCWD, dir_.c_str(), 0, nullptr, 0) >= 0 || errno != ENOSYS) return 4;
    return 0;
  }));
}

// Descriptors that were open before stay usable, such as the channel to the parent.
TEST_F(SandboxTest, OpenDescriptorsStay) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ExpectDone(InSandbox({}, [&](const Sandbox&) { return write(ends[1], "x", 1) == 1 ? 0 : 1; }));
  char got = 0;
  EXPECT_EQ(read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  close(ends[0]);
  close(ends[1]);
}

TEST_F(SandboxTest, NoNetwork) {
  ExpectDone(InSandbox({}, [](const Sandbox& sandbox) {
    if (!sandbox.network) return kSkip;
    for (const int family : {AF_INET, AF_INET6, AF_UNIX}) {
      if (socket(family, SOCK_STREAM, 0) >= 0) return 1;
    }
    return errno == EACCES ? 0 : 2;
  }));
}

TEST_F(SandboxTest, ThreadsButNoProcesses) {
  ExpectDone(InSandbox({}, [](const Sandbox& sandbox) {
    if (!sandbox.processes) return kSkip;
    int seen = 0;
    std::thread([&] { seen = 1; }).join();
    if (seen != 1) return 1;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) return 2;
    execl("/bin/true", "true", nullptr);
    if (errno != EPERM) return 3;
    if (kill(getppid(), 0) == 0) return 4;
    if (kill(getpid(), 0) != 0) return 5;
    if (system("true") == 0) return 6;
    return 0;
  }));
}

// A failed check must still end a child by its own signal, so that the parent sees which.
TEST_F(SandboxTest, AbortStillAborts) {
  const int status = InSandbox({}, [](const Sandbox&) -> int { abort(); });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

TEST_F(SandboxTest, MemoryIsLimited) {
  SandboxOptions options{.max_memory_bytes = uint64_t{1} << 30};
  ExpectDone(InSandbox(options, [](const Sandbox& sandbox) {
    if (!sandbox.limits) return 1;
    void* much = mmap(nullptr, size_t{2} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return much == MAP_FAILED ? 0 : 2;
  }));
}

TEST_F(SandboxTest, PrintingForEverEnds) {
  const int words = memfd_create("words", MFD_CLOEXEC);
  ASSERT_GE(words, 0);
  const int status = InSandbox({}, [&](const Sandbox&) {
    const std::string line(4096, '.');
    for (int i = 0; i < 100000; ++i) {
      if (write(words, line.data(), line.size()) < 0) return 1;
    }
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
  close(words);
}

TEST_F(SandboxTest, EachFenceCanBeLeftOut) {
  SandboxOptions options;
  options.files = options.processes = false;
  options.sockets = Sockets::kAll;
  ExpectDone(InSandbox(options, [&](const Sandbox& sandbox) {
    if (sandbox.files() || sandbox.network || sandbox.processes) return 1;
    if (socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EACCES) return 2;
    if (open((dir_ + "/records.db").c_str(), O_WRONLY) < 0) return 3;
    return 0;
  }));
}

// A driver may work as usual, but its code cannot reach another machine.
TEST_F(SandboxTest, ADevicesDriverHasFilesProcessesAndLocalSockets) {
  ExpectDone(InSandbox(DeviceSandbox(), [&](const Sandbox& sandbox) {
    if (!sandbox.limits || sandbox.files() || sandbox.processes) return 1;
    rlimit core = {1, 1}, files = {};
    if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0) return 2;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max > 4096) return 3;
    if (open((dir_ + "/cache").c_str(), O_WRONLY | O_CREAT, 0600) < 0) return 4;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return 5;
    if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) return 6;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 7;
    if (!sandbox.network) return kSkip;
    for (const int family : {AF_INET, AF_INET6, AF_PACKET}) {
      if (socket(family, SOCK_STREAM, 0) >= 0 || errno != EACCES) return 8;
    }
    char parameters[120] = {};
    return syscall(425 /* io_uring_setup */, 4, parameters) < 0 && errno == ENOSYS ? 0 : 9;
  }));
}

TEST_F(SandboxTest, WithoutSeccompNoNewTasksAfterTheThreads) {
  SandboxOptions options{.seccomp = false};
  ExpectDone(InSandbox(options,
                       [](const Sandbox& sandbox) {
                         if (sandbox.processes) return 1;
                         if (getuid() == 0 && setuid(65534) != 0) return kSkip;  // not effective for root
                         ForbidNewTasks();
                         const pid_t child = fork();
                         if (child == 0) _exit(0);
                         return child < 0 && errno == EAGAIN ? 0 : 2;
                       }),
             "this process can be no other user than root");
}

// The doctor finds out by trying; EnterSandbox reports the kernel's answers.
TEST_F(SandboxTest, TryingAgreesWithEntering) {
  SandboxOptions bare{.seccomp = false};
  for (const SandboxOptions& options : {SandboxOptions(), DeviceSandbox(), bare}) {
    const auto tried = Must(TrySandbox(options));
    const int status = InSandbox(options, [&](const Sandbox& entered) { return entered == tried ? 0 : 1; });
    EXPECT_TRUE(ExitedWith(status, 0)) << tried.Text();
  }
}

TEST(SandboxText, NamesWhatStands) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.Text(), "nothing");
  sandbox.limits = true;
  sandbox.landlock = 2;
  EXPECT_EQ(sandbox.Text(), "files but for truncating (Landlock 2), limits");
  sandbox.file_calls = true;
  EXPECT_EQ(sandbox.Text(), "files (seccomp, Landlock 2), limits");
  sandbox.landlock = 0;
  EXPECT_EQ(sandbox.Text(), "files (seccomp), limits");
}

}  // namespace
}  // namespace hone
