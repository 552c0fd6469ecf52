// The Measurer that works in a child (`hone-worker measure`): a candidate that crashes or hangs takes the child with
// it, and the next one gets a new child. After a failure of this machine (measure/worker.h) the same one gets it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/builder.h"
#include "measure/messages.h"
#include "measure/worker.h"

namespace hone::measure {

class ChildMeasurer : public Measurer {
 public:
  // `program`: path of hone-worker. The child is started by the first call.
  ChildMeasurer(std::string program, TaskSetup setup);

  Result<Outcome> Measure(const BuiltKernel& kernel, double incumbent) override;
  Result<std::vector<Series>> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) override;
  double peak_flops() const override { return peak_flops_; }
  std::optional<double> busy_seconds() const override { return busy_seconds_; }
  pid_t child_pid() const { return worker_.pid(); }

 private:
  // As MeasureInterleaved, but a kernel that takes the child with it fails them all.
  Result<std::vector<Series>> AskInterleaved(const std::vector<BuiltKernel>& kernels, int rounds);
  Status EnsureStarted();
  // kIo: the child's own message.
  Status ReadAnswer(const std::string& text, Json* answer);
  // kTimeout, kCrashed, kIo (measure/worker.h): the child is gone by then.
  Result<std::string> Ask(const std::string& message, double timeout_seconds);

  TaskSetup setup_;
  Worker worker_;
  double peak_flops_ = 0;
  std::optional<double> busy_seconds_;  // of all children together
  bool was_ready_ = false;              // a child was set up once
};

}  // namespace hone::measure
