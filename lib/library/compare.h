// Times several libraries of one network against each other in this process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/statistics.h"
#include "library/loaded_network.h"
#include "task/tensor_data.h"

namespace hone::library {

struct CompareOptions {
  uint64_t seed = 1;    // for the inputs
  bool layers = false;  // true: times each layer; false: whole runs
  int64_t warm = 1;     // untimed runs that begin a turn: the caches hold the others' weights and arena
  int64_t timed = 4;    // timed runs in a turn
  int64_t min_rounds = 6, max_rounds = 24;  // turns per library...
  double seconds = 6;                       // ...until this time is spent; repeated runs do not count
  double patience_seconds = 2;              // time limit for repeating disturbed runs (quiet_runs.h); 0: never repeat
};

struct Compared {
  std::vector<std::string> names;           // names of the graph's nodes, one per layer
  std::vector<std::string> workloads;       // one per layer
  std::vector<std::vector<double>> layers;  // seconds of each layer, per run; only if requested
  std::vector<double> runs;                 // seconds of whole runs
  std::vector<TensorData> outputs;          // of the first run

  double LayerSeconds(size_t layer) const { return LowerQuartile(layers[layer]); }
  double RunSeconds() const { return LowerQuartile(runs); }
};

// Loads all libraries and runs them in turns, forwards and backwards, so that a drift affects all equally. Discards
// runs that others disturbed. Threads are pinned meanwhile. Returns kInterrupted on ^C.
Result<std::vector<Compared>> CompareLibraries(const std::vector<LibraryFolder>& folders,
                                               const CompareOptions& options);

// The same in a separate process, with request and reply as JSON texts: a library that crashes then ends only that
// process.
struct CompareRequest {
  std::vector<std::string> dirs;  // the libraries' folders
  CompareOptions options;
};

std::string CompareRequestText(const CompareRequest& request);
Result<CompareRequest> ParseCompareRequest(std::string_view text);
std::string CompareReplyText(const std::vector<Compared>& compared);
Result<std::vector<Compared>> ParseCompareReply(std::string_view text);

}  // namespace hone::library
