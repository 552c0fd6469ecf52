// Runs candidates of one task on a GPU: as measure/runner.h, with times from the device's own clock.
//
// A device has no guard pages: the output has marked bytes behind it instead, looked at when it is verified and once
// after the timed runs, with what they left in the output.
//
// A run's constants are the next of several copies, so that they are not in the caches that the run before left; the
// output's producer left its input where it is. Runs shorter than kSampleSeconds are timed several at a time; which
// runs those are repeats after few samples, so that the device's driver sees them once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/candidate_runner.h"
#include "runtime/device/device.h"
#include "task/tensor_data.h"

namespace hone::measure {

class DeviceRunner : public CandidateRunner {
 public:
  // Makes the inputs, reads the reference.
  static Result<std::unique_ptr<DeviceRunner>> Create(const TaskSetup& setup, std::unique_ptr<runtime::Device> device);
  ~DeviceRunner() override;

  double peak_flops() const override { return device_->info().peak_flops; }
  bool lost() const override { return device_->lost(); }
  std::optional<double> busy_seconds() const override { return device_->busy_seconds(); }

 private:
  using Buffers = std::vector<std::unique_ptr<runtime::DeviceBuffer>>;
  // Copies of a candidate's constants; kept for the next candidate with constants of the same sizes.
  struct Ring {
    std::vector<int64_t> sizes;
    std::vector<Buffers> copies;
    size_t used = 0;  // of the copies, the first ones
    size_t next = 0;
  };
  struct DeviceCandidate;

  DeviceRunner(const TaskSetup& setup, std::unique_ptr<runtime::Device> device);
  Status Initialize();
  Status ResetBuffers();  // inputs as they were, the output without any right value, its tail marked
  Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel& kernel, TrialError* error) override;
  Result<Sample> Time(Candidate* candidate, int64_t number, TrialError* error) override;
  int64_t RunsOfASample(Candidate* candidate, double seconds) override;
  Status CheckAgain(Candidate* candidate, TrialError* error) override;
  // From where it was when it was verified.
  Status CheckShared(Candidate* candidate, int64_t number, TrialError* error) override;
  void KeepConstants(size_t) override { spare_.reset(); }  // each candidate has its own
  // Whether the output is right and nothing was written behind it; else error is kWrong, or what the device failed
  // with.
  Status CheckOutput(const DeviceCandidate& candidate, TrialError* error);
  Status Prepare(DeviceCandidate* candidate);
  Status FillRing(DeviceCandidate* candidate, std::unique_ptr<Ring> ring);
  runtime::DeviceArguments NextArguments(DeviceCandidate* candidate);
  TrialError KindOf(const Status& status, TrialError otherwise) const;

  std::unique_ptr<runtime::Device> device_;
  Buffers pristine_;  // an operand each, as ResetBuffers puts them into buffers_
  Buffers buffers_;
  std::vector<char> output_;  // and the bytes behind it
  std::unique_ptr<Ring> spare_;
};

}  // namespace hone::measure
