// Builder and Measurer: the two halves of finding out how fast a candidate is. The real ones work in child processes
// (session/child_builder.h, measure/child_measurer.h); tests and `hone-tune --fake-measure` use measure/fake.h.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"
#include "task/outcome.h"

namespace hone::measure {

struct BuildResult {
  bool ok = false;
  BuiltKernel kernel;  // config is always set; the rest if ok
  // kCompile (including crashes of the compiler), kTimeout (of the compiler), or kDevice, which is no verdict.
  TrialError error = TrialError::kNone;
  std::string error_text;
  double compile_seconds = 0;
};

class Builder {
 public:
  virtual ~Builder() = default;
  // Returns one result per config, in order, even if single ones fail. Their shared objects are there until the
  // next batch. kInterrupted returns nothing; any other failure means that nothing can be built here.
  virtual Result<std::vector<BuildResult>> Build(const std::vector<Config>& configs) {
    HONE_RETURN_IF_ERROR(Begin(configs));
    std::vector<BuildResult> results;
    while (results.size() < configs.size()) {
      HONE_ASSIGN_OR_RETURN(results.emplace_back(), Next());
    }
    return results;
  }

  // Builds with one result at a time, so that one can be measured while others are built. After Begin, each Next
  // returns the result of the next config, as soon as it is ready. After a failure no results are left.
  virtual Status Begin(const std::vector<Config>& configs) = 0;
  virtual Result<BuildResult> Next() = 0;
  // Whether Next has a result; waits at most `seconds` for it.
  virtual Result<bool> Ready(double seconds) = 0;
  // Continues with the rest without waiting for it. Returns true once everything is built and no child works on it.
  virtual Result<bool> Advance() = 0;
  // Abandons kernels that are not built yet; afterwards no child works on them.
  virtual void Abandon() = 0;
};

// The result of timing a kernel that was found correct before.
struct Series {
  std::vector<double> seconds;           // of single runs, in order; empty if it failed this time
  int64_t disturbed = 0;                 // number of runs taken while others used the machine
  int64_t retaken = 0;                   // runs discarded for that reason
  TrialError error = TrialError::kNone;  // kNone without times: it could not be tried
  std::string error_text;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  // Does what measuring needs first and what needs no idle machine, while candidates are being built. Optional: else
  // the first measurement does it.
  virtual Status Open() { return Status(); }

  // Verifies and times one candidate. `incumbent` is the best time so far in seconds, 0 if unknown. Fills in the
  // outcome's state, error, samples, median and measure_seconds, and from the kernel config, digest, steps and
  // compile_seconds. kInterrupted abandons the trial; any other failure means that measuring is not possible here.
  virtual Result<Outcome> Measure(const BuiltKernel& kernel, double incumbent) = 0;

  // Whether the first kernel that was right is still found right; true without a check if the measurer was replaced
  // since. If not, a candidate corrupted the measurer: do not trust what it measured since it was asked last. Runs a
  // kernel. Fails as Measure does.
  virtual Result<bool> Sound() { return true; }

  // Times kernels that were found correct before, interleaved: `rounds` rounds of one run each, in order; the first
  // kernel is the anchor. Returns one series per kernel.
  virtual Result<std::vector<Series>> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) = 0;

  // The peak of the device in FLOP/s; 0 while unknown.
  virtual double peak_flops() const = 0;

  // The device's busy time so far, by its own clock; nothing if the host measures.
  virtual std::optional<double> busy_seconds() const { return std::nullopt; }
};

}  // namespace hone::measure
