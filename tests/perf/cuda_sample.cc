// Draws points of every template for GPUs and has NVRTC compile them with warnings as errors: `cuda_sample [POINTS per
// template [SEED]]`. Fails if one does not compile; the test agree_cuda_test draws a few each.
#include "agree/cuda_sample.h"

#include <fmt/format.h>

#include <cstdlib>

int main(int argc, char** argv) {
  const int points = argc > 1 ? std::atoi(argv[1]) : 20;
  const hone::agree::CudaSample sample = hone::agree::DrawCudaSample(points, argc > 2 ? std::atoi(argv[2]) : 1);
  if (!sample.no_nvrtc.empty()) {
    fmt::print(stderr, "{}\n", sample.no_nvrtc);
    return 1;
  }
  for (const std::string& failure : sample.failures) fmt::print("{}\n", failure);
  fmt::print(
      "{} programs of {} templates compiled, {} of them with a kernel that packs constants; {} failed; left out: "
      "{}; registers within their estimate: {} of {}, with spills {}\n",
      sample.compiled, sample.archs.size(), sample.packing, sample.failures.size(), fmt::join(sample.left_out, ", "),
      sample.within, sample.estimated, sample.spilled);
  return sample.failures.empty() ? 0 : 1;
}
