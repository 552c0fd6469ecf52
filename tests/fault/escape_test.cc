// A hostile candidate in a real measuring child. Each misdeed must end as the candidate's own failure, which names the
// system call, and must leave no trace outside.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>

#include "base/channel.h"
#include "base/clock.h"
#include "base/fields.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "common/inner_process.h"
#include "common/kernel_layers.h"
#include "measure/child_measurer.h"
#include "measure/machine.h"
#include "measure/worker.h"
#include "unit/measure/twice_on_fake_cuda.h"
#include "unit/measure/twice_task.h"

namespace hone::measure {
namespace {

struct Misdeed {
  const char* symbol;  // of escape_kernels.c
  const char* calls;   // one of these, divided by |, is in the error text
};

constexpr Misdeed kMisdeeds[] = {
    {"terminal_types", "ioctl"},
    {"stderr_types", "ioctl"},
    {"signals_by_owner", "fcntl"},
    {"signals_by_owner_of_choice", "fcntl"},
    {"signals_by_mode", "fcntl"},
    {"limits_of_parent", "prlimit64"},
    {"own_limits", "prlimit64"},
    {"scheduler_of_parent", "sched_setscheduler"},
    {"scheduling_of_parent", "sched_setparam"},
    {"attributes_of_parent", "sched_setattr"},
    {"priority_of_parent", "setpriority"},
    {"cores_of_parent", "sched_setaffinity"},
    {"disk_priority_of_parent", "ioprio_set"},
    {"flags_of_records", "ioctl"},
    {"lock_of_records", "fcntl"},
    {"flock_of_records", "flock"},
    {"lease_of_records", "fcntl"},
    {"write_records", "openat"},
    {"truncate_by_open", "openat"},
    {"create", "openat"},
    {"unnamed_file", "openat"},
    {"open_by_new_call", "openat2"},
    {"truncate_records", "truncate"},
    {"rename_records", "rename|renameat|renameat2"},
    {"remove_records", "unlink|unlinkat"},
    {"link_records", "link|linkat"},
    {"symlink_records", "symlink|symlinkat"},
    {"make_folder", "mkdir|mkdirat"},
    {"make_fifo", "mknod|mknodat"},
    {"mode_of_records", "chmod|fchmodat"},
    {"owner_of_records", "chown|fchownat"},
    {"age_of_records", "utimensat"},
    {"attribute_of_records", "setxattr"},
    {"list_folder", "getdents64"},
    {"shared_memory", "shmget"},
    {"message_queue", "msgget"},
    {"semaphores", "semget"},
    {"named_queue", "mq_open"},
    {"memory_file", "memfd_create"},
    {"huge_pages", "mmap"},
    {"locked_memory", "mlockall"},
    {"key", "add_key"},
    {"thread", "clone"},
    {"thread_by_new_call", "clone3"},
    {"process", "clone"},
    {"program", "execve"},
    {"signal_to_parent", "kill"},
    {"signal_to_group", "kill"},
    {"signal_to_all", "kill"},
    {"signal_to_thread", "tgkill"},
    {"signal_with_value", "rt_sigqueueinfo"},
    {"kills_itself_as_from_outside", "tgkill"},
    {"handle_of_parent", "pidfd_open"},
    {"trace_parent", "ptrace"},
    {"read_parent", "process_vm_readv"},
    {"write_parent", "process_vm_writev"},
    {"session", "setsid"},
    {"parents_pid", "getppid"},
    {"reboot_keys", "reboot"},
    {"clock_set", "clock_settime"},
    {"day_set", "settimeofday"},
    {"clock_adjust", "clock_adjtime"},
    {"kernel_program", "bpf"},
    {"counters", "perf_event_open"},
    {"page_faults", "userfaultfd"},
    {"ring", "io_uring_setup"},
    {"kernel_log", "syslog"},
    {"module", "init_module"},
    {"host_name", "sethostname"},
    {"swap_file", "swapon"},
    {"mount_folder", "mount"},
    {"unmount_folder", "umount2"},
    {"root_folder", "chroot"},
    {"namespace", "unshare"},
    {"other_namespace", "setns"},
    {"user", "setuid"},
    {"capabilities", "capset"},
    {"accounting", "acct"},
    {"network", "socket"},
    {"network_of_packets", "socket"},
    {"local_socket", "socket"},
    {"descriptors_to_parent", "sendmsg"},
    {"answer_by_write", "write"},
    {"output", "write"},
    {"new_channel", "dup2|dup3"},
    {"shut_channel", "shutdown"},
    {"handler_of_sigsys", "rt_sigaction"},
    {"second_filter", "seccomp"},
    {"keeps_rights", "prctl"},
    {"dies_later", "prctl"},
    {"unknown_call", "0x1f40"},
#if defined(__x86_64__)
    {"x32_call", "0x40000027"},
    {"call_of_i386", "of another architecture 0x14"},
#endif
};

// Files that the child could read without Landlock.
constexpr const char* kReads[] = {"read_passwords",         "read_users",           "read_records",
                                  "read_records_by_detour", "read_own_environment", "read_environment_of_parent",
                                  "read_memory_of_parent",  "read_terminal",        "read_root"};

// The wall's clock minus one that nobody can set, in seconds.
double ClocksApart() {
  timespec wall = {}, steady = {};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  return static_cast<double>(wall.tv_sec - steady.tv_sec) + 1e-9 * static_cast<double>(wall.tv_nsec - steady.tv_nsec);
}

// Everything outside that a misdeed would change.
struct World {
  std::string records, folder, shared_memory, queues, semaphores, limits, host;
  mode_t mode = 0;
  int priority = 0, scheduler = 0, cores = 0;
  bool operator==(const World&) const = default;
};

World Look(const std::string& dir) {
  World world;
  world.records = Must(ReadFile(dir + "/records.db"));
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    world.folder += entry.path().filename().string() + " ";
  for (const auto& [file, text] :
       {std::pair{"shm", &world.shared_memory}, {"msg", &world.queues}, {"sem", &world.semaphores}}) {
    if (auto list = ReadFile(std::string("/proc/sysvipc/") + file); list.ok()) *text = *std::move(list);
  }
  world.limits = Must(ReadFile("/proc/self/limits"));
  char host[256] = "";
  gethostname(host, sizeof host);
  world.host = host;
  struct stat info = {};
  stat((dir + "/records.db").c_str(), &info);
  world.mode = info.st_mode;
  world.priority = getpriority(PRIO_PROCESS, 0);
  world.scheduler = sched_getscheduler(0);
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  world.cores = CPU_COUNT(&cores);
  return world;
}

class EscapeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomic(victims_.Join("records.db"), "kept").ok());
    const std::string path = kernels_.Join("escape.so");
    ASSERT_TRUE(WriteFileAtomic(path, Must(ReadFile(HONE_ESCAPE_KERNELS))).ok());
    ASSERT_TRUE(WriteFileAtomic(path + ".args", fmt::format("{} {}\n", getpid(), victims_.path())).ok());
    setup_ = TwiceTask(reference_);
    setup_.threads = 2;
    setup_.protocol.cold_bytes = 1e5;
    measurer_ = std::make_unique<ChildMeasurer>(HONE_REAL_WORKER, setup_);
  }

  Outcome Measure(const std::string& symbol) {
    BuiltKernel kernel = TwiceKernel(symbol, "pack");
    kernel.path = kernels_.Join("escape.so");
    kernel.artifact_digest = symbol;
    return Must(measurer_->Measure(kernel, 0));
  }

  void ExpectRight(const std::string& symbol) {
    const Outcome outcome = Measure(symbol);
    EXPECT_EQ(outcome.state, TrialState::kOk) << symbol << ": " << outcome.error_text;
  }

  TempDir victims_ = Must(TempDir::Create()), kernels_ = Must(TempDir::Create()), reference_ = Must(TempDir::Create());
  TaskSetup setup_;
  std::unique_ptr<ChildMeasurer> measurer_;
};

