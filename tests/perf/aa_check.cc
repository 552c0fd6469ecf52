// How often hone-bench's speed-up claims a difference: between a library and its copy, while other programs run beside
// them, and between a library and one that is 5 % slower, on an idle machine.
//
//   aa_check [load] [idle] [--runs=100] [--seed=1]
//
// Each run is the command `hone-bench --lib A --baseline B --out FILE` with its usual rule (report/speedup.h), on a
// network of four small convolutions and with 20 runs a process. slower_library.c makes the slower library; in every
// second run of `idle` it is the baseline.
//
// Goals: no claim under load; 95 % of the real differences claimed, with the right sign. Exits with 1 otherwise. For
// `idle`, nothing else may run.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/subprocess.h"
#include "graph/network_builder.h"
#include "library/loaded_network.h"
#include "perf/copy_library.h"
#include "perf/flags.h"
#include "report/bench_file.h"
#include "report/speedup.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header
using Verdict = report::Speedup::Verdict;

constexpr double kFound = 0.95;

// Other programs. They start every 1 s on average and run for 0.05 to 1.5 s, so that half of the time nothing runs and
// sometimes three do. They compute, or copy memory.
class RandomLoad {
 public:
  explicit RandomLoad(uint64_t seed) : pid_(fork()) {
    if (pid_ == 0) StartAndStop(seed);
  }
  ~RandomLoad() {
    kill(pid_, SIGKILL);  // its programs follow (PR_SET_PDEATHSIG)
    waitpid(pid_, nullptr, 0);
  }

 private:
  [[noreturn]] static void StartAndStop(uint64_t seed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Rng rng(seed);
    std::multimap<double, pid_t> programs;  // by the time of their end
    const auto now = [] { return RealClock()->NowSeconds(); };
    for (double next = now();;) {
      const double end = programs.empty() ? next : std::min(next, programs.begin()->first);
      RealClock()->SleepSeconds(end - now());
      if (end < next) {
        kill(programs.begin()->second, SIGKILL);
        waitpid(programs.begin()->second, nullptr, 0);
        programs.erase(programs.begin());
      } else {
        const bool copies = rng.UniformDouble() < 0.5;
        const pid_t program = fork();
        if (program == 0) Work(copies);
        programs.emplace(next + 0.05 + 1.45 * rng.UniformDouble(), program);
        next += 2 * rng.UniformDouble();
      }
    }
  }

  [[noreturn]] static void Work(bool copies) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char> from(copies ? 64 << 20 : 0, 1), to(from.size());
    for (volatile uint64_t count = 0;; count = count + 1) {
      if (copies) to = from;
    }
  }

  pid_t pid_;
};

Status Tool(const std::vector<std::string>& argv) {
  CommandOptions options;
  options.timeout_seconds = 600;
  HONE_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(argv, options));
  return result.status.ok() ? Status() : Status::Io(argv[0] + " " + result.status.ToString() + ": " + result.err);
}

class Check {
 public:
  explicit Check(const TempDir& dir) : dir_(dir) {}

