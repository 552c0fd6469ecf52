// How fast candidates for a GPU compile (in seconds of processor time, one core), and how many drawn points the
// compiler then confirms, of each template and rule of sketches:
//   gpu_compile [--sass] [--source NAME] [POINTS [WORKLOAD [TARGET [SEED]]]]
// Needs NVRTC for `cuda`, nothing for `opencl` (whose driver compiles later). --sass: what the steady loops consist of,
// in machine code, and the share of the peak that agree/sass.h predicts; needs nvdisasm or cuobjdump. --source: only
// this template or rule.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "agree/gpu_workloads.h"
#include "agree/sass.h"
#include "compile/compile.h"
#include "perf/flags.h"
#include "semantics/semantics.h"
#include "target/cuda_arch.h"

namespace {

// The kernel of a point that does most of the work, by its machine code.
struct MachineCode {
  hone::agree::SassLoop loop;
  double share = 0, loop_share = 0;                // of the peak: of the whole kernel, and of its loop
  int64_t registers = 0, threads = 0, blocks = 0;  // blocks on a multiprocessor at a time
  std::string config;

  std::string Text() const {
    using hone::agree::SassKind;
    const auto n = [&](SassKind kind) { return loop.Count(kind); };
    return fmt::format(
        "{:.1f} % of the peak, its loop {:.1f} % (port {}); {:.0f} fma, {:.0f} mma, {:.0f} integer ({:.1f} for each "
        "mma "
        "or 64 fma), {:.0f} uniform, {:.0f} shared, {:.0f} global, {:.0f} barrier; {} registers, {} blocks of {} "
        "threads "
        "a multiprocessor; {}",
        100 * share, 100 * loop_share, loop.Port(), n(SassKind::kFma), n(SassKind::kMma), n(SassKind::kInteger),
        loop.IntegerPer(64), n(SassKind::kUniform), n(SassKind::kShared), n(SassKind::kGlobal), n(SassKind::kBarrier),
        registers, blocks, threads, config);
  }
};

hone::Result<MachineCode> Examine(const hone::compile::CompiledKernel& kernel, const hone::Workload& workload,
                                  const hone::Target& target) {
  HONE_ASSIGN_OR_RETURN(const auto kernels, hone::agree::Disassemble(kernel.object));
  const int arch = hone::CudaArchNumber(target.cpu);
  const auto product = [](const int64_t* of) { return of[0] * of[1] * of[2]; };
  MachineCode most;
  double most_work = -1;
  for (size_t i = 0; i < kernel.kernel.launches.size() && i < kernel.resources.size(); ++i) {
    const hone::Launch& launch = kernel.kernel.launches[i];
    const auto code = kernels.find(launch.symbol);
    if (code == kernels.end()) continue;
    MachineCode one{.loop = hone::agree::SteadyLoop(code->second, arch), .threads = product(launch.block)};
    using hone::agree::SassKind;
    const double work = (one.loop.Count(SassKind::kFma) + 64 * one.loop.Count(SassKind::kMma)) * one.loop.trips *
                        static_cast<double>(product(launch.grid) * one.threads);
    if (work <= most_work) continue;
    most_work = work;
    one.registers = kernel.resources[i].registers;
    one.blocks = hone::agree::ResidentBlocks(arch, one.threads, one.registers, launch.shared_bytes);
    one.loop_share = hone::agree::LoopShare(one.loop, arch);
    // CompiledKernel::arithmetic counts products on tensor cores as a part of themselves.
    const double flop = hone::semantics::Flop(workload) * (one.loop.Count(SassKind::kMma) > 0 ? 1 : kernel.arithmetic);
    one.share = hone::agree::KernelShare(one.loop, arch, launch, flop, target.limits.multiprocessors);
    most = std::move(one);
  }
  return most;
}

struct Tally {
  int drawn = 0, compiled = 0, spills = 0, block = 0, registers = 0;
  double lower = 0, all = 0;   // seconds
  std::vector<double> ratios;  // the cubin's registers relative to the estimate
  std::string first_error;
  std::vector<MachineCode> code;                 // with --sass
  std::pair<double, std::string> most, slowest;  // the largest ratio and the longest time, and their points