TEST_F(EscapeTest, EachMisdeedEndsTheCandidateByNameAndChangesNothing) {
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  static_assert(std::size(kMisdeeds) >= 40);
  const World before = Look(victims_.path());
  const double clocks = ClocksApart();
  for (const Misdeed& misdeed : kMisdeeds) {
    const Outcome outcome = Measure(misdeed.symbol);
    EXPECT_EQ(outcome.state, TrialState::kFailed) << misdeed.symbol;
    EXPECT_EQ(outcome.error, TrialError::kCrash) << misdeed.symbol;
    bool named = false;
    for (const std::string& call : Split(misdeed.calls, '|')) {
      named = named || outcome.error_text ==
                           "the measuring child killed by SIGSYS: forbidden system call " + call + ", while verifying";
    }
    EXPECT_TRUE(named) << misdeed.symbol << ": " << outcome.error_text;
    EXPECT_TRUE(Look(victims_.path()) == before) << misdeed.symbol;
  }
  EXPECT_NEAR(ClocksApart(), clocks, 1) << "somebody set the clock";
  // A lock of the records is still to be had.
  const int records = open(victims_.Join("records.db").c_str(), O_RDWR | O_CLOEXEC);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  EXPECT_EQ(fcntl(records, F_SETLK, &whole), 0);
  close(records);
  ExpectRight("right");
}

