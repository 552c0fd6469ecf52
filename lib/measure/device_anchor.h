// The anchor of a measuring child on a device: the first kernel that was right, timed again now and then. When it takes
// longer than at its best, so do candidates: clocks are lower, or others use the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/device/device.h"

namespace hone::measure {

class DeviceAnchor {
 public:
  // Keeps the kernel `symbol` of the module, whose runs take about `run_seconds`. The arguments marked as `own` are
  // copied: candidates overwrite them, or are verified by them. The others must outlive the anchor.
  static Result<std::unique_ptr<DeviceAnchor>> Create(runtime::Device* device,
                                                      std::unique_ptr<runtime::DeviceModule> module, std::string symbol,
                                                      runtime::DeviceArguments arguments, const std::vector<bool>& own,
                                                      double run_seconds);

  // Times it. Returns the share of its best speed that it reaches now; 1 the first time, and if it cannot be timed.
  double Share();

 private:
  DeviceAnchor() = default;

  std::unique_ptr<runtime::DeviceBuffer> memory_;
  std::vector<std::unique_ptr<runtime::DeviceBuffer>> parts_;
  std::unique_ptr<runtime::DeviceModule> module_;
  std::string symbol_;
  runtime::DeviceArguments arguments_;
  int64_t warm_ = 0, runs_ = 1;
  double best_ = 0;  // seconds
};

}  // namespace hone::measure
