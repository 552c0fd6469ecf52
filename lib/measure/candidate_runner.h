// Runs candidates of one task in this process: verifies, then times them. The measuring child is a loop around it;
// nothing here protects against a candidate that crashes or hangs. What is timed, in which order and how often is
// decided here. Runner (the host) and DeviceRunner (a GPU) load, run and check a candidate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "measure/builder.h"
#include "measure/kernel.h"
#include "measure/messages.h"
#include "task/outcome.h"
#include "task/tensor_data.h"

namespace hone::measure {

// The current step: "loading", "packing constants", "verifying", "timing". Read by a signal handler.
extern const char* volatile current_phase;

class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  // Fills state, error, error_text, samples, median, measure_seconds. Never fails otherwise.
  Outcome Measure(const BuiltKernel& kernel, double incumbent);
  // measure/builder.h: MeasureInterleaved.
  std::vector<Series> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds);
  virtual double peak_flops() const = 0;  // 0 if unknown
  // How long a device has worked so far, by its own clock; nothing if the host measures.
  virtual std::optional<double> busy_seconds() const { return std::nullopt; }
  // Nothing more can be measured in this process.
  virtual bool lost() const { return false; }

 protected:
  struct Candidate {
    virtual ~Candidate() = default;
  };
  using Candidates = std::vector<std::unique_ptr<Candidate>>;
  struct Sample {
    double seconds = 0;  // of all its runs together
    bool disturbed = false;
  };

  explicit CandidateRunner(const TaskSetup& setup) : setup_(setup) {}
  Status ReadExpected();  // reference_ and tolerance_

  // Functions that fail set *error.
  // Returns a candidate that was loaded, packed, run once and found right.
  virtual Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel& kernel, TrialError* error) = 0;
  virtual Result<Sample> Time(Candidate* candidate, int64_t number, TrialError* error) = 0;
  // By the seconds of one run. May choose the constants that the next samples use.
  virtual int64_t RunsOfASample(Candidate*, double) { return 1; }
  // The output once more, after all samples; after those of MeasureInterleaved, where candidates share it.
  virtual Status CheckAgain(Candidate*, TrialError*) { return Status(); }
  virtual Status CheckShared(Candidate*, int64_t /*number*/, TrialError*) { return Status(); }
  virtual bool FasterThanPossible(double flops);

  // Patience with disturbed runs begins anew; runs taken again since.
  virtual void BeginPatience() {}
  virtual int64_t retaken() const { return 0; }

  // Makes room for the constants of `candidates` that stay alive together; 0: as usual.
  virtual void KeepConstants(size_t candidates) = 0;
  // Makes anew what candidates share with one that was wrong: it may have written anywhere. Clears them if it cannot.
  virtual void Mend(Candidates*) {}
  virtual double warm_seconds() const { return 0; }  // of rounds that do not count

  TaskSetup setup_;
  TensorData reference_;
  double tolerance_ = 0;

 private:
  Status TimeBlocks(Candidate* candidate, Outcome* outcome, TrialError* error);  // as Protocol::number says
  Status TimeSamples(Candidate* candidate, double incumbent, Outcome* outcome, TrialError* error);
};

}  // namespace hone::measure
