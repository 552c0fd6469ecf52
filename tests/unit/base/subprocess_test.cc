#include "base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "in_child.h"

namespace hone {
namespace {

SpawnOptions Shell(const std::string& script) { return SpawnOptions{.argv = {"sh", "-c", script}}; }

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
  CommandOptions options{.input = "three\nlines\nhere\n"};
  CommandResult result = Must(RunCommand({"sh", "-c", "wc -l; echo oops >&2; exit 3"}, options));
  EXPECT_EQ(Trim(result.out), "3");
  EXPECT_EQ(result.err, "oops\n");
  EXPECT_EQ(result.status.code, 3);
  EXPECT_EQ(result.status.ToString(), "exited 3");
  EXPECT_FALSE(result.status.ok());
}

TEST(RunCommand, MuchOutputOnBothSidesDoesNotBlock) {
  CommandOptions options{.input = std::string(1 << 20, 'x')};
  CommandResult result = Must(RunCommand({"sh", "-c", "cat; head -c 300000 /dev/zero >&2"}, options));
  EXPECT_EQ(result.out, options.input);
  EXPECT_EQ(result.err.size(), 300000u);
}

TEST(RunCommand, EnvironmentAndFolder) {
  TempDir dir = Must(TempDir::Create());
  CommandOptions options{.env = {{"HONE_TEST_VALUE", "a b"}, {"HOME", "/nowhere"}}, .cwd = dir.path()};
  CommandResult result = Must(RunCommand({"sh", "-c", "echo \"$HONE_TEST_VALUE $HOME\"; pwd -P"}, options));
  EXPECT_EQ(result.out, "a b /nowhere\n" + dir.path() + "\n");
}

TEST(RunCommand, TooLongIsKilledWithItsChildren) {
  TempDir dir = Must(TempDir::Create());
  std::string script = "sleep 1000 & echo $! > '" + dir.Join("pid") + ".tmp'; mv '" + dir.Join("pid") + ".tmp' '" +
                       dir.Join("pid") + "'; wait";
  // On a loaded machine the shell may take longer to start its child.
  Result<std::string> pid = Status::NotFound("not run yet");
  for (double seconds = 0.3; !pid.ok() && seconds < 60; seconds *= 10) {
    CommandOptions options{.timeout_seconds = seconds};
    Result<CommandResult> result = RunCommand({"sh", "-c", script}, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().kind(), StatusKind::kTimeout);
    pid = ReadFile(dir.Join("pid"));
  }
  ASSERT_TRUE(pid.ok()) << pid.status().message();
  EXPECT_TRUE(EndsSoon(static_cast<pid_t>(*ParseInt(Trim(*pid)))));
}

TEST(Subprocess, ProgramsThatCannotStart) {
  struct Case {
    std::vector<std::string> argv;
    std::string cwd;
    StatusKind kind;
  };
  for (const Case& c :
       {Case{{}, "", StatusKind::kInvalid}, Case{{"hone-no-such-program"}, "", StatusKind::kNotFound},
        Case{{"/nonexistent/program"}, "", StatusKind::kNotFound}, Case{{"/etc/passwd"}, "", StatusKind::kIo},
        Case{{"true"}, "/nonexistent", StatusKind::kNotFound}}) {
    SpawnOptions options{.argv = c.argv, .cwd = c.cwd};
    EXPECT_EQ(Subprocess::Spawn(options).status().kind(), c.kind) << Join(c.argv, " ");
    EXPECT_EQ(ReplaceProcess(c.argv, c.cwd).kind(), c.kind) << Join(c.argv, " ");
  }
}

TEST(Subprocess, AProcessBecomesAnotherProgram) {
  TempDir dir = Must(TempDir::Create());
  const int status = InChild([&] {
    (void)ReplaceProcess({"sh", "-c", "echo \"$0 $1\" > here; exit 7", "a b", "$HOME"}, dir.path()).ok();
    return 99;
  });
  EXPECT_TRUE(ExitedWith(status, 7)) << status;
  EXPECT_EQ(*ReadFile(dir.Join("here")), "a b $HOME\n");
}

TEST(Subprocess, WaitCanTimeOutAndBeRepeated) {
  Subprocess child = Must(Subprocess::Spawn(Shell("exec sleep 1000")));
  EXPECT_EQ(child.Wait(0.01).status().kind(), StatusKind::kTimeout);
  EXPECT_TRUE(child.Running());
  child.Kill(SIGTERM);
  EXPECT_EQ(Must(child.Wait()).ToString(), "killed by SIGTERM");
  EXPECT_EQ(child.Wait(0)->signal, SIGTERM);
  EXPECT_FALSE(child.Running());
  child.Kill(SIGTERM);  // nobody
}

TEST(Subprocess, TheDestructorLeavesNoChild) {
  pid_t pid;
  {
    Subprocess child = Must(Subprocess::Spawn(Shell("exec sleep 1000")));
    pid = child.pid();
    Subprocess moved = std::move(child);
    EXPECT_TRUE(IsAlive(pid));
  }
  EXPECT_FALSE(Exists("/proc/" + std::to_string(pid)));  // gone and reaped
}

// While another process traces a child, its parent does not see that it ended: to us it looks like one that hangs.
TEST(Subprocess, AChildThatDoesNotEndIsGivenUp) {
  Subprocess child = Must(Subprocess::Spawn(Shell("exec sleep 1000")));
  const pid_t pid = child.pid();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    const char seized = ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 1 : 0;
    (void)!write(ready[1], &seized, 1);
    sleep(20);
    _exit(0);
  }
  char seized = 0;
  EXPECT_EQ(read(ready[0], &seized, 1), 1);
  close(ready[0]);
  close(ready[1]);
  const auto end_tracer = [&] {
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
  };
  if (seized == 0) {
    end_tracer();
    GTEST_SKIP() << "this process may not trace others";
  }
  testing::internal::CaptureStderr();
  EXPECT_FALSE(child.KillAndWait(0.05));
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("process " + std::to_string(pid) + " did not end within 50.0 ms of SIGKILL and is left behind"));
  EXPECT_EQ(child.pid(), -1);
  EXPECT_FALSE(child.Running()) << "and nobody waits for it again";
  end_tracer();
  EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
}

