// The work of hone-bench's fresh process: loads a library, runs it and times it.
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

// Consecutive timed runs of a library when it alternates with a pace.
inline constexpr size_t kRunsOfTurn = 4;

struct TimeRequest {
  std::string dir;    // the library's folder
  std::string pace;   // folder of another library, or of the same, whose timed runs alternate with it; empty: no pace
  uint64_t seed = 1;  // for the inputs
  int64_t warmup = 0, iterations = 1;
  // Runs more than `iterations` times until min_seconds are filled, but stops at max_seconds once there are 5 runs.
  // Both times include the runs of the pace.
  double min_seconds = 0, max_seconds = 0;  // 0: no limit
  double patience_seconds = 0;              // time limit for repeating disturbed runs (quiet_runs.h); 0: never repeat
  int64_t profiled = 0;                     // additional runs that time every layer
  bool outputs = false;                     // also return the outputs of the first run
  double peak_seconds = 0;                  // time for measuring each peak; 0: do not measure
};

struct TimeReply {
  // From opening the library to the end of its first run: the time a program waits. Its files are in the page cache.
  double start_seconds = 0;
  int64_t resident_bytes = 0;             // memory that loading and running added to the process; 0: unknown
  std::vector<double> samples;            // seconds, one per timed run
  std::vector<double> pace;               // of the pace's runs; as many as `samples`
  std::vector<double> copies;             // on a device: like `samples`, but with copies to and from it
  std::vector<double> layers;             // median seconds of each layer
  std::vector<TensorData> outputs;        // if requested
  double peak_flops = 0, peak_bytes = 0;  // of fused multiply-adds; of dot4, if a layer reads bytes
  int threads = 0;
  double lost_seconds = 0;  // time that others kept the timed runs from running (base/load_meter.h)
  int64_t retaken = 0;      // runs discarded because others disturbed them
  // A layer as the library describes it.
  struct Layer {
    std::string name, workload;
    double flop = 0;
  };
  std::vector<Layer> described;
};

// Pins the threads. Between two clock readings lies one whole call of NET_run on aligned buffers, or on a device of
// NET_run_device on data that is already there. The pace is loaded last. In a turn each of the two runs once untimed,
// because the caches hold the other's weights, and then kRunsOfTurn times timed; the order alternates between turns.
Result<TimeReply> TimeNetwork(const TimeRequest& request);

std::string RequestText(const TimeRequest& request);
Result<TimeRequest> ParseRequest(std::string_view text);
std::string ReplyText(const TimeReply& reply);
Result<TimeReply> ParseReply(std::string_view text);

}  // namespace hone::library