  // The libraries `one`, `same` and `slower`.
  Status Make() {
    graph::NetworkBuilder net("aa", 1);
    std::string x = net.Input("data", {1, 32, 28, 28});
    for (const char* name : {"1", "2", "3", "4"}) {
      x = net.Relu(fmt::format("relu{}", name), net.Conv(fmt::format("conv{}", name), x, 32, {{3}, {1}, {1}}));
    }
    x = net.Unary("flat", "flatten", net.Unary("pool", "global_avg_pool", x));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("aa.json"), graph::GraphText(net.Finish({net.Dense("fc", x, 10)}))));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("cpu.json"), R"({"kind": "cpu"})"));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(
        dir_.Join("settings.json"), R"({"version": 1, "processes": 5, "iterations": 20, "warmup": 3, "seed": 1})"));
    HONE_RETURN_IF_ERROR(
        Tool({HONE_EXTRACT, "--network", dir_.Join("aa.json"), "--target", dir_.Join("cpu.json"), "--graph",
              dir_.Join("aa.graph.json"), "--tasks", dir_.Join("tasks.json"), "--task-dir", dir_.Join("tasks")}));
    HONE_RETURN_IF_ERROR(Tool({HONE_BUILD, "--graph", dir_.Join("aa.graph.json"), "--target", dir_.Join("cpu.json"),
                               "--out", dir_.Join("one"), "--untuned"}));
    HONE_RETURN_IF_ERROR(perf::CopyLibrary(dir_.Join("one"), dir_.Join("same")));
    return MakeSlower();
  }

  Result<Verdict> Run(int64_t number, const std::string& library, const std::string& baseline) {
    const double start = RealClock()->NowSeconds();
    const std::string out = dir_.Join("bench.json");
    HONE_RETURN_IF_ERROR(Tool({HONE_BENCH, "--lib", dir_.Join(library), "--baseline", dir_.Join(baseline), "--settings",
                               dir_.Join("settings.json"), "--out", out, "--again"}));
    HONE_ASSIGN_OR_RETURN(const report::BenchFile file, report::ReadBenchFile(out));
    const report::Speedup s = report::CompareLibraries(file.libraries[0], file.libraries[1]);
    fmt::print("run {}: {} and {}: {}, {:.3f} ({:.3f} to {:.3f}), {} processes each, {:.1f} s\n", number, library,
               baseline, report::VerdictName(s.verdict), s.ratio, s.low, s.high, file.libraries[0].processes.size(),
               RealClock()->NowSeconds() - start);
    std::fflush(stdout);
    return s.verdict;
  }

 private:
  Status MakeSlower() {
    const std::string slower = dir_.Join("slower");
    HONE_RETURN_IF_ERROR(perf::CopyLibrary(dir_.Join("one"), slower));
    HONE_ASSIGN_OR_RETURN(const auto folder, library::ReadLibraryFolder(slower));
    HONE_ASSIGN_OR_RETURN(const std::string original, ReadFile(folder.LibraryPath()));
    HONE_ASSIGN_OR_RETURN(const std::string forwarding, ReadFile(HONE_SLOWER_LIBRARY));
    HONE_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(JoinPath(slower, "manifest.json")));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(slower, "aa.original"), original));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(folder.LibraryPath(), forwarding));
    return WriteFileAtomic(JoinPath(slower, "manifest.json"),
                           ReplaceAll(manifest, folder.library_digest, Digest128(forwarding).Hex()));
  }

  const TempDir& dir_;
};

// Whether the goals are reached.
Result<bool> RunAll(bool load, bool idle, int64_t runs, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-aa"));
  Check check(dir);
  HONE_RETURN_IF_ERROR(check.Make());
  int64_t claims = 0, found = 0;
  if (load) {
    const RandomLoad others(seed);
    for (int64_t i = 1; i <= runs; ++i) {
      HONE_ASSIGN_OR_RETURN(const Verdict verdict, check.Run(i, "one", "same"));
      claims += verdict == Verdict::kFaster || verdict == Verdict::kSlower;
    }
  }
  for (int64_t i = 1; idle && i <= runs; ++i) {
    const bool faster = i % 2 == 0;
    HONE_ASSIGN_OR_RETURN(const Verdict verdict, check.Run(i, faster ? "one" : "slower", faster ? "slower" : "one"));
    found += verdict == (faster ? Verdict::kFaster : Verdict::kSlower);
  }
  if (load) fmt::print("equal libraries under load: {} differences claimed in {} runs (none wanted)\n", claims, runs);
  if (idle) fmt::print("5 % slower, idle: {} of {} found (at least {:.0f} % wanted)\n", found, runs, 100 * kFound);
  return claims == 0 && (!idle || static_cast<double>(found) >= kFound * static_cast<double>(runs));
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("aa_check [load] [idle] [--runs=100] [--seed=1]", argc, argv);
  const int64_t runs = flags.Number("--runs", 100);
  const auto seed = static_cast<uint64_t>(flags.Number("--seed", 1));
  bool load = flags.Has("load"), idle = flags.Has("idle");
  if (!load && !idle) load = idle = true;
  for (const std::string& word : flags.Words()) flags.Misused(word);
  const Result<bool> reached = RunAll(load, idle, runs, seed);
  if (!reached.ok()) return ExitCodeOf(reached.status());
  return *reached ? 0 : 1;
}
