// An instance's use of the operating system: huge pages for its arena, parameters in a mapping shared between
// processes, a core for each thread; and only one thread may use it at a time.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "small_network.h"
#include "unit/base/in_child.h"

// The libraries that this program loads call these.
static std::atomic<int64_t> allocations = 0;
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void* malloc(size_t bytes) { return ++allocations, __libc_malloc(bytes); }
extern "C" void* calloc(size_t count, size_t bytes) { return ++allocations, __libc_calloc(count, bytes); }
extern "C" void* realloc(void* old, size_t bytes) { return ++allocations, __libc_realloc(old, bytes); }
extern "C" void* aligned_alloc(size_t to, size_t bytes) { return ++allocations, __libc_memalign(to, bytes); }
extern "C" int posix_memalign(void** out, size_t to, size_t bytes) {
  return ++allocations, (*out = __libc_memalign(to, bytes)) == nullptr ? ENOMEM : 0;
}

namespace hone::library {
namespace {

constexpr uint64_t kHugePage = 2 << 20;

// Two convolutions between tensors of 3.2 MB, an arena of several huge pages, and weights of 2.6 MB.
graph::Graph LargeTensors() {
  graph::NetworkBuilder net("large", 7);
  std::string x = net.Relu("r1", net.Conv("c1", net.Input("data", {1, 3, 224, 224}), 16, {{3}, {1}, {1}}));
  x = net.Relu("r2", net.Conv("c2", x, 16, {{3}, {1}, {1}}));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 40000)});
}

// A mapping of this process, from the kernel.
struct Mapping {
  uint64_t begin = 0, end = 0;
  std::string permissions, path, flags;
  int64_t copied_kb = 0;  // private pages, because they were written
};

std::vector<Mapping> Mappings() {
  std::vector<Mapping> all;
  std::ifstream file("/proc/self/smaps");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.empty()) continue;
    if (first.back() != ':') {
      Mapping mapping;
      unsigned long begin = 0, end = 0;
      if (std::sscanf(first.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
      mapping.begin = begin, mapping.end = end;
      std::string offset, device, inode;
      words >> mapping.permissions >> offset >> device >> inode;
      std::getline(words >> std::ws, mapping.path);
      all.push_back(mapping);
    } else if (!all.empty() && first == "Anonymous:") {
      words >> all.back().copied_kb;
    } else if (!all.empty() && first == "VmFlags:") {
      std::getline(words, all.back().flags);
      all.back().flags += " ";
    }
  }
  return all;
}

std::vector<Mapping> MappingsOf(const std::string& file) {
  std::vector<Mapping> found;
  for (const Mapping& mapping : Mappings()) {
    if (mapping.path.ends_with(file)) found.push_back(mapping);
  }
  return found;
}

// The mappings with requested huge pages.
std::vector<Mapping> HugeMappings() {
  std::vector<Mapping> found;
  for (const Mapping& mapping : Mappings()) {
    if (mapping.flags.find(" hg ") != std::string::npos) found.push_back(mapping);
  }
  return found;
}

// One build serves all tests of this file.
class LibraryAndSystem : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_.emplace(Must(TempDir::Create()));
    Must(WriteLibrary(Must(BuildLibrary(HostInput(LargeTensors(), "large-net"))), dir_->path()));
    const LibraryFolder folder = Must(ReadLibraryFolder(dir_->path()));
    params_ = folder.ParamsPath();
    net_.emplace(Must(LoadedNetwork::Load(folder.LibraryPath(), folder.identifier)));
  }
  static void TearDownTestSuite() {
    net_.reset();
    dir_.reset();
  }
  void SetUp() override {
    ASSERT_TRUE(net_.has_value());
    in_.resize(net_->info().inputs[0].bytes / 4, 0.5f);
    out_.resize(net_->info().outputs[0].bytes / 4);
  }

  Instance Create(int threads, bool pin = false) { return {*net_, params_, {.threads = threads, .pin = pin}}; }
  int Run(HoneNet* instance) {
    const void* in[] = {in_.data()};
    void* out[] = {out_.data()};
    return net_->run(instance, in, out);
  }
  // As the kernel names it, from its folder on.
  static std::string ParamsFile() { return "/" + BaseName(DirName(params_)) + "/" + BaseName(params_); }

  static inline std::optional<TempDir> dir_;
  static inline std::string params_;
  static inline std::optional<LoadedNetwork> net_;
  std::vector<float> in_, out_;
};

