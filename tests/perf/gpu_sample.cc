// How fast legal points of a GPU space are drawn: `gpu_sample [WORKLOAD [TARGET]]`. Beside it, for the ratio of one run,
// drawing all points alike and throwing the illegal ones away.
#include <fmt/format.h>

#include <chrono>

#include "op/operator.h"

namespace {

using Clock = std::chrono::steady_clock;

double SecondsOf(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

int main(int argc, char** argv) {
  const std::string text = argc > 1 ? argv[1] : "conv2d(f32[1,128,56,56], f32[128,128,3,3], pad=1,1,1,1) + bias + relu";
  const auto workload = hone::op::ParseChecked(text);
  const auto target = hone::Target::Parse(argc > 2 ? argv[2] : "cuda -arch=sm_80 -multiprocessors=108");
  if (!workload.ok() || !target.ok()) {
    fmt::print(stderr, "{}{}\n", workload.status().message(), target.status().message());
    return 1;
  }
  constexpr int kPoints = 100000;
  for (const hone::op::Template* t : (*hone::op::FindOperator(*workload))->Templates(*workload, *target)) {
    Clock::time_point start = Clock::now();
    const auto space = t->MakeSpace(*workload, *target);
    if (!space.ok()) {
      fmt::print("{}: {}\n", t->name(), space.status().message());
      continue;
    }
    const double made = SecondsOf(start);
    hone::Rng rng(1);
    int drawn = 0;
    start = Clock::now();
    while (drawn < kPoints && space->SampleLegal(rng)) ++drawn;
    const double by_parts = SecondsOf(start);
    int64_t tried = 0, legal = 0;
    start = Clock::now();
    for (; legal < kPoints / 10 && tried < 20 * kPoints; ++tried) legal += space->Legal(rng.UniformInt(space->size()));
    const double by_rejection = SecondsOf(start);
    fmt::print("{}: {} points, made in {:.1f} ms; {:.2f} % legal; {:.0f} legal points/s, by rejection alone {:.0f}\n",
               t->name(), space->size(), made * 1e3, 100.0 * static_cast<double>(legal) / static_cast<double>(tried),
               drawn / by_parts, static_cast<double>(legal) / by_rejection);
  }
  return 0;
}
