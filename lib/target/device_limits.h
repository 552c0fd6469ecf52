// The limits of a GPU that decide whether a schedule is legal. They come from a target file
// (pipelines/targets/sm_90.toml), which needs no device, or are queried from a device; all are part of the target's
// text.
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
  int64_t shared_bytes_per_block = 49152;                        // the minimum of all GPUs; many allow more on request
  int64_t registers_per_block = 65536;     // of 32 bits
  int64_t registers_per_thread = 255;
  int64_t warp_size = 32;       // threads that run in step; smaller blocks waste the rest
  int64_t vector_bytes = 16;    // widest load or store of a thread
  int64_t multiprocessors = 1;  // units that run blocks at the same time

  bool operator==(const DeviceLimits&) const = default;
};

// One limit: its keys in target files and in the target's text, and its valid range.
struct LimitKey {
  const char* name;  // key in a file: "threads_per_block"
  const char* flag;  // key in a text: "-threads"
  int64_t lowest, highest;
  int count;                             // 1, or 3 for one per axis
  int64_t* (*at)(DeviceLimits* limits);  // the first of `count`
};
// In the order of the text.
const std::vector<LimitKey>& LimitKeys();

// Sets a limit from a file's values. Returns kInvalid, without the key's name, if there are not `count` values or one
// is out of range.
Status SetLimit(const LimitKey& key, const std::vector<int64_t>& values, DeviceLimits* limits);

// Returns an error if limits contradict each other or exceed those of a CUDA target's `arch` (empty for other kinds),
// and then sets *key to the limit at fault.
Status CheckLimits(const DeviceLimits& limits, const std::string& arch, std::string* key);

// Whether `arch` has the form sm_61, sm_90, sm_90a.
bool IsCudaArch(const std::string& arch);

}  // namespace hone