// Runs first, and this file is a separate program, as memory of a destroyed instance may keep its mark.
TEST_F(LibraryAndSystem, TheArenaAndTheParametersAskForHugePages) {
  if (!Exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "this kernel has no huge pages on request";
  const std::vector<Mapping> mappings = Mappings();
  if (std::all_of(mappings.begin(), mappings.end(), [](const Mapping& m) { return m.flags.empty(); })) {
    GTEST_SKIP() << "this kernel does not tell the flags of mappings";
  }
  const uint64_t whole = net_->workspace_size() / kHugePage * kHugePage;
  ASSERT_GE(whole, 2 * kHugePage);
  ASSERT_TRUE(HugeMappings().empty());
  const Instance instance = Create(1);
  uint64_t sum = 0;
  bool parameters = false;
  for (const Mapping& mapping : HugeMappings()) {
    if (mapping.path.ends_with(ParamsFile())) {
      parameters = true;  // placed as the file system thinks best
      continue;
    }
    EXPECT_EQ(mapping.begin % kHugePage, 0u);
    sum += mapping.end - mapping.begin;
  }
  EXPECT_TRUE(parameters);
  EXPECT_EQ(sum, whole);  // the end that fills no huge page stays on small ones
  EXPECT_EQ(Run(instance), HONE_NET_OK);
}

TEST_F(LibraryAndSystem, InstancesMapTheParametersAndCopyNothing) {
  ASSERT_TRUE(MappingsOf(ParamsFile()).empty());
  {
    const Instance instances[] = {Create(1), Create(1)};
    for (const Instance& instance : instances) EXPECT_EQ(Run(instance), HONE_NET_OK);
    const std::vector<Mapping> mapped = MappingsOf(ParamsFile());
    ASSERT_EQ(mapped.size(), 2u);
    const int64_t bytes = *FileSize(params_);
    for (const Mapping& mapping : mapped) {
      EXPECT_EQ(mapping.permissions, "r--p");
      EXPECT_EQ(mapping.copied_kb, 0);
      EXPECT_EQ(static_cast<int64_t>(mapping.end - mapping.begin), (bytes + 4095) / 4096 * 4096);
    }
  }
  EXPECT_TRUE(MappingsOf(ParamsFile()).empty());
}

TEST(Allocations, AreCountedInEveryWay) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  void* kept = nullptr;
  const std::function<void()> kWays[] = {[&] { kept = std::malloc(8); },
                                         [&] { kept = std::calloc(1, 8); },
                                         [&] { kept = std::realloc(kept, 4096); },
                                         [&] { kept = std::aligned_alloc(64, 64); },
                                         [&] { EXPECT_EQ(::posix_memalign(&kept, 64, 64), 0); },
                                         [&] { delete new int; },
                                         [&] { delete[] new char[64]; },
                                         [&] { delete new Wide; }};
  for (size_t i = 0; i < std::size(kWays); ++i) {
    const int64_t before = allocations;
    kWays[i]();
    EXPECT_EQ(allocations, before + 1) << i;
  }
}

TEST_F(LibraryAndSystem, ARunAllocatesNothing) {
  for (const int threads : {1, 2}) {
    const int64_t none = allocations;
    const Instance instance = Create(threads);
    EXPECT_GT(allocations, none);
    const int64_t before = allocations;
    for (int run = 0; run < 2; ++run) EXPECT_EQ(Run(instance), HONE_NET_OK);
    EXPECT_EQ(allocations, before) << threads;
  }
}

