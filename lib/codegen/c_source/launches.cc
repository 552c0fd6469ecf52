#include "codegen/c_source/launches.h"

#include <fmt/format.h>

namespace hone::codegen {
namespace {

Status Check(const Launch& launch, const DeviceLimits& limits) {
  const auto more = [&](const char* what, int64_t has, int64_t may) {
    return Status::Unsupported(
        fmt::format("kernel `{}` needs {} {}, the target has {}", launch.symbol, has, what, may));
  };
  const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > limits.max_threads_per_block) {
    return more("threads in a block", threads, limits.max_threads_per_block);
  }
  for (size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (launch.block[i] > limits.max_block[i]) {
      return more(fmt::format("threads along {}", axis).c_str(), launch.block[i], limits.max_block[i]);
    }
    if (launch.grid[i] > limits.max_grid[i]) {
      return more(fmt::format("blocks along {}", axis).c_str(), launch.grid[i], limits.max_grid[i]);
    }
  }
  if (launch.shared_bytes > limits.shared_bytes_per_block) {
    return more("bytes of shared memory in a block", launch.shared_bytes, limits.shared_bytes_per_block);
  }
  return Status();
}

}  // namespace

Status CheckLaunches(const std::vector<EntryPoint>& entries, const Target& target) {
  for (const EntryPoint& entry : entries) {
    for (const Launch& launch : entry.launches) HONE_RETURN_IF_ERROR(Check(launch, target.limits));
  }
  return Status();
}

}  // namespace hone::codegen
