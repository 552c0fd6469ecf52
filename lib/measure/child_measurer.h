// The Measurer that works in a child (`hone-worker measure`): a candidate that crashes or hangs ends the child, and the
// next one gets a new child. After a failure of this machine (measure/worker.h), the same candidate gets a new child.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "measure/builder.h"
#include "measure/messages.h"
#include "measure/worker.h"

namespace hone::measure {

class ChildMeasurer : public Measurer {
 public:
  // `program` is the path of hone-worker. The first call starts the child. `complete`, if any, is called once, before
  // the setup is sent: it may compute the reference.
  ChildMeasurer(std::string program, TaskSetup setup, std::function<Status(TaskSetup*)> complete = nullptr);

  Status Open() override;
  Result<Outcome> Measure(const BuiltKernel& kernel, double incumbent) override;
  Result<bool> Sound() override;
  Result<std::vector<Series>> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) override;
  double peak_flops() const override { return peak_flops_; }
  std::optional<double> busy_seconds() const override { return busy_seconds_; }
  pid_t child_pid() const { return worker_.pid(); }

 private:
  // As MeasureInterleaved, but if a kernel ends the child, all fail.
  Result<std::vector<Series>> AskInterleaved(const std::vector<BuiltKernel>& kernels, int rounds);
  // Returns with a child that is set up and may open the files of these kernels.
  Status EnsureReady(const std::vector<BuiltKernel>& kernels);
  Status SetUp();
  void Stop();
  // Returns the child's answer. Returns kTimeout, kCrashed or kIo (measure/worker.h), or kCorrupt for what is no answer
  // to this request; the child is gone then.
  Result<Json> Ask(const std::string& message, double timeout_seconds);
  // The same after the setup: also checks and takes the fields that every answer has.
  Result<Json> AskReady(const std::string& message, double timeout_seconds);
  // Stops the child and returns kCorrupt: no sound child sends this, so a candidate wrote over its memory.
  Status Implausible(const std::string& what);
  Status ReadOutcome(const Json& answer, Outcome* outcome);
  Result<std::vector<Series>> ReadSeries(const Json& answer, const std::vector<BuiltKernel>& kernels, int rounds);
  bool FasterThanPossible(const BuiltKernel& kernel, double seconds);
  // Keeps a copy of the first kernel that was right, as the builder may remove its own file.
  Status KeepCanary(const BuiltKernel& kernel);
  // kNone: right; kDevice: could not be tried. Fails if it got no answer and the canary is not to blame.
  Result<TrialError> VerifyCanary();

  TaskSetup setup_;
  std::function<Status(TaskSetup*)> complete_;  // null once called
  Worker worker_;
  std::optional<BuiltKernel> canary_;
  uint64_t nonce_ = 0;  // of this child
  int64_t requests_ = 0;
  double setup_peak_ = 0;  // the highest that a child measured before it ran a candidate
  double peak_flops_ = 0;
  double bound_flops_ = 0;              // of this host's arithmetic, once it was needed
  std::optional<double> busy_seconds_;  // total of all children
  std::set<std::string> slowed_;        // what slowed the device down, as far as the log has it
  bool ready_ = false;                  // the child is set up
  bool was_ready_ = false;              // a child was set up before
};

}  // namespace hone::measure
