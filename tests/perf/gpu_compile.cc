// How fast candidates for a GPU are compiled, on one core, and how many of the drawn points the compiler then confirms:
// `gpu_compile [POINTS [WORKLOAD [TARGET]]]`. Needs NVRTC for `cuda`, nothing for `opencl` (whose driver compiles
// later).
#include <fmt/format.h>

#include <cstdlib>

#include "compile/compile.h"
#include "op/operator.h"

namespace {

void Run(const hone::op::Template& t, const hone::Workload& workload, const hone::Target& target, int points) {
  const auto space = t.MakeSpace(workload, target);
  if (!space.ok()) {
    fmt::print("{}: {}\n", t.name(), space.status().message());
    return;
  }
  hone::Rng rng(1);
  double lower = 0, codegen = 0;
  int drawn = 0, compiled = 0, spilled = 0;
  std::string first_error;
  for (; drawn < points; ++drawn) {
    const auto index = space->SampleLegal(rng);
    if (!index) break;
    const auto kernel = hone::compile::CompileKernel(workload, target, space->At(*index), {});
    if (!kernel.ok()) {
      if (first_error.empty()) first_error = fmt::format("point {}: {}", *index, kernel.status().message());
      continue;
    }
    ++compiled;
    lower += kernel->lower_seconds;
    codegen += kernel->codegen_seconds;
    bool spills = false;
    for (const auto& r : kernel->resources) spills = spills || r.spill_bytes > 0;
    spilled += spills;
  }
  if (drawn == 0) return;
  fmt::print(
      "{}: {} of {} drawn points compiled, {} of those with spills; {:.0f} ms lowering, {:.0f} ms compiling each, "
      "{:.1f} a second\n",
      t.name(), compiled, drawn, spilled, 1e3 * lower / compiled, 1e3 * codegen / compiled,
      compiled / (lower + codegen));
  if (!first_error.empty()) fmt::print("  {}\n", first_error);
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
  for (const hone::op::Template* t : (*hone::op::FindOperator(*workload))->Templates(*workload, *target)) {
    Run(*t, *workload, *target, points);
  }
  return 0;
}