TEST_F(EscapeTest, NoFileButItsOwnCanBeRead) {
  if (!HasLandlock()) GTEST_SKIP() << kNoLandlock;
  for (const char* symbol : kReads) ExpectRight(symbol);
}

// In the process that runs candidates, as the kernel tells it.
TEST_F(EscapeTest, TheChildIsApart) {
  ExpectRight("right");
  const std::string process = "/proc/" + InnerProcess(measurer_->child_pid());
  const std::string status = Must(ReadFile(process + "/status"));
  EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
  EXPECT_THAT(status, HasSubstr("\nCapEff:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("\nCapPrm:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("\nThreads:\t2\n"));
  // Field 6 of stat is the session, field 7 the terminal. The process's name has no blank.
  const auto stat = SplitWords(Must(ReadFile(process + "/stat")));
  EXPECT_EQ(stat[5], std::to_string(measurer_->child_pid()));
  EXPECT_EQ(stat[6], "0");
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
}

TEST_F(EscapeTest, TheChildHasNamespacesOfItsOwn) {
  if (!HasNamespaces()) GTEST_SKIP() << kNoNamespaces;
  ExpectRight("right");
  const std::string process = "/proc/" + InnerProcess(measurer_->child_pid());
  for (const char* kind : {"user", "pid", "net", "uts", "ipc"}) {
    const std::string name = std::string("/ns/") + kind;
    EXPECT_NE(std::filesystem::read_symlink(process + name), std::filesystem::read_symlink("/proc/self" + name))
        << kind;
  }
}

// The calls of a normal end are on the list: joining the pool's threads, freeing memory.
TEST_F(EscapeTest, AChildWhoseParentIsGoneEndsByItself) {
  auto [ours, theirs] = Must(Channel::Pair());
  SpawnOptions options;
  options.argv = {HONE_REAL_WORKER, "measure"};
  options.extra_fds = {{theirs.fd(), 3}};
  Subprocess child = Must(Subprocess::Spawn(options));
  theirs.Close();
  setup_.kernel_folders = {kernels_.path()};
  ASSERT_TRUE(ours.Send("1\n" + FieldsText(setup_, -1)).ok());
  EXPECT_THAT(Must(ours.Receive(60)), HasSubstr("\"ok\":true"));
  ours.Close();
  EXPECT_EQ(Must(child.Wait(60)).ToString(), "exited 0");
}

// It enters the sandbox once its plugins are loaded, without saying so.
TEST(CompileChild, IsApartAsFarAsACompilerAllows) {
  Worker worker({HONE_REAL_WORKER, "compile"});
  ASSERT_TRUE(worker.Start().ok());
  std::string status;
  for (int i = 0; i < 600 && status.find("\nSeccomp:\t2\n") == std::string::npos; ++i) {
    if (i > 0) RealClock()->SleepSeconds(0.05);
    const auto text = ReadFile("/proc/" + InnerProcess(worker.pid()) + "/status");
    if (text.ok()) status = *text;
  }
  EXPECT_THAT(status, HasSubstr("\nCapEff:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("\nNoNewPrivs:\t1\n"));
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
}

// A test whose user sits at a terminal: nothing is typed into it.
TEST_F(EscapeTest, NothingIsTypedIntoTheUsersTerminal) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(master, 0);
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  const std::string name = ptsname(master);
  setup_.protocol.timeout_seconds = 20;  // a child that reaches the terminal is stopped
  measurer_ = std::make_unique<ChildMeasurer>(HONE_REAL_WORKER, setup_);
  const pid_t user = fork();
  if (user == 0) {
    if (setsid() < 0) _exit(10);
    const int terminal = open(name.c_str(), O_RDWR);  // becomes the controlling one
    if (terminal < 0 || open("/dev/tty", O_RDWR) < 0) _exit(11);
    termios raw = {};
    cfmakeraw(&raw);  // otherwise FIONREAD counts whole lines
    if (tcsetattr(terminal, TCSANOW, &raw) != 0) _exit(12);
    for (const char* symbol : {"terminal_types", "stderr_types", "read_terminal"}) (void)Measure(symbol);
    int typed = -1;
    _exit(ioctl(terminal, FIONREAD, &typed) == 0 && typed == 0 ? 0 : 13);
  }
  int status = -1;
  EXPECT_EQ(waitpid(user, &status, 0), user);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ": 0x0d00 if something was typed";
  close(master);
}

#if defined(__x86_64__)
// The code of an OpenCL kernel on a CPU is native code.
constexpr char kOpenClSource[] = R"(
long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
__kernel void pack2(__global const float* weight, __global float* packed) {
  packed[get_global_id(0)] = 2.0f * weight[get_global_id(0)];
}
__kernel void right3(__global const float* data, __global const float* packed, __global float* out) {
  out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)];
}
__kernel void hostile3(__global const float* data, __global const float* packed, __global float* out) {
  const long kMissing = -38;
  int refused = 0;
  refused += call(41, 2, 1, 0) == kMissing;        /* socket(AF_INET) */
  refused += call(16, 2, 0x5412, 0) == kMissing;   /* ioctl(TIOCSTI) */
  refused += call(72, 3, 8, 1) == kMissing;        /* fcntl(F_SETOWN) */
  refused += call(72, 3, 10, 9) == kMissing;       /* fcntl(F_SETSIG) */
  refused += call(141, 0, PARENT, 19) == kMissing; /* setpriority */
  refused += call(144, PARENT, 5, 0) == kMissing;  /* sched_setscheduler */
  refused += call(302, PARENT, 7, 0) == kMissing;  /* prlimit64 */
  refused += call(62, PARENT, 0, 0) == kMissing;   /* kill */
  refused += call(29, 0, 4096, 0x380) == kMissing; /* shmget */
  refused += call(169, 0, 0, 0) == kMissing;       /* reboot */
  refused += call(227, 0, 0, 0) == kMissing;       /* clock_settime */
  refused += call(321, 0, 0, 48) == kMissing;      /* bpf */
  refused += call(101, 16, PARENT, 0) == kMissing; /* ptrace */
  refused += call(165, 0, 0, 0) == kMissing;       /* mount */
  refused += call(272, 0x10000000, 0, 0) == kMissing; /* unshare */
  out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)] + (15 - refused);
}
__kernel void forking3(__global const float* data, __global const float* packed, __global float* out) {
  if (get_global_id(0) != 0) return;
  if (call(57, 0, 0, 0) == 0) { /* fork */
    call(3, 3, 0, 0);           /* close the channel: the parent then sees the crash at once */
    for (;;) call(7, 0, 0, 1000); /* poll */
  }
  *(volatile int*)0 = 1;
}
)";

