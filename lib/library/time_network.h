// The fresh process of hone-bench: loads a library, runs it, times it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "library/loaded_network.h"
#include "task/tensor_data.h"

namespace hone::library {

// Timed runs of a library that follow one another, where there is a pace.
inline constexpr size_t kRunsOfTurn = 4;

struct TimeRequest {
  std::string dir;    // of the library
  std::string pace;   // folder of another one, or of the same, whose runs are timed in turns with it; empty: none
  uint64_t seed = 1;  // of the inputs
  int64_t warmup = 0, iterations = 1;
  // With a time to fill, more than `iterations` until it is filled; but none beyond the longest time, once there are 5.
  // Both times are of the library's runs and the pace's together.
  double min_seconds = 0, max_seconds = 0;  // 0: none
  double patience_seconds = 0;              // for repeating disturbed runs (quiet_runs.h); 0: never
  int64_t profiled = 0;                     // more runs that time every layer
  bool outputs = false;                     // also hand back the outputs of the first run
  double peak_seconds = 0;                  // time to spend on the FMA peak; 0: leave it out
};

struct TimeReply {
  // From opening the library to the end of its first run: what a program waits for. Its files are in the page cache.
  double start_seconds = 0;
  int64_t resident_bytes =
      0;  // what that, and the runs behind it, added to the memory that the process has; 0: unknown
  std::vector<double> samples;      // seconds, one a timed run
  std::vector<double> pace;         // of the pace's runs; as many
  std::vector<double> copies;       // on a device: as `samples`, with the copies there and back
  std::vector<double> layers;       // seconds, the median of each layer's
  std::vector<TensorData> outputs;  // if asked for
  double peak_flops = 0;
  int threads = 0;
  double lost_seconds = 0;  // for which others kept the timed runs from running (base/load_meter.h)
  int64_t retaken = 0;      // runs that were thrown away, as others disturbed them
  // The layers as the library describes them.
  struct Layer {
    std::string name, workload;
    double flop = 0;
  };
  std::vector<Layer> described;
};

// Threads are pinned. Runs between the clock's readings are whole calls of NET_run on aligned buffers; on
// a device of NET_run_device, on data that is there. The pace is loaded last. In a turn each of the two runs once
// untimed, as the other's weights are in the caches, and kRunsOfTurn times timed; the one that went first goes last in
// the next turn.
Result<TimeReply> TimeNetwork(const TimeRequest& request);

std::string RequestText(const TimeRequest& request);
Result<TimeRequest> ParseRequest(std::string_view text);
std::string ReplyText(const TimeReply& reply);
Result<TimeReply> ParseReply(std::string_view text);

}  // namespace hone::library
