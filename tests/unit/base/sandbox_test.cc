// The sandbox, layer by layer: each with the others left out where they would hide it. tests/fault/escape_test.cc tries
// the whole from inside a measuring child.
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/file.h"
#include "base/sandbox_layers.h"
#include "base/seccomp.h"
#include "common/kernel_layers.h"
#include "in_child.h"

namespace hone {
namespace {

// The exit status of a child that enters the sandbox and then does `work`, whose return value is the exit code.
int InSandbox(const SandboxOptions& options, const std::function<int(const Sandbox&)>& work) {
  return InChild([&] { return work(EnterSandbox(options)); });
}

// The same with the list of calls.
constexpr int kNoLayer = 99;
int WithListedCalls(const SandboxOptions& options, const std::function<int()>& work) {
  return InSandbox(options, [&](const Sandbox&) { return LockCalls(options) ? work() : kNoLayer; });
}

void ExpectDone(int status) { EXPECT_TRUE(ExitedWith(status, 0)) << status; }
void ExpectEnded(int status) { EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status; }

SandboxOptions OnlyLandlock() { return {.namespaces = false, .seccomp = false}; }

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
  if (KernelLandlock() >= 3 && truncate(db.c_str(), 0) == 0) return 11;
  return 0;
}

TEST_F(SandboxTest, LandlockForbidsToWriteAndAllowsToReadWhatIsNamed) {
  if (!HasLandlock()) GTEST_SKIP() << kNoLandlock;
  SandboxOptions options = OnlyLandlock();
  options.readable = {dir_, "/proc/self/task", dir_ + "/is-not-there"};
  ExpectDone(InSandbox(options, [&](const Sandbox& sandbox) {
    if (sandbox.landlock == 0) return kNoLayer;
    if (open((dir_ + "/records.db").c_str(), O_RDONLY) < 0) return 20;
    if (open("/proc/self/task", O_RDONLY | O_DIRECTORY) < 0) return 21;
    for (const char* path : {"/etc/passwd", "/proc/self/status", "/"}) {
      if (open(path, O_RDONLY) >= 0) return 22;
    }
    execl("/bin/true", "true", nullptr);
    if (errno != EACCES) return 23;
    return TryToWrite(dir_);
  }));
  EXPECT_EQ(*ReadFile(dir_ + "/records.db"), "kept");
}

TEST_F(SandboxTest, ADriverWritesItsCachesAlone) {
  if (!HasLandlock()) GTEST_SKIP() << kNoLandlock;
  SandboxOptions options = DeviceSandbox();
  options.namespaces = options.seccomp = false;
  const std::string cache = dir_ + "/cache", work = dir_ + "/work";
  ASSERT_EQ(mkdir(cache.c_str(), 0700), 0);
  ASSERT_EQ(mkdir(work.c_str(), 0700), 0);
  ExpectDone(InChild([&] {
    for (const char* name : {"TMPDIR", "HOME", "XDG_CACHE_HOME", "CUDA_CACHE_PATH"}) unsetenv(name);
    setenv("POCL_CACHE_DIR", cache.c_str(), 1);
    if (EnterSandbox(options).landlock == 0) return kNoLayer;
    if (open((cache + "/new").c_str(), O_WRONLY | O_CREAT, 0600) < 0) return 1;
    if (open("/etc/passwd", O_RDONLY) < 0) return 2;
    const bool within = dir_.rfind("/tmp/", 0) == 0;  // drivers may write there
    if (!within && open((work + "/new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) return 3;
    return open("/var/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0 ? 4 : 0;
  }));
}

TEST_F(SandboxTest, LandlockForbidsSignalsToOthers) {
  const int version = KernelLandlock();
  if (version < sandbox::kLandlockScopes) GTEST_SKIP() << "this kernel has Landlock " << version << ", not 6";
  ExpectDone(InSandbox(OnlyLandlock(), [](const Sandbox& sandbox) {
    if (!sandbox.scopes) return kNoLayer;
    return kill(getppid(), 0) == 0 || errno != EPERM ? 1 : 0;
  }));
}

// The tests below need the parent's view of a child in namespaces.
TEST_F(SandboxTest, AChildInNamespacesEndsAsItsCandidateDoes) {
  if (!HasNamespaces()) GTEST_SKIP() << kNoNamespaces;
  SandboxOptions options{.landlock = false, .seccomp = false};
  ExpectDone(InSandbox(options, [](const Sandbox& sandbox) {
    if (!sandbox.namespaces) return kNoLayer;
    // The kernel's init is another process: it would ignore our own signals.
    return getpid() == 1 || geteuid() == 0 ? 1 : 0;
  }));
  EXPECT_TRUE(ExitedWith(InSandbox(options, [](const Sandbox&) { return 7; }), 7));
  for (const int number : {SIGABRT, SIGSEGV, SIGKILL, SIGXFSZ, SIGSYS}) {
    const int status = InSandbox(options, [number](const Sandbox&) { return raise(number); });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number << ": " << status;
  }
}

TEST_F(SandboxTest, NothingInNamespacesOutlivesTheirChild) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    EnterSandbox({.landlock = false, .seccomp = false});
    (void)!write(ends[1], "x", 1);
    pause();
    _exit(0);
  }
  close(ends[1]);
  char got = 0;
  ASSERT_EQ(read(ends[0], &got, 1), 1);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(read(ends[0], &got, 1), 0) << "the last holder of the other end is gone";
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
}

TEST_F(SandboxTest, NoCapabilityIsLeft) {
  ExpectDone(InSandbox({.namespaces = false, .landlock = false, .seccomp = false}, [](const Sandbox& sandbox) {
    if (!sandbox.capabilities) return 1;
    const auto status = ReadFile("/proc/self/status");
    if (!status.ok()) return 2;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
      if (status->find(std::string(set) + ":\t0000000000000000\n") == std::string::npos) return 3;
    }
    return status->find("\nNoNewPrivs:\t1\n") == std::string::npos ? 4 : 0;
  }));
}

TEST_F(SandboxTest, TheEnvironmentIsGone) {
  ExpectDone(InSandbox({.landlock = false, .seccomp = false}, [](const Sandbox& sandbox) {
    if (!sandbox.environment || getenv("PATH") != nullptr) return 1;
    const auto text = ReadFile("/proc/self/environ");
    return text.ok() && text->find_first_not_of('\0') == std::string::npos ? 0 : 2;
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

// A call that is not on the list ends the child, and so does a listed call with another argument.
TEST_F(SandboxTest, ACallThatIsNotListedEndsTheChild) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  const std::function<void()> kCalls[] = {
      [] { socket(AF_UNIX, SOCK_STREAM, 0); },
      [] { (void)fork(); },
      [] { kill(getppid(), 0); },
      [] { syscall(999); },
      [] { (void)open("/", O_WRONLY); },
      [] { syscall(SYS_write, 1, "x", 1); },
      [] { syscall(SYS_tgkill, getpid(), getpid(), SIGKILL); },
      [] { syscall(SYS_getrusage, RUSAGE_SELF, nullptr); },
      [] { syscall(SYS_sendto, 3, "x", 1, 0, "address", 7); },
      [] { std::thread([] {}).join(); },
#if defined(__x86_64__)
      [] { syscall(0x40000000 | SYS_getpid); },  // x32
      [] {
        __asm__ volatile("int $0x80" : : "a"(20 /* getpid of i386 */));
      },
#endif
  };
  for (const auto& call : kCalls) {
    ExpectEnded(WithListedCalls({}, [&] {
      call();
      return 0;
    }));
  }
}

// Threads that run already stay, and are bound as well.
TEST_F(SandboxTest, TheListBindsThreadsThatRun) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  ExpectEnded(InSandbox({}, [](const Sandbox&) {
    std::atomic<bool> locked = false;
    std::thread other([&] {
      while (!locked) sched_yield();
      getppid();
    });
    const bool done = LockCalls({});
    locked = true;
    other.join();
    return done ? 0 : kNoLayer;
  }));
}

TEST_F(SandboxTest, AHandlerNamesTheCall) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  static int to_parent;
  to_parent = ends[1];
  const int status = InSandbox({}, [](const Sandbox&) {
    dup2(to_parent, STDERR_FILENO);
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      char text[64] = "";
      AppendRefusedCall(*info, text, sizeof text);
      (void)!write(STDERR_FILENO, text, strlen(text));
      EndByRefusedCall();
    };
    sigaction(SIGSYS, &action, nullptr);
    if (!LockCalls({})) return kNoLayer;
    getppid();
    return 0;
  });
  ExpectEnded(status);
  close(ends[1]);
  char text[64] = "";
  EXPECT_GT(read(ends[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "getppid");
  close(ends[0]);
}

TEST(SeccompList, IsShortAndNamed) {
  EXPECT_LE(CountCalls(HostCalls()), 35);
  for (const auto rules : {HostCalls(), DriverCalls()}) {
    for (const CallRule& rule : rules) EXPECT_THAT(CallName(rule.call), Not(StartsWith("0x")));
  }
  EXPECT_EQ(CallName(0x1ab9), "0x1ab9");
}

// A driver's calls fail where the list lacks them, as on an older kernel.
TEST_F(SandboxTest, ADriversOtherCallsAreMissing) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  ExpectDone(WithListedCalls(DeviceSandbox(), [] {
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != ENOSYS) return 1;
    const int local = socket(AF_UNIX, SOCK_STREAM, 0), news = socket(AF_NETLINK, SOCK_RAW, 0);
    if (local < 0 || news < 0) return 2;
    if (fcntl(local, F_SETOWN, getpid()) == 0 || fcntl(local, 10 /* F_SETSIG */, SIGKILL) == 0) return 3;
    if (setpriority(PRIO_PROCESS, 0, 19) == 0) return 4;
    int seen = 0;
    std::thread([&] { seen = 1; }).join();
    if (seen != 1) return 5;
    return system("true") == 0 ? 0 : 6;
  }));
}

// CUDA's driver does not start if it cannot name its threads, which glibc does by /proc/self.
TEST_F(SandboxTest, ADriverNamesItsThreads) {
  ExpectDone(InSandbox(DeviceSandbox(), [](const Sandbox&) {
    std::atomic<bool> done = false;
    std::thread other([&] {
      while (!done) sched_yield();
    });
    LockCalls(DeviceSandbox());
    const int error = pthread_setname_np(other.native_handle(), "driver");
    done = true;
    other.join();
    return error == 0 ? 0 : 1;
  }));
}

// A failed check must still end a child by its own signal, so that the parent sees which.
TEST_F(SandboxTest, AbortStillAborts) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  const int status = WithListedCalls({}, []() -> int { abort(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
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

// Without seccomp, no thread or process is started once those that are needed run.
TEST_F(SandboxTest, WithoutAListNothingNewIsStarted) {
  SandboxOptions options{.namespaces = false, .landlock = false, .seccomp = false};
  constexpr int kOnlyRoot = 98;
  const int status = InChild([&] {
    if (getuid() == 0 && setuid(65534) != 0) return kOnlyRoot;  // which has no limit
    EnterSandbox(options);
    if (LockCalls(options)) return 1;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child < 0 && errno == EAGAIN ? 0 : 2;
  });
  if (ExitedWith(status, kOnlyRoot)) GTEST_SKIP() << "root cannot become user 65534 here";
  ExpectDone(status);
}

TEST_F(SandboxTest, EachLayerCanBeLeftOut) {
  SandboxOptions options{.namespaces = false, .landlock = false, .seccomp = false};
  ExpectDone(InSandbox(options, [&](const Sandbox& sandbox) {
    if (sandbox.namespaces || sandbox.landlock > 0 || sandbox.scopes) return 1;
    if (open((dir_ + "/records.db").c_str(), O_WRONLY) < 0) return 2;
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 3;
  }));
}

// The doctor finds out by trying; EnterSandbox reports the kernel's answers.
TEST_F(SandboxTest, TryingAgreesWithEntering) {
  for (const bool there : {true, false}) {
    for (SandboxOptions options : {SandboxOptions(), DeviceSandbox()}) {
      options.namespaces = options.landlock = options.seccomp = there;
      const auto layers = Must(TrySandbox(options));
      const auto holds = [&](const std::string& name) {
        for (const TriedLayer& layer : layers) {
          if (layer.name == name) return layer.holds;
        }
        return false;
      };
      const int status = InSandbox(options, [&](const Sandbox& entered) {
        if (entered.limits != holds("limits") || entered.environment != holds("environment")) return 1;
        if (entered.namespaces != holds("namespaces") || entered.capabilities != holds("capabilities")) return 2;
        if ((entered.landlock > 0) != holds("writing") || entered.scopes != holds("signals")) return 3;
        if (!options.device && (entered.landlock > 0) != holds("reading")) return 4;
        return LockCalls(options) == holds("calls") ? 0 : 5;
      });
      EXPECT_TRUE(ExitedWith(status, 0)) << there << options.device << ": " << status;
      for (const TriedLayer& layer : layers) EXPECT_NE(layer.text.empty(), layer.advice.empty()) << layer.name;
    }
  }
}

}  // namespace
}  // namespace hone
