#include "base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace hone {
namespace {

SpawnOptions Shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"sh", "-c", script};
  return options;
}

// Whether a process exists and is not a zombie that waits for its parent.
bool IsAlive(pid_t pid) {
  Result<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat.ok() && stat->find(") Z ") == std::string::npos;
}

// Polls instead of sleeping a fixed time; the limit is only there to end a broken run.
bool EndsSoon(pid_t pid) {
  for (int i = 0; i < 2000 && IsAlive(pid); ++i) RealClock()->SleepSeconds(0.005);
  return !IsAlive(pid);
}

TEST(RunCommand, PassesInputAndCollectsBothOutputs) {
  CommandOptions options;
  options.input = "three\nlines\nhere\n";
  Result<CommandResult> result = RunCommand({"sh", "-c", "wc -l; echo oops >&2; exit 3"}, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(Trim(result->out), "3");
  EXPECT_EQ(result->err, "oops\n");
  EXPECT_EQ(result->status.code, 3);
  EXPECT_EQ(result->status.ToString(), "exited 3");
  EXPECT_FALSE(result->status.ok());
}

TEST(RunCommand, MuchOutputOnBothSidesDoesNotBlock) {
  CommandOptions options;
  options.input = std::string(1 << 20, 'x');
  Result<CommandResult> result = RunCommand({"sh", "-c", "cat; head -c 300000 /dev/zero >&2"}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, options.input);
  EXPECT_EQ(result->err.size(), 300000u);
}

TEST(RunCommand, EnvironmentAndFolder) {
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  CommandOptions options;
  options.env = {{"HONE_TEST_VALUE", "a b"}, {"HOME", "/nowhere"}};
  options.cwd = dir->path();
  Result<CommandResult> result = RunCommand({"sh", "-c", "echo \"$HONE_TEST_VALUE $HOME\"; pwd -P"}, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "a b /nowhere\n" + dir->path() + "\n");
}

TEST(RunCommand, TooLongIsKilledWithItsChildren) {
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  std::string script = "sleep 1000 & echo $! > '" + dir->Join("pid") + ".tmp'; mv '" + dir->Join("pid") + ".tmp' '" +
                       dir->Join("pid") + "'; wait";
  // On a loaded machine the shell may need longer to get as far as its child.
  Result<std::string> pid = Status::NotFound("not run yet");
  for (double seconds = 0.3; !pid.ok() && seconds < 60; seconds *= 10) {
    CommandOptions options;
    options.timeout_seconds = seconds;
    Result<CommandResult> result = RunCommand({"sh", "-c", script}, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().kind(), StatusKind::kTimeout);
    pid = ReadFile(dir->Join("pid"));
  }
  ASSERT_TRUE(pid.ok()) << pid.status().message();
  EXPECT_TRUE(EndsSoon(static_cast<pid_t>(*ParseInt(Trim(*pid)))));
}

TEST(Subprocess, ProgramsThatCannotStart) {
  SpawnOptions options;
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kInvalid);
  options.argv = {"hone-no-such-program"};
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kNotFound);
  options.argv = {"/nonexistent/program"};
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kNotFound);
  options.argv = {"/etc/passwd"};
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kIo);
  options.argv = {"true"};
  options.cwd = "/nonexistent";
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kNotFound);
}

TEST(Subprocess, AProcessBecomesAnotherProgram) {
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    (void)ReplaceProcess({"sh", "-c", "echo \"$0 $1\" > here; exit 7", "a b", "$HOME"}, dir->path()).ok();
    ::_exit(99);
  }
  int raw = 0;
  ASSERT_EQ(::waitpid(child, &raw, 0), child);
  ASSERT_TRUE(WIFEXITED(raw));
  EXPECT_EQ(WEXITSTATUS(raw), 7);
  const Result<std::string> here = ReadFile(dir->Join("here"));
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(*here, "a b $HOME\n");
  EXPECT_EQ(ReplaceProcess({}).kind(), StatusKind::kInvalid);
  EXPECT_EQ(ReplaceProcess({"hone-no-such-program"}).kind(), StatusKind::kNotFound);
  EXPECT_EQ(ReplaceProcess({"/nonexistent/program"}).kind(), StatusKind::kNotFound);
  EXPECT_EQ(ReplaceProcess({"true"}, "/nonexistent").kind(), StatusKind::kNotFound);
}

TEST(Subprocess, WaitCanTimeOutAndBeRepeated) {
  Result<Subprocess> child = Subprocess::Spawn(Shell("exec sleep 1000"));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->Wait(0.01).status().kind(), StatusKind::kTimeout);
  EXPECT_TRUE(child->Running());
  child->Kill(SIGTERM);
  Result<ExitStatus> status = child->Wait();
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->ToString(), "killed by SIGTERM");
  EXPECT_EQ(child->Wait(0)->signal, SIGTERM);
  EXPECT_FALSE(child->Running());
  child->Kill(SIGTERM);  // nobody
}

