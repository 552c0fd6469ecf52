// Runs candidates of one task in this process: verifies, then times them. The measuring child is a loop around it;
// nothing here protects against a candidate that crashes or hangs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/load_meter.h"
#include "base/result.h"
#include "measure/candidate_runner.h"
#include "measure/cold_ring.h"
#include "measure/load_guard.h"
#include "measure/loaded_kernel.h"
#include "measure/messages.h"
#include "runtime/host/buffer.h"
#include "runtime/host/thread_pool.h"

namespace hone::measure {

// One thread at a time: the one that created it, which becomes the pool's thread 0 and is pinned to a core.
class Runner : public CandidateRunner {
 public:
  // Starts the threads, makes the inputs, reads the reference, measures the peak.
  static Result<std::unique_ptr<Runner>> Create(const TaskSetup& setup);

  Outcome Measure(const BuiltKernel& kernel, double incumbent) override;
  std::vector<Series> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) override;
  double peak_flops() const override { return peak_flops_; }

 private:
  struct Candidate;
  static constexpr size_t kRings = 4;

  explicit Runner(const TaskSetup& setup) : setup_(setup), rings_(setup.protocol.cold_bytes, kRings) {}
  Status Initialize();
  void ResetBuffers();  // inputs as they were, the output without any right value
  void TouchData();     // leaves activations in the caches as their producer would
  struct Run {
    double seconds = 0;  // of all runs together
    bool disturbed = false;
  };
  // Makes anew what `candidates`, those of them that are there, share with one that may have written anywhere.
  Status Mend(const std::vector<std::unique_ptr<Candidate>>& candidates);
  // Correct, and undisturbed as far as patience goes; else the error.
  Result<Run> TimedRun(Candidate* candidate, int64_t number = 1);
  Status TimedBlocks(Candidate* candidate, Outcome* outcome);  // as Protocol::number says
  Status TimedRuns(Candidate* candidate, double incumbent, Outcome* outcome);
  // The guards around all buffers of the candidate, except the copies of its constants, are intact.
  bool FencesStand(const Candidate& candidate) const;
  // The same after a timed run, and whether the output is what it was when it was verified; then spoils it, so that the
  // next run has to write it.
  Status CheckRun(Candidate* candidate);
  double Pulse();
  // Loaded, packed, run once and found right; else the error.
  Status Ready(Candidate* candidate, TrialError* error);
  bool FasterThanPossible(double flop, double seconds);

  TaskSetup setup_;
  std::optional<runtime::ThreadPool> pool_;
  RingCache rings_;
  double peak_flops_ = 0;
  double tolerance_ = 0;
  std::vector<std::vector<float>> pristine_;     // an operand each; empty for the output
  std::vector<runtime::AlignedBuffer> buffers_;  // an operand each, guarded
  std::vector<float> reference_;
  std::optional<LoadMeter> meter_;
  std::optional<LoadGuard> guard_;
};

}  // namespace hone::measure
