#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/file.h"

namespace hone {
namespace {

// How a child ends that enters the sandbox and then does `work`; its return value is the exit code.
int InSandbox(const SandboxOptions& options, const std::function<int(const Sandbox&)>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work(EnterSandbox(options)));
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool ExitedWith(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> temp = TempDir::Create("hone-sandbox");
    ASSERT_TRUE(temp.ok()) << temp.status().message();
    temp_.emplace(std::move(*temp));
    dir_ = temp_->path();
    ASSERT_TRUE(WriteFileAtomic(dir_ + "/records.db", "kept").ok());
  }
  std::optional<TempDir> temp_;
  std::string dir_;
};

constexpr int kSkip = 99;

TEST_F(SandboxTest, NothingIsWrittenByAPath) {
  const int status = InSandbox({}, [&](const Sandbox& sandbox) {
    if (!sandbox.files) return kSkip;
    const std::string db = dir_ + "/records.db";
    if (open(db.c_str(), O_WRONLY) >= 0) return 1;
    if (open((dir_ + "/new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) return 2;
    if (unlink(db.c_str()) == 0) return 3;
    if (rename(db.c_str(), (dir_ + "/other").c_str()) == 0) return 4;
    if (truncate(db.c_str(), 0) == 0) return 5;
    if (mkdir((dir_ + "/sub").c_str(), 0700) == 0) return 6;
    if (open(db.c_str(), O_RDONLY) < 0) return 7;  // kernels are loaded and references read
    return 0;
  });
  if (ExitedWith(status, kSkip)) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
  EXPECT_EQ(*ReadFile(dir_ + "/records.db"), "kept");
}

// What was open before stays usable: the channel to the parent.
TEST_F(SandboxTest, OpenDescriptorsStay) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const int status = InSandbox({}, [&](const Sandbox&) { return write(ends[1], "x", 1) == 1 ? 0 : 1; });
  EXPECT_TRUE(ExitedWith(status, 0));
  char got = 0;
  EXPECT_EQ(read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  close(ends[0]);
  close(ends[1]);
}

TEST_F(SandboxTest, NoNetwork) {
  const int status = InSandbox({}, [](const Sandbox& sandbox) {
    if (!sandbox.network) return kSkip;
    for (const int family : {AF_INET, AF_INET6, AF_UNIX}) {
      if (socket(family, SOCK_STREAM, 0) >= 0) return 1;
    }
    return errno == EACCES ? 0 : 2;
  });
  if (ExitedWith(status, kSkip)) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
}

TEST_F(SandboxTest, ThreadsButNoProcesses) {
  const int status = InSandbox({}, [](const Sandbox& sandbox) {
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
  });
  if (ExitedWith(status, kSkip)) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
}

// A failed check must still end a child by its own signal, so that its parent is told which.
TEST_F(SandboxTest, AbortStillAborts) {
  const int status = InSandbox({}, [](const Sandbox&) -> int { abort(); });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

TEST_F(SandboxTest, MemoryIsLimited) {
  SandboxOptions options;
  options.max_memory_bytes = uint64_t{1} << 30;
  const int status = InSandbox(options, [](const Sandbox& sandbox) {
    if (!sandbox.limits) return 1;
    void* much = mmap(nullptr, size_t{2} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return much == MAP_FAILED ? 0 : 2;
  });
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
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
  options.files = options.network = options.processes = false;
  const int status = InSandbox(options, [&](const Sandbox& sandbox) {
    if (sandbox.files || sandbox.network || sandbox.processes) return 1;
    if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) return 2;
    if (open((dir_ + "/records.db").c_str(), O_WRONLY) < 0) return 3;
    return 0;
  });
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
}

// What the doctor says is found by trying; what EnterSandbox says, by what the kernel answered.
TEST_F(SandboxTest, TryingAgreesWithEntering) {
  const auto tried = TrySandbox();
  ASSERT_TRUE(tried.ok()) << tried.status().message();
  const int status = InSandbox({}, [&](const Sandbox& entered) { return entered == *tried ? 0 : 1; });
  EXPECT_TRUE(ExitedWith(status, 0)) << tried->Text();
}

TEST(SandboxText, NamesWhatStands) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.Text(), "none");
  sandbox.files = sandbox.limits = true;
  EXPECT_EQ(sandbox.Text(), "files, limits");
}

}  // namespace
}  // namespace hone
