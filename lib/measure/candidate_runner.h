// Runs candidates of one task in this process: what Runner does on the host and DeviceRunner on a GPU.
#pragma once

#include <optional>
#include <vector>

#include "measure/builder.h"
#include "measure/kernel.h"
#include "task/outcome.h"

namespace hone::measure {

// The current step: "loading", "packing constants", "verifying", "timing". Read by a signal handler.
extern const char* volatile current_phase;

class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;
  // Fills state, error, error_text, samples, median, measure_seconds. Never fails otherwise.
  virtual Outcome Measure(const BuiltKernel& kernel, double incumbent) = 0;
  // measure/builder.h: MeasureInterleaved.
  virtual std::vector<Series> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) = 0;
  virtual double peak_flops() const = 0;  // 0 if unknown
  // How long a device has worked so far, by its own clock; nothing if the host measures.
  virtual std::optional<double> busy_seconds() const { return std::nullopt; }
  // Nothing more can be measured in this process.
  virtual bool lost() const { return false; }
};

}  // namespace hone::measure