TEST(Subprocess, TheDestructorLeavesNoChild) {
  pid_t pid;
  {
    Result<Subprocess> child = Subprocess::Spawn(Shell("exec sleep 1000"));
    ASSERT_TRUE(child.ok());
    pid = child->pid();
    Subprocess moved = *std::move(child);
    EXPECT_TRUE(IsAlive(pid));
  }
  EXPECT_FALSE(Exists("/proc/" + std::to_string(pid)));  // gone and reaped
}

TEST(Subprocess, CrashesAreNamed) {
  Result<Subprocess> child = Subprocess::Spawn(Shell("kill -SEGV $$"));
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->Wait()->ToString(), "killed by SIGSEGV");
}

TEST(Subprocess, SignalsThatWeIgnoreOrBlockReachTheChild) {
  sigset_t term, old;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &old);
  auto handler = ::signal(SIGINT, SIG_IGN);
  for (const char* name : {"INT", "TERM"}) {
    Result<Subprocess> child = Subprocess::Spawn(Shell("kill -" + std::string(name) + " $$; sleep 1000"));
    ASSERT_TRUE(child.ok());
    EXPECT_EQ(child->Wait(10)->ToString(), "killed by SIG" + std::string(name));
  }
  ::signal(SIGINT, handler);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

TEST(Subprocess, OnlyTheNamedDescriptorsReachTheChild) {
  int leak = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as careless code does
  int shared[2];
  ASSERT_EQ(::pipe(shared), 0);
  SpawnOptions options = Shell("ls /proc/self/fd | tr '\\n' ' ' >&3");
  options.extra_fds = {{shared[1], 3}};
  Result<Subprocess> child = Subprocess::Spawn(options);
  ASSERT_TRUE(child.ok());
  ::close(shared[1]);
  ASSERT_TRUE(child->Wait(10).ok());
  char text[256] = {};
  ASSERT_GT(::read(shared[0], text, sizeof text - 1), 0);
  ::close(shared[0]);
  ::close(leak);
  // 3 is ours, and ls has its folder open on one more.
  EXPECT_EQ(SplitWords(text).size(), 5u) << text;
  options.extra_fds = {{0, 2}};
  EXPECT_EQ(Subprocess::Spawn(options).status().kind(), StatusKind::kInvalid);
}

TEST(Subprocess, ExtraDescriptorsMaySwapPlaces) {
  int a[2], b[2];
  ASSERT_EQ(::pipe(a), 0);
  ASSERT_EQ(::pipe(b), 0);
  SpawnOptions options = Shell("echo A >&" + std::to_string(b[1]) + "; echo B >&" + std::to_string(a[1]));
  ASSERT_LT(std::max(a[1], b[1]), 10) << "sh only knows one-digit descriptors";
  options.extra_fds = {{a[1], b[1]}, {b[1], a[1]}};
  Result<Subprocess> child = Subprocess::Spawn(options);
  ASSERT_TRUE(child.ok());
  EXPECT_TRUE(child->Wait(10)->ok());
  char text[2];
  ASSERT_EQ(::read(a[0], text, 2), 2);
  EXPECT_EQ(text[0], 'A');
  ASSERT_EQ(::read(b[0], text, 2), 2);
  EXPECT_EQ(text[0], 'B');
  for (int fd : {a[0], a[1], b[0], b[1]}) ::close(fd);
}

TEST(Subprocess, LimitsHold) {
  SpawnOptions options = Shell("ulimit -v; ulimit -c; ulimit -t");
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  int fd = ::open(dir->Join("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  options.stdout_fd = fd;
  options.max_memory_bytes = uint64_t{1} << 30;
  options.max_cpu_seconds = 9;
  Result<Subprocess> child = Subprocess::Spawn(options);
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->Wait(10)->ok());
  ::close(fd);
  EXPECT_EQ(*ReadFile(dir->Join("out")), "1048576\n0\n9\n");
}

// A worker must not outlive a tool that was killed by SIGKILL, which runs no destructor.
TEST(Subprocess, ChildrenDieWithTheirParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    Result<Subprocess> child = Subprocess::Spawn(Shell("exec sleep 1000"));
    pid_t pid = child.ok() ? child->pid() : -1;
    (void)!::write(ends[1], &pid, sizeof pid);
    ::pause();
    ::_exit(0);
  }
  pid_t grandchild = -1;
  ASSERT_EQ(::read(ends[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof grandchild));
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(IsAlive(grandchild));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(EndsSoon(grandchild));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace hone
