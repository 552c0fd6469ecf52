// Runs candidates of one task in this process: verifies, then times them. The measuring child is a loop around it;
// nothing here protects against a candidate that crashes or hangs. This class decides what is timed, in which order and
// how often. Runner (the host) and DeviceRunner (a GPU) load, run and check a candidate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/builder.h"
#include "measure/kernel.h"
#include "measure/messages.h"
#include "runtime/host/buffer.h"
#include "task/outcome.h"

namespace hone::measure {

// The current step: "loading", "packing constants", "verifying", "timing". Read by a signal handler.
extern const char* volatile current_phase;

// A copy that cannot be written.
Result<runtime::AlignedBuffer> Sealed(std::string_view bytes);

class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  // Fills in state, error, error_text, samples, median and measure_seconds. Has no other way to fail.
  Outcome Measure(const BuiltKernel& kernel, double incumbent);
  // Loads, runs and verifies a kernel, without timing it. Returns kNone if it is right.
  TrialError Verify(const BuiltKernel& kernel);
  // measure/builder.h: MeasureInterleaved.
  std::vector<Series> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds);
  virtual double peak_flops() const = 0;  // 0 if unknown
  // The device's busy time so far, by its own clock; nothing if the host measures.
  virtual std::optional<double> busy_seconds() const { return std::nullopt; }
  // Why samples were disturbed since the last call, as far as the device says it; else empty.
  virtual std::string TakeSlowed() { return ""; }
  // True if this process cannot measure any more.
  virtual bool lost() const { return false; }

 protected:
  struct Candidate {
    virtual ~Candidate() = default;
  };
  using Candidates = std::vector<std::unique_ptr<Candidate>>;
  struct Sample {
    double seconds = 0;  // total of all its runs
    bool disturbed = false;
  };

  explicit CandidateRunner(const TaskSetup& setup) : setup_(setup) {}
  Status ReadExpected();  // sets reference() and tolerance()

  // Functions that fail set *error. Returns a candidate that is loaded, packed, run once and verified.
  // Unless it is to be timed, it needs no copies of its constants.
  virtual Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel& kernel, bool timed, TrialError* error) = 0;
  virtual Result<Sample> Time(Candidate* candidate, int64_t number, TrialError* error) = 0;
  // The number of runs in a sample, from the seconds of one run. May select the constants of the next samples.
  virtual int64_t RunsOfASample(Candidate*, double) { return 1; }
  // Verifies the output again after all samples, or after those of MeasureInterleaved if candidates share the output.
  virtual Status CheckAgain(Candidate*, TrialError*) { return Status(); }
  virtual Status CheckShared(Candidate*, int64_t /*number*/, TrialError*) { return Status(); }
  virtual bool FasterThanPossible(double flops);

  // Resets the patience with disturbed runs, and the count of repeated runs.
  virtual void BeginPatience() {}
  virtual int64_t retaken() const { return 0; }

  // Prepares for the constants of `candidates` that are alive at the same time.
  virtual void KeepConstants(size_t candidates) = 0;
  // Restores what candidates share after a wrong candidate, which may have written anywhere. Clears the list if it
  // cannot.
  virtual void Mend(Candidates*) {}
  virtual double warm_seconds() const { return 0; }  // duration of rounds that do not count

  TaskSetup setup_;
  // Read-only, so that a wild write of a candidate cannot condemn all others: the correct output and the tolerance.
  const char* reference() const { return reference_.data(); }
  double tolerance() const { return *reinterpret_cast<const double*>(tolerance_.data()); }

 private:
  Status TimeBlocks(Candidate* candidate, Outcome* outcome, TrialError* error);  // as Protocol::number says
  Status TimeSamples(Candidate* candidate, double incumbent, Outcome* outcome, TrialError* error);

  runtime::AlignedBuffer reference_, tolerance_;
};

}  // namespace hone::measure
