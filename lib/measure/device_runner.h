// Runs candidates of one task on a GPU: like measure/runner.h, with times from the device's own clock.
//
// A device has no guard pages. Instead, marked bytes follow the output; they are checked with the output when it is
// verified and once after the timed runs. After a wrong output the inputs are uploaded again, and the measuring child
// is replaced before the next candidate (measure/child_measurer.h).
//
// Each timed run uses the next of several copies of the constants, so that they are not in the caches from the previous
// run; its input stays where the producer would leave it. Runs shorter than kSampleSeconds are timed several at a time,
// after kWarmSeconds of untimed ones; after a few samples the same sets of runs repeat, so that the driver prepares
// each set once.
//
// A sample is disturbed, and repeated as load_guard.h says, if the device says so (runtime::Device::Slowed) or if the
// anchor is slow. It runs at the first sample of every 16th candidate, and at every 16th sample where finalists take
// turns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measure/candidate_runner.h"
#include "measure/device_anchor.h"
#include "measure/load_guard.h"
#include "runtime/device/device.h"

namespace hone::measure {

class DeviceRunner : public CandidateRunner {
 public:
  // Makes the inputs and reads the reference.
  static Result<std::unique_ptr<DeviceRunner>> Create(const TaskSetup& setup, std::unique_ptr<runtime::Device> device);
  ~DeviceRunner() override;

  double peak_flops() const override { return device_->info().peak_flops; }
  bool lost() const override { return device_->lost(); }
  std::optional<double> busy_seconds() const override { return device_->busy_seconds(); }
  std::string TakeSlowed() override { return std::exchange(slowed_, ""); }

 private:
  using Buffers = std::vector<std::unique_ptr<runtime::DeviceBuffer>>;
  // Copies of a candidate's constants in one allocation; kept for the next candidate with constants of the same sizes.
  struct Ring {
    std::vector<int64_t> sizes;  // of the prepared constants, then of those that the kernel takes unpacked
    std::unique_ptr<runtime::DeviceBuffer> memory;
    int64_t stride = 0;           // from a copy to the next
    std::vector<Buffers> copies;  // the first is packed, verified with, and used by untimed runs; the others are timed
    size_t used = 0;              // number of timed copies in use
    size_t next = 0;              // of the timed copies
  };
  struct DeviceCandidate;

  DeviceRunner(const TaskSetup& setup, std::unique_ptr<runtime::Device> device);
  Status Initialize();
  Status Upload();        // copies contents_ into pristine_
  Status ResetBuffers();  // restores the inputs, overwrites the output with wrong values, marks its tail
  Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel& kernel, bool timed, TrialError* error) override;
  Result<Sample> Time(Candidate* candidate, int64_t number, TrialError* error) override;
  int64_t RunsOfASample(Candidate* candidate, double seconds) override;
  Status CheckAgain(Candidate* candidate, TrialError* error) override;
  // Restores first what candidates share, and the candidate's constants.
  Status CheckShared(Candidate* candidate, int64_t number, TrialError* error) override;
  void KeepConstants(size_t) override { spare_.reset(); }  // each candidate has its own
  void BeginPatience() override;
  int64_t retaken() const override { return guard_->retaken(); }
  void KeepAnchor(DeviceCandidate* candidate);  // if there is no anchor yet, takes the candidate's module
  double Pulse();                               // LoadSenses::pulse
  // Checks the output and the bytes behind it; else sets error to kWrong, and uploads the inputs, or to the device's
  // failure.
  Status CheckOutput(const DeviceCandidate& candidate, TrialError* error);
  Status MakeRing(DeviceCandidate* candidate, std::unique_ptr<Ring> ring);  // `ring`: to use again if it fits
  Status Prepare(DeviceCandidate* candidate);                               // makes the ring's first copy
  Status FillRing(const Ring& ring);                                        // makes the others from it
  runtime::DeviceArguments ArgumentsOf(const DeviceCandidate& candidate, size_t copy) const;
  TrialError KindOf(const Status& status, TrialError otherwise) const;

  std::unique_ptr<runtime::Device> device_;
  std::vector<std::vector<char>> contents_;  // one per operand, in the host's memory
  Buffers pristine_;                         // the same on the device; ResetBuffers copies them into buffers_
  Buffers buffers_;
  std::vector<char> output_;  // and the bytes behind it
  std::unique_ptr<Ring> spare_;
  std::optional<LoadGuard> guard_;
  std::unique_ptr<DeviceAnchor> anchor_;
  int anchor_due_ = 0;  // number of candidates until it runs again
  std::string slowed_;  // what the device said since TakeSlowed
};

}  // namespace hone::measure
