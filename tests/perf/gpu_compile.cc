// How fast candidates for a GPU compile (in seconds of processor time, one core), and how many drawn points the
// compiler then confirms, of each template and rule of sketches: `gpu_compile [POINTS [WORKLOAD [TARGET [SEED]]]]`.
// Needs NVRTC for `cuda`, nothing for `opencl` (whose driver compiles later).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "agree/gpu_workloads.h"
#include "compile/compile.h"

namespace {

struct Tally {
  int drawn = 0, compiled = 0, spills = 0, block = 0, registers = 0;
  double lower = 0, all = 0;   // seconds
  std::vector<double> ratios;  // the cubin's registers relative to the estimate
  std::string first_error;
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
          uint64_t seed) {
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
    if (!source.use || kernel->resources.empty()) continue;
    Compare(*kernel, source.use(config), target.limits, &tally);
    if (!tally.ratios.empty()) tally.most = std::max(tally.most, {tally.ratios.back(), config.Text()});
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  const int points = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::string text = argc > 2 ? argv[2] : "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1,1,1,1) + bias + relu";
  const auto workload = hone::op::ParseChecked(text);
  const auto target = hone::Target::Parse(argc > 3 ? argv[3] : "cuda -arch=sm_80 -multiprocessors=108");
  if (!workload.ok() || !target.ok()) {
    fmt::print(stderr, "{}{}\n", workload.status().message(), target.status().message());
    return 1;
  }
  Tally all;
  for (const hone::agree::GpuSource& source : hone::agree::GpuSourcesOf(*workload, *target)) {
    Tally one = Run(source, *workload, *target, points, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
    one.Print(source.name);
    fmt::print("  slowest: {:.1f} s, {}\n  most registers: {:.2f} of the estimate, {}\n", one.slowest.first,
               one.slowest.second, one.most.first, one.most.second);
    if (const auto preferred = source.preferred(); preferred.ok()) fmt::print("  default: {}\n", preferred->Text());
    all.Add(one);
  }
  all.Print("all");
  return 0;
}