TEST(Subprocess, WhatAChildLeavesEndsWithItOnRequest) {
  for (const bool ends : {true, false}) {
    const Fd out = MemoryFile();
    SpawnOptions options = Shell("sleep 300 >/dev/null 2>&1 & echo $!; exit 3");
    options.stdout_fd = out.get();
    options.ends_group = ends;
    Subprocess child = Must(Subprocess::Spawn(options));
    EXPECT_EQ(Must(child.Wait()).code, 3);
    const auto left = static_cast<pid_t>(Must(ParseInt(Trim(ReadFrom(out, 0)))));
    if (ends) {
      EXPECT_TRUE(EndsSoon(left));
    } else {
      EXPECT_EQ(kill(left, SIGKILL), 0);
    }
  }
}

TEST(Subprocess, SignalsThatWeIgnoreOrBlockReachTheChild) {
  sigset_t term, old;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &old);
  auto handler = ::signal(SIGINT, SIG_IGN);
  for (const char* name : {"INT", "TERM", "SEGV"}) {
    Subprocess child = Must(Subprocess::Spawn(Shell("kill -" + std::string(name) + " $$; sleep 1000")));
    EXPECT_EQ(child.Wait(10)->ToString(), "killed by SIG" + std::string(name));
  }
  ::signal(SIGINT, handler);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

TEST(Subprocess, OnlyTheNamedDescriptorsReachTheChild) {
  int leak = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, like careless code
  int shared[2];
  ASSERT_EQ(::pipe(shared), 0);
  SpawnOptions options = Shell("ls /proc/self/fd | tr '\\n' ' ' >&3");
  options.extra_fds = {{shared[1], 3}};
  Subprocess child = Must(Subprocess::Spawn(options));
  ::close(shared[1]);
  ASSERT_TRUE(child.Wait(10).ok());
  char text[256] = {};
  ASSERT_GT(::read(shared[0], text, sizeof text - 1), 0);
  ::close(shared[0]);
  ::close(leak);
  // 3 is passed by us, and ls opens its folder as one more.
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
  EXPECT_TRUE(Must(Subprocess::Spawn(options)).Wait(10)->ok());
  char text[2];
  ASSERT_EQ(::read(a[0], text, 2), 2);
  EXPECT_EQ(text[0], 'A');
  ASSERT_EQ(::read(b[0], text, 2), 2);
  EXPECT_EQ(text[0], 'B');
  for (int fd : {a[0], a[1], b[0], b[1]}) ::close(fd);
}

TEST(Subprocess, LimitsHold) {
  SpawnOptions options = Shell("ulimit -v; ulimit -c; ulimit -t");
  TempDir dir = Must(TempDir::Create());
  int fd = ::open(dir.Join("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  options.stdout_fd = fd;
  options.max_memory_bytes = uint64_t{1} << 30;
  options.max_cpu_seconds = 9;
  ASSERT_TRUE(Must(Subprocess::Spawn(options)).Wait(10)->ok());
  ::close(fd);
  EXPECT_EQ(*ReadFile(dir.Join("out")), "1048576\n0\n9\n");
}

// A worker must not outlive a tool killed by SIGKILL, which runs no destructor.
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
