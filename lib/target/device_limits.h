// The limits of a GPU, which decide whether a schedule is legal there, known without a device. They stand in a target
// file (pipelines/targets/sm_90.toml) or are queried from a device; all are part of the target's text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace hone {

struct DeviceLimits {
  int64_t max_threads_per_block = 1024;
  std::array<int64_t, 3> max_block = {1024, 1024, 64};           // threads along x, y, z
  std::array<int64_t, 3> max_grid = {2147483647, 65535, 65535};  // blocks along x, y, z
  int64_t shared_bytes_per_block = 49152;  // what all have; many GPUs have more for a kernel that asks for it
  int64_t registers_per_block = 65536;     // of 32 bits
  int64_t registers_per_thread = 255;
  int64_t warp_size = 32;       // threads that run in step; a block of fewer wastes the rest
  int64_t vector_bytes = 16;    // the widest load or store of a thread
  int64_t multiprocessors = 1;  // that run blocks at the same time

  bool operator==(const DeviceLimits&) const = default;
};

// One limit: its key in target files and in the target's text, and what makes sense.
struct LimitKey {
  const char* name;  // in a file: "threads_per_block"
  const char* flag;  // in a text: "-threads"
  int64_t lowest, highest;
  int count;                             // 1, or 3 for one an axis
  int64_t* (*at)(DeviceLimits* limits);  // the first of `count`
};
// In the order of the text.
const std::vector<LimitKey>& LimitKeys();

// Sets a limit from a file's values. kInvalid, without the key's name, if there are not `count` of them or one is out
// of range.
Status SetLimit(const LimitKey& key, const std::vector<int64_t>& values, DeviceLimits* limits);

// Limits that contradict each other, or exceed what a CUDA target's `arch` has (empty: another kind). *key: the name of
// the one to blame, if not ok.
Status CheckLimits(const DeviceLimits& limits, const std::string& arch, std::string* key);

// Is `arch` of the form sm_61, sm_90, sm_90a?
bool IsCudaArch(const std::string& arch);

}  // namespace hone
