// Several libraries of one network, timed against each other in this process.
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
  uint64_t seed = 1;    // of the inputs
  bool layers = false;  // time every layer; else whole runs
  int64_t warm = 1;     // runs before the timed ones of a turn: the others' weights and arena are in the caches
  int64_t timed = 4;    // timed runs of a turn
  int64_t min_rounds = 6, max_rounds = 24;  // turns of each library...
  double seconds = 6;                       // ...until this is spent; repeated runs do not count
  double patience_seconds = 2;              // for repeating disturbed runs (quiet_runs.h); 0: never
};

struct Compared {
  std::vector<std::string> names;           // of the layers: of the graph's nodes
  std::vector<std::string> workloads;       // of the layers
  std::vector<std::vector<double>> layers;  // seconds of each, a run; only if asked for
  std::vector<double> runs;                 // seconds of whole runs, a run
  std::vector<TensorData> outputs;          // of its first run

  double LayerSeconds(size_t layer) const { return LowerQuartile(layers[layer]); }
  double RunSeconds() const { return LowerQuartile(runs); }
};

// All are loaded and run in turns, forwards and backwards, so that a drift hits them alike; a run that others disturbed
// is thrown away. The threads are pinned while it lasts. kInterrupted on ^C.
Result<std::vector<Compared>> CompareLibraries(const std::vector<LibraryFolder>& folders,
                                               const CompareOptions& options);

// The same in a separate process: request and reply, as JSON texts. A library that crashes then takes only that process
// with it.
struct CompareRequest {
  std::vector<std::string> dirs;  // of the libraries
  CompareOptions options;
};

std::string CompareRequestText(const CompareRequest& request);
Result<CompareRequest> ParseCompareRequest(std::string_view text);
std::string CompareReplyText(const std::vector<Compared>& compared);
Result<std::vector<Compared>> ParseCompareReply(std::string_view text);

}  // namespace hone::library
