// The Measurer that works in a child (`hone-worker measure`): a candidate that crashes or hangs ends the child, and the
// next one gets a new child. After a failure of this machine (measure/worker.h), the same candidate gets a new child.
#pragma once

#include <functional>
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
  // Returns kIo with the child's own message.
  Status ReadAnswer(const std::string& text, Json* answer);
  // Returns kIo with the child's own message. Any other error is a candidate's doing, which wrote over the child's
  // memory.
  Status ReadOutcome(const std::string& text, Outcome* outcome);
  bool FasterThanPossible(const BuiltKernel& kernel, double seconds) const;
  // Returns kTimeout, kCrashed or kIo (measure/worker.h), or kCorrupt for an answer to another request; the child is
  // gone then.
  Result<std::string> Ask(const std::string& message, double timeout_seconds);

  TaskSetup setup_;
  std::function<Status(TaskSetup*)> complete_;  // null once called
  Worker worker_;
  // The first kernel that was right; its file is a copy, as the builder may remove its own.
  Status KeepCanary(const BuiltKernel& kernel);
  std::optional<BuiltKernel> canary_;
  uint64_t nonce_ = 0;  // of this child
  int64_t requests_ = 0;
  double setup_peak_ = 0;  // the highest that a child measured before it ran a candidate
  double peak_flops_ = 0;
  std::optional<double> busy_seconds_;  // total of all children
  bool ready_ = false;                  // the child is set up
  bool was_ready_ = false;              // a child was set up before
};

}  // namespace hone::measure