// The cores that each thread of this process may use, without threads that end meanwhile.
std::vector<std::set<int>> CoresOfThreads() {
  std::vector<std::set<int>> all;
  const std::vector<std::string> threads = Must(ListDir("/proc/self/task"));
  for (const std::string& thread : threads) {
    cpu_set_t set;
    if (sched_getaffinity(static_cast<pid_t>(std::stol(thread)), sizeof set, &set) != 0) continue;
    std::set<int> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cores.insert(cpu);
    }
    all.push_back(std::move(cores));
  }
  return all;
}

// A thread that has been joined stays in the list for a moment.
std::vector<std::set<int>> CoresOf(size_t threads) {
  std::vector<std::set<int>> all = CoresOfThreads();
  for (int i = 0; i < 500 && all.size() != threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    all = CoresOfThreads();
  }
  EXPECT_EQ(all.size(), threads);
  return all;
}

TEST_F(LibraryAndSystem, PinnedThreadsHaveACoreEachAndThenAllAgain) {
  const std::vector<std::set<int>> before = CoresOf(1);
  ASSERT_EQ(before.size(), 1u);
  for (const bool pin : {false, true}) {
    SCOPED_TRACE(pin);
    {
      const Instance instance = Create(2, pin);
      EXPECT_EQ(Run(instance), HONE_NET_OK);  // its second thread has begun
      std::set<int> together;
      for (const std::set<int>& cores : CoresOf(2)) {
        EXPECT_TRUE(pin ? cores.size() == 1 : cores == before[0]);
        together.insert(cores.begin(), cores.end());
      }
      EXPECT_EQ(together.size(), pin ? std::min<size_t>(before[0].size(), 2) : before[0].size());
    }
    EXPECT_EQ(CoresOf(1), before);
  }
}

// Memory that blocks a reader until it is opened.
struct Gate {
  char* begin = nullptr;
  size_t bytes = 0;
  std::atomic<int> reached{0}, open{0};
};
Gate gate;