  void Add(const Tally& t) {
    drawn += t.drawn, compiled += t.compiled, spills += t.spills, block += t.block, registers += t.registers;
    lower += t.lower, all += t.all;
    ratios.insert(ratios.end(), t.ratios.begin(), t.ratios.end());
    if (first_error.empty()) first_error = t.first_error;
    most = std::max(most, t.most), slowest = std::max(slowest, t.slowest);
  }
  void Print(const std::string& name) {
    if (drawn == 0) return;
    const auto share = [&](int n) { return 100.0 * n / std::max(1, compiled); };
    fmt::print("{}: {} of {} drawn points compiled; {:.0f} ms each, {:.0f} of it lowering: {:.1f} a second\n", name,
               compiled, drawn, 1e3 * all / compiled, 1e3 * lower / compiled, compiled / all);
    if (!ratios.empty()) {
      std::sort(ratios.begin(), ratios.end());
      fmt::print(
          "  confirmed: shared memory and threads, no spills {:.1f} %; registers no more than the estimate {:.1f} %; "
          "cubin/estimate {:.2f} .. {:.2f} .. {:.2f}\n",
          share(std::min(block, compiled - spills)), share(registers), ratios.front(), ratios[ratios.size() / 2],
          ratios.back());
    }
    if (!first_error.empty()) fmt::print("  {}\n", first_error);
    PrintCode();
  }
  void PrintCode() {
    if (code.empty()) return;
    const auto best = [&](double MachineCode::*share) { return std::ranges::max_element(code, {}, share)->Text(); };
    fmt::print("  best: {}\n  best loop: {}\n", best(&MachineCode::share), best(&MachineCode::loop_share));
    std::ranges::sort(code, {}, [](const MachineCode& c) { return c.loop.IntegerPer(64); });
    const auto unknown = std::ranges::count_if(code, [](const auto& c) { return c.share == 0; });
    fmt::print(
        "  integer instructions for each mma or 64 fma: {:.1f} .. {:.1f} .. {:.1f}; {} of {} with unknown trips\n",
        code.front().loop.IntegerPer(64), code[code.size() / 2].loop.IntegerPer(64), code.back().loop.IntegerPer(64),
        unknown, code.size());
  }
};

// The resources of each kernel of the point, compared with the estimate for all of them.
void Compare(const hone::compile::CompiledKernel& kernel, const hone::search::GpuUse& use,
             const hone::DeviceLimits& limits, Tally* tally) {
  int64_t registers = 0, spills = 0;
  bool block = true;
  for (size_t i = 0; i < kernel.resources.size() && i < kernel.kernel.launches.size(); ++i) {
    const hone::codegen::KernelResources& r = kernel.resources[i];
    const hone::Launch& launch = kernel.kernel.launches[i];
    registers = std::max(registers, r.registers);
    spills += r.spill_bytes;
    const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    // Buffers start at multiples of 16 bytes.
    block = block && threads <= limits.max_threads_per_block && launch.shared_bytes <= use.shared_bytes + 3 * 16 &&
            r.registers * threads <= limits.registers_per_block;
  }
  tally->spills += spills > 0;
  tally->block += block;
  tally->registers += registers <= use.MostRegisters();
  if (use.registers > 0) {
    tally->ratios.push_back(static_cast<double>(registers) / static_cast<double>(use.MostRegisters()));
  }
}

Tally Run(const hone::agree::GpuSource& source, const hone::Workload& workload, const hone::Target& target, int points,
          uint64_t seed, bool sass) {
  Tally tally;
  hone::Rng rng(seed);
  hone::compile::CompileOptions options;
  for (; tally.drawn < points; ++tally.drawn) {
    const auto index = source.space.SampleLegal(rng);
    if (!index) break;
    const hone::Config config = source.space.At(*index);
    const std::clock_t start = std::clock();
    const auto candidate = source.candidate(config);
    const auto kernel = candidate.ok() ? hone::compile::CompileKernel(workload, target, *candidate, options)
                                       : hone::Result<hone::compile::CompiledKernel>(candidate.status());
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (!kernel.ok()) {
      if (tally.first_error.empty()) {
        tally.first_error = fmt::format("point {}: {}", *index, kernel.status().message());
      }
      continue;
    }
    ++tally.compiled;
    tally.lower += kernel->lower_seconds;
    tally.all += seconds;
    tally.slowest = std::max(tally.slowest, {seconds, config.Text()});
    if (auto code = sass ? Examine(*kernel, workload, target) : hone::Result<MachineCode>(MachineCode()); sass) {
      if (!code.ok()) {
        fmt::print(stderr, "gpu_compile: error: {}\n", code.status().message());
        std::exit(1);
      }
      code->config = config.Text();
      tally.code.push_back(*std::move(code));
    }
    if (!source.use || kernel->resources.empty()) continue;
    Compare(*kernel, source.use(config), target.limits, &tally);
    if (!tally.ratios.empty()) tally.most = std::max(tally.most, {tally.ratios.back(), config.Text()});
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  hone::perf::Flags flags("gpu_compile [--sass] [--source NAME] [POINTS [WORKLOAD [TARGET [SEED]]]]", argc, argv);
  const bool sass = flags.Has("--sass");
  const std::string only = flags.Text("--source");
  const std::vector<std::string> words = flags.Words();
  const auto word = [&](size_t i, const char* otherwise) { return i < words.size() ? words[i] : otherwise; };
  const int points = std::atoi(word(0, "20").c_str());
  const auto workload =
      hone::op::ParseChecked(word(1, "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1,1,1,1) + bias + relu"));
  const auto target = hone::Target::Parse(word(2, "cuda -arch=sm_80 -multiprocessors=108"));
  if (!workload.ok() || !target.ok()) {
    fmt::print(stderr, "{}{}\n", workload.status().message(), target.status().message());
    return 1;
  }
  Tally all;
  for (const hone::agree::GpuSource& source : hone::agree::GpuSourcesOf(*workload, *target)) {
    if (!only.empty() && source.name != only) continue;
    Tally one = Run(source, *workload, *target, points, std::strtoull(word(3, "1").c_str(), nullptr, 10), sass);
    one.Print(source.name);
    fmt::print("  slowest: {:.1f} s, {}\n  most registers: {:.2f} of the estimate, {}\n", one.slowest.first,
               one.slowest.second, one.most.first, one.most.second);
    if (const auto preferred = source.preferred(); preferred.ok()) fmt::print("  default: {}\n", preferred->Text());
    all.Add(one);
  }
  all.Print("all");
  return 0;
}