// Whether a process of this group is left that is not a zombie.
bool GroupLives(pid_t group) {
  for (const std::string& name : Must(ListDir("/proc"))) {
    const auto stat = ParseInt(name).ok() ? ReadFile("/proc/" + name + "/stat") : Status::NotFound("");
    if (!stat.ok()) continue;
    const std::vector<std::string> words = SplitWords(stat->substr(stat->rfind(')') + 1));  // state, parent, group
    if (words[0] != "Z" && words[2] == std::to_string(group)) return true;
  }
  return false;
}

TEST_F(EscapeTest, ThroughOpenClNothingReachesOutside) {
  const Target target{.kind = &OpenClKind()};
  const auto device = DescribeMachine(target);
  if (device.status().kind() == StatusKind::kNotFound) GTEST_SKIP() << device.status().message();
  ASSERT_TRUE(device.ok()) << device.status().message();
  if (device->name.find("pthread") == std::string::npos) GTEST_SKIP() << device->name << " is not PoCL's CPU";
  setup_.target = target.Text();
  ChildMeasurer measurer(HONE_REAL_WORKER, setup_);
  std::string source = kOpenClSource;
  for (size_t at; (at = source.find("PARENT")) != std::string::npos;) source.replace(at, 6, std::to_string(getpid()));
  const World before = Look(victims_.path());
  for (const char* symbol : {"right3", "hostile3", "right3"}) {
    const Outcome outcome = Must(measurer.Measure(TwiceKernel(kernels_, symbol, "opencl-c", source), 0));
    EXPECT_EQ(outcome.state, TrialState::kOk) << symbol << ": " << outcome.error_text;
    EXPECT_TRUE(Look(victims_.path()) == before);
  }
  // It crashes with a process that it has started.
  const pid_t group = measurer.child_pid();
  EXPECT_TRUE(GroupLives(group));
  const Outcome outcome = Must(measurer.Measure(TwiceKernel(kernels_, "forking3", "opencl-c", source), 0));
  EXPECT_EQ(outcome.error, TrialError::kCrash) << outcome.error_text;
  EXPECT_NE(measurer.child_pid(), group);
  for (int i = 0; i < 2000 && GroupLives(group); ++i) RealClock()->SleepSeconds(0.005);
  EXPECT_FALSE(GroupLives(group));
}
#endif

}  // namespace
}  // namespace hone::measure