void WaitAtTheGate(int, siginfo_t* info, void*) {
  const char* at = static_cast<const char*>(info->si_addr);
  if (at < gate.begin || at >= gate.begin + gate.bytes) {  // an ordinary crash
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  gate.reached = 1;
  const timespec moment = {0, 1000000};
  while (gate.open == 0) nanosleep(&moment, nullptr);
  mprotect(gate.begin, gate.bytes, PROT_READ | PROT_WRITE);
}

TEST_F(LibraryAndSystem, ASecondRunOfOneInstanceIsTold) {
  const size_t input = in_.size() * 4;
  gate.bytes = (input / 4096 + 2) * 4096;
  void* memory = mmap(nullptr, gate.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  gate.begin = static_cast<char*>(memory);
  struct sigaction wait = {}, usual = {};
  wait.sa_sigaction = WaitAtTheGate;
  wait.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSEGV, &wait, &usual), 0);

  const Instance instance = Create(1);
  int first = -1;
  std::thread other([&] {
    // Unaligned, so that the run begins by copying it.
    const void* in[] = {gate.begin + 4};
    std::vector<float> result(out_.size());
    void* out[] = {result.data()};
    first = net_->run(instance, in, out);
  });
  for (int i = 0; i < 30000 && gate.reached == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(gate.reached.load(), 1);
  EXPECT_EQ(Run(instance), HONE_NET_E_BUSY);
  std::vector<double> seconds(static_cast<size_t>(net_->info().layer_count));
  const void* in[] = {in_.data()};
  void* out[] = {out_.data()};
  EXPECT_EQ(net_->profile_run(instance, in, out, seconds.data()), HONE_NET_E_BUSY);
  gate.open = 1;
  other.join();
  EXPECT_EQ(first, HONE_NET_OK);
  EXPECT_EQ(Run(instance), HONE_NET_OK);  // it is free again
  sigaction(SIGSEGV, &usual, nullptr);
  munmap(memory, gate.bytes);
}

// A child of fork() that hangs is killed by its alarm.
constexpr unsigned kChildSeconds = 60;

TEST_F(LibraryAndSystem, AForkedChildCannotRunTheParentsThreads) {
  const Instance instance = Create(2);
  ASSERT_EQ(Run(instance), HONE_NET_OK);
  const std::vector<float> expected = out_;
  const int status = InChild([&] {
    alarm(kChildSeconds);
    if (Run(instance) != HONE_NET_E_FORKED) return 1;
    std::vector<double> seconds(static_cast<size_t>(net_->info().layer_count));
    const void* in[] = {in_.data()};
    void* out[] = {out_.data()};
    if (net_->profile_run(instance, in, out, seconds.data()) != HONE_NET_E_FORKED) return 2;
    net_->destroy(instance);
    const Instance own = Create(2);
    if (Run(own) != HONE_NET_OK) return 3;
    return out_ == expected ? 0 : 4;
  });
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
  EXPECT_EQ(Run(instance), HONE_NET_OK) << "the parent's threads are still there";
  EXPECT_EQ(out_, expected);
}

TEST_F(LibraryAndSystem, AForkedChildRunsAnInstanceWithoutThreads) {
  const Instance instance = Create(1);
  ASSERT_EQ(Run(instance), HONE_NET_OK);
  const std::vector<float> expected = out_;
  const int status = InChild([&] {
    alarm(kChildSeconds);
    std::fill(out_.begin(), out_.end(), 0.0f);
    const int code = Run(instance);
    net_->destroy(instance);
    return code == HONE_NET_OK && out_ == expected ? 0 : 1;
  });
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
}

// The rules of NET.h for a parameter file that changes while it is mapped.
class ChangedFile : public LibraryAndSystem {
 protected:
  void SetUp() override {
    LibraryAndSystem::SetUp();
    good_ = Must(ReadFile(params_));
    Must(WriteFileAtomic(file_, good_));
  }
  // The bytes of the file with all values of the second half changed.
  std::string Changed() const {
    std::string bytes = good_;
    for (size_t i = bytes.size() / 2; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bytes[i] ^ 1);
    return bytes;
  }
  const std::string file_ = dir_->Join("changing.params");
  std::string good_;
};

TEST_F(ChangedFile, AFileRenamedOverItDoesNotMatter) {
  const Instance instance(*net_, file_, {.threads = 1});
  ASSERT_EQ(Run(instance), HONE_NET_OK);
  const std::vector<float> expected = out_;
  Must(WriteFileAtomic(file_, Changed()));
  EXPECT_EQ(Run(instance), HONE_NET_OK);
  EXPECT_EQ(out_, expected);
  Instance(*net_, file_, {.threads = 1, .verify = 1}, HONE_NET_E_PARAMS_DAMAGED);
}

TEST_F(ChangedFile, OverwrittenValuesChangeTheOutputs) {
  const Instance instance(*net_, file_, {.threads = 1, .verify = 1});
  ASSERT_EQ(Run(instance), HONE_NET_OK);
  const std::vector<float> expected = out_;
  std::fstream(file_, std::ios::in | std::ios::out | std::ios::binary) << Changed();
  EXPECT_EQ(Run(instance), HONE_NET_OK);
  EXPECT_NE(out_, expected);
}

TEST_F(ChangedFile, AShorterFileEndsTheProcess) {
  const int status = InChild([&] {
    alarm(kChildSeconds);
    signal(SIGBUS, SIG_DFL);
    const Instance instance(*net_, file_, {.threads = 1});
    if (Run(instance) != HONE_NET_OK) return 1;
    std::ofstream(file_, std::ios::trunc);
    return Run(instance);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS) << status;
}

}  // namespace
}  // namespace hone::library
