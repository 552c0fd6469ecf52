#include "target/device_limits.h"

#include <cctype>

#include "target/cuda_arch.h"

namespace hone {

const std::vector<LimitKey>& LimitKeys() {
  using L = DeviceLimits;
  static const std::vector<LimitKey> keys = {
      {"threads_per_block", "-threads", 1, 4096, 1, [](L* l) { return &l->max_threads_per_block; }},
      {"block", "-block", 1, 4096, 3, [](L* l) { return l->max_block.data(); }},
      {"grid", "-grid", 1, 2147483647, 3, [](L* l) { return l->max_grid.data(); }},
      {"shared_bytes", "-shared", 0, 1 << 20, 1, [](L* l) { return &l->shared_bytes_per_block; }},
      {"registers_per_block", "-registers", 256, 1 << 20, 1, [](L* l) { return &l->registers_per_block; }},
      {"registers_per_thread", "-thread-registers", 16, 1024, 1, [](L* l) { return &l->registers_per_thread; }},
      {"warp", "-warp", 1, 128, 1, [](L* l) { return &l->warp_size; }},
      {"vector_bytes", "-vector", 4, 16, 1, [](L* l) { return &l->vector_bytes; }},
      {"multiprocessors", "-multiprocessors", 1, 4096, 1, [](L* l) { return &l->multiprocessors; }},
  };
  return keys;
}

Status SetLimit(const LimitKey& key, const std::vector<int64_t>& values, DeviceLimits* limits) {
  if (values.size() != static_cast<size_t>(key.count)) {
    return Status::Invalid(key.count == 1 ? "must be one number" : fmt::format("must be {} numbers", key.count));
  }
  for (int64_t value : values) {
    if (value >= key.lowest && value <= key.highest) continue;
    return Status::Invalid("must be from {} to {}, is {}", key.lowest, key.highest, value);
  }
  for (int i = 0; i < key.count; ++i) key.at(limits)[i] = values[i];
  return Status();
}

Status CheckLimits(const DeviceLimits& limits, const std::string& arch, std::string* key) {
  auto wrong = [&](const char* name, std::string what) {
    *key = name;
    return Status::Invalid(std::move(what));
  };
  auto power = [](int64_t n) { return (n & (n - 1)) == 0; };
  if (!power(limits.warp_size)) return wrong("warp", fmt::format("must be a power of two, is {}", limits.warp_size));
  if (limits.warp_size > limits.max_threads_per_block) {
    return wrong("warp", fmt::format("a warp of {} threads does not fit a block of {} (threads_per_block)",
                                     limits.warp_size, limits.max_threads_per_block));
  }
  if (limits.max_block[0] < limits.warp_size) {
    return wrong("block",
                 fmt::format("{} threads along x are less than a warp of {}", limits.max_block[0], limits.warp_size));
  }
  if (!power(limits.vector_bytes)) {
    return wrong("vector_bytes", fmt::format("must be 4, 8 or 16, is {}", limits.vector_bytes));
  }
  if (limits.registers_per_thread > limits.registers_per_block) {
    return wrong("registers_per_thread", fmt::format("{} registers of a thread exceed the {} of a block",
                                                     limits.registers_per_thread, limits.registers_per_block));
  }
  const int64_t shared = limits.shared_bytes_per_block, most = CudaSharedBytes(arch);
  if (most > 0 && shared > most) {
    return wrong("shared_bytes", fmt::format("{} is more than the {} that a block of {} can have", shared, most, arch));
  }
  return Status();
}

bool IsCudaArch(const std::string& arch) {
  if (arch.rfind("sm_", 0) != 0) return false;
  size_t digits = 0;
  while (3 + digits < arch.size() && std::isdigit(static_cast<unsigned char>(arch[3 + digits]))) ++digits;
  if (digits < 2 || digits > 3 || arch[3] == '0') return false;
  const std::string rest = arch.substr(3 + digits);
  return rest.empty() || rest == "a" || rest == "f";
}

}  // namespace hone
