// Builder and Measurer: the two halves of finding out how fast a candidate is. The real ones work in child processes
// (session/child_builder.h, measure/child_measurer.h); tests and `hone-tune --fake-measure` use measure/fake.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"
#include "task/outcome.h"

namespace hone::measure {

struct BuildResult {
  bool ok = false;
  BuiltKernel kernel;  // config always; the rest if ok
  // kCompile (a compiler that crashed, too), kTimeout (of the compiler), kDevice: no verdict.
  TrialError error = TrialError::kNone;
  std::string error_text;
  double compile_seconds = 0;
};

class Builder {
 public:
  virtual ~Builder() = default;
  // One result a config, in order, whatever happens to single ones. Shared objects of the batch before are removed.
  // kInterrupted: nothing is returned; any other failure means that nothing can be built here at all.
  virtual Result<std::vector<BuildResult>> Build(const std::vector<Config>& configs) = 0;

  // The same with a result at a time, so that one can be measured while the others are built. Begin, then a Next for
  // each config gives their results in order, each as soon as it is there. After a failure there is nothing to ask for.
  virtual Status Begin(const std::vector<Config>& configs) = 0;
  virtual Result<BuildResult> Next() = 0;
  // Whether Next has a result to give; waits `seconds` for it at most.
  virtual Result<bool> Ready(double seconds) = 0;
  // Goes on with the rest without waiting for it. True: all is built, and nothing works on it any more.
  virtual Result<bool> Advance() = 0;
  // Abandons kernels that are not built yet; no child works on them any more.
  virtual void Abandon() = 0;
};

// The result of timing a kernel that was correct once.
struct Series {
  std::vector<double> seconds;  // of single runs, in order; empty if it failed this time
  int64_t disturbed = 0;        // of them, taken while others used the machine
  int64_t retaken = 0;          // thrown away for that reason
  TrialError error = TrialError::kNone;  // kNone and no times: it could not be tried
  std::string error_text;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  // Verifies and times one candidate. `incumbent`: seconds of the best so far, 0 if there is none. The outcome has
  // state, error, samples, median, measure_seconds, and from the kernel config, digest, steps and compile_seconds.
  // kInterrupted: the trial is abandoned. Any other failure: measuring is not possible here at all.
  virtual Result<Outcome> Measure(const BuiltKernel& kernel, double incumbent) = 0;

  // Times kernels that were correct once, interleaved: `rounds` rounds of one run each, in order; the first one is the
  // anchor. A series a kernel.
  virtual Result<std::vector<Series>> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) = 0;

  // FLOP a second that the device reaches at most; 0 while unknown.
  virtual double peak_flops() const = 0;

  // How long the device has worked so far, by its own clock; nothing if the host measures.
  virtual std::optional<double> busy_seconds() const { return std::nullopt; }
};

}  // namespace hone::measure
