// Builds several variants of one network into a temporary folder and times them against each other in a separate
// process, for hone-confirm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "graph/graph.h"
#include "library/compare.h"
#include "pipeline/best_file.h"
#include "session/machine.h"
#include "target/target.h"

namespace hone::command {

struct TrialNetwork {
  std::string folder;
  int64_t params_bytes = 0;
  int slices = 0, in_place = 0;  // how often it shares memory (library/build.h)
  double rounding = 0;           // library::NetworkRounding
};

// Builds and times networks for hone-confirm. Tests return simulated times.
class NetworkTrials {
 public:
  virtual ~NetworkTrials() = default;

  // Builds the network with these choices, or returns it if it was built before and not dropped.
  virtual Result<TrialNetwork> Build(const pipeline::BestFile& choice) = 0;
  // Removes the files of a network that is no longer needed.
  virtual void Drop(const TrialNetwork& network) = 0;
  // Returns one result per network, in order.
  virtual Result<std::vector<library::Compared>> Compare(const std::vector<TrialNetwork>& networks,
                                                         const library::CompareOptions& options) = 0;
  // The task of a layer's workload in any of the networks; empty if it is not a task.
  virtual std::string TaskOf(const std::string& workload) const = 0;
};

class TrialNetworks final : public NetworkTrials {
 public:
  // Borrows all references. `parameters` has the values of kind `file`, or is null. `where` is named in errors.
  TrialNetworks(const graph::Graph& graph, const Target& target, const graph::ParameterValues* parameters, int threads,
                std::string where)
      : graph_(graph), target_(target), parameters_(parameters), threads_(threads), where_(std::move(where)) {}

  // Opens the locks of the host and of the device, and creates the folder.
  Status Open();

  // Holds the host's lock shared while it compiles.
  Result<TrialNetwork> Build(const pipeline::BestFile& choice) override;
  void Drop(const TrialNetwork& network) override;

  // Holds the device's lock exclusively. Returns kCrashed if a network kills the process; kCorrupt if an output differs
  // from that of the first network timed here by more than hone-bench allows.
  Result<std::vector<library::Compared>> Compare(const std::vector<TrialNetwork>& networks,
                                                 const library::CompareOptions& options) override;

  std::string TaskOf(const std::string& workload) const override;

 private:
  const graph::Graph& graph_;
  const Target& target_;
  const graph::ParameterValues* parameters_;
  int threads_;
  std::string where_;
  std::optional<session::Turns> turns_;
  std::optional<TempDir> dir_;
  int built_ = 0;
  std::map<std::string, TrialNetwork> known_;  // by the text of the choice
  std::map<std::string, std::string> tasks_;   // by workload
  std::vector<std::vector<double>> expected_;
};

// The child process: reads a request from one file, writes the reply to the other (library/compare.h). Prints errors to
// stderr. Returns the exit code.
int RunTrialChild(const std::string& request, const std::string& reply);

}  // namespace hone::command
