// Runs candidates on this machine: each run starts with the constants outside the private caches, and its output is
// checked.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/load_meter.h"
#include "base/result.h"
#include "measure/candidate_runner.h"
#include "measure/cold_ring.h"
#include "measure/load_guard.h"
#include "measure/loaded_kernel.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"
#include "task/tensor_data.h"

namespace hone::measure {

// Use it only from the thread that created it, which becomes the pool's thread 0 and is pinned to a core.
class Runner : public CandidateRunner {
 public:
  // Starts the threads, makes the inputs, reads the reference and measures the peak.
  static Result<std::unique_ptr<Runner>> Create(const TaskSetup& setup);

  double peak_flops() const override { return setup_.OfBytes() ? byte_peak_ : fma_peak_; }

 private:
  struct HostCandidate;
  static constexpr size_t kRings = 4;

  explicit Runner(const TaskSetup& setup) : CandidateRunner(setup), rings_(setup.protocol.cold_bytes, kRings) {}
  Status Initialize();
  void ResetBuffers();  // restores the inputs, overwrites the output with wrong values
  void TouchData();     // leaves activations in the caches as their producer would
  Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel& kernel, bool timed, TrialError* error) override;
  // Returns a sample that is correct and, as far as patience allows, undisturbed; else the error.
  Result<Sample> Time(Candidate* candidate, int64_t number, TrialError* error) override;
  bool FasterThanPossible(double flops) override;
  void BeginPatience() override { guard_->BeginCandidate(); }
  int64_t retaken() const override { return guard_->retaken(); }
  void KeepConstants(size_t candidates) override { rings_.SetLimit(std::max(candidates, kRings)); }
  void Mend(Candidates* candidates) override;
  double warm_seconds() const override;
  // Whether the guards around all buffers of the candidate, except for the copies of its constants, are intact.
  bool FencesStand(const HostCandidate& candidate) const;
  // Returns kInvalid with the first difference if the output is wrong.
  Status CheckOutput(const HostCandidate& candidate) const;
  // Checks the guards after a timed run, and that the output equals the verified one; then spoils the output, so that
  // the next run has to write it.
  Status CheckRun(HostCandidate* candidate);
  void MeasurePeaks();
  double Pulse();

  std::optional<runtime::ThreadPool> pool_;
  RingCache rings_;
  double fma_peak_ = 0, byte_peak_ = 0;           // the latter for tasks with bytes
  std::vector<runtime::AlignedBuffer> pristine_;  // one per operand, read-only
  std::vector<runtime::AlignedBuffer> buffers_;   // one per operand, guarded
  std::optional<LoadMeter> meter_;
  std::optional<LoadGuard> guard_;
};

}  // namespace hone::measure
