// An instance of a loaded network with buffers for inputs and outputs, for running and timing it.
#pragma once

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "library/loaded_network.h"
#include "runtime/host/buffer.h"
#include "task/tensor_data.h"

namespace hone::library {

class NetworkRunner {
 public:
  explicit NetworkRunner(const LoadedNetwork& net) : net_(net) {}  // `net` must outlive it
  NetworkRunner(const NetworkRunner&) = delete;
  NetworkRunner& operator=(const NetworkRunner&) = delete;
  ~NetworkRunner() { net_.destroy(instance_); }

  // Creates the instance with pinned threads (including the caller) and copies `inputs`, one per input of the network.
  // Returns kInvalid if they do not fit the library, or with the library's own message.
  Status Create(const std::string& params, const std::vector<TensorData>& inputs);

  // Other values for the next run that copies. Errors are those of Create.
  Status SetInputs(const std::vector<TensorData>& inputs);

  // On a device, the first run uploads the inputs, and inputs and outputs stay there, so that only the network is
  // timed.
  Status Run() {
    if (!net_.on_device() || !has_run_) return RunWithCopies();
    HONE_RETURN_IF_ERROR(Check(net_.run_device(instance_, nullptr, nullptr, queue_)));
    return Check(net_.wait(instance_));
  }
  // Runs with copies from and to the caller's memory; on the CPU the same as Run.
  Status RunWithCopies() {
    HONE_RETURN_IF_ERROR(Check(net_.run(instance_, in_.data(), out_.data())));
    has_run_ = true;
    return Status();
  }
  bool OnDevice() const { return net_.on_device(); }
  // `seconds` has one entry per layer.
  Status Profile(double* seconds) { return Check(net_.profile_run(instance_, in_.data(), out_.data(), seconds)); }

  // The first outputs of the last run that copied.
  std::vector<TensorData> Outputs() const;

 private:
  template <typename P>
  Status AddBuffer(uint64_t bytes, std::vector<P>* pointers) {
    HONE_ASSIGN_OR_RETURN(buffers_.emplace_back(), runtime::AlignedBuffer::Create(static_cast<int64_t>(bytes)));
    pointers->push_back(buffers_.back().data());
    return Status();
  }
  Status Check(int code) const;

  const LoadedNetwork& net_;
  HoneNet* instance_ = nullptr;
  void* queue_ = nullptr;  // the instance's own: nothing else writes its inputs
  bool has_run_ = false;
  std::vector<runtime::AlignedBuffer> buffers_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
  std::vector<TensorType> output_types_;
};

// A loaded library with an instance that has run once.
struct RunningNetwork {
  std::unique_ptr<LoadedNetwork> net;
  std::unique_ptr<NetworkRunner> runner;

  static Result<RunningNetwork> Start(const LibraryFolder& folder, const std::vector<TensorData>& inputs);
};

// Saves and restores the cores that this thread may use. An instance of a network pins its creator, and an instance
// that a pinned thread creates would get only that core.
class ThreadCores {
 public:
  ThreadCores() { known_ = sched_getaffinity(0, sizeof set_, &set_) == 0; }
  ThreadCores(const ThreadCores&) = delete;
  ThreadCores& operator=(const ThreadCores&) = delete;
  ~ThreadCores() { Restore(); }
  void Restore() const {
    if (known_) sched_setaffinity(0, sizeof set_, &set_);
  }

 private:
  cpu_set_t set_;
  bool known_ = false;
};

}  // namespace hone::library
