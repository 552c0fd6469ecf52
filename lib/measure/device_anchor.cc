#include "measure/device_anchor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::measure {

constexpr double kAnchorSeconds = 2e-3;  // of the timed runs; a quarter as many precede them
constexpr double kMostAnchorRuns = 256;

Result<std::unique_ptr<DeviceAnchor>> DeviceAnchor::Create(runtime::Device* device,
                                                           std::unique_ptr<runtime::DeviceModule> module,
                                                           std::string symbol, runtime::DeviceArguments arguments,
                                                           const std::vector<bool>& own, double run_seconds) {
  std::unique_ptr<DeviceAnchor> anchor(new DeviceAnchor());
  const auto padded = [alignment = device->info().alignment](int64_t bytes) {
    return (std::max<int64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  };
  int64_t total = 0;
  for (size_t i = 0; i < arguments.size(); ++i) total += own[i] ? padded(arguments[i]->bytes()) : 0;
  HONE_ASSIGN_OR_RETURN(anchor->memory_, device->Allocate(total));
  int64_t at = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!own[i]) continue;
    const int64_t bytes = arguments[i]->bytes();
    HONE_ASSIGN_OR_RETURN(auto part, device->Part(*anchor->memory_, at, bytes));
    HONE_RETURN_IF_ERROR(device->Copy(part.get(), *arguments[i], bytes));
    arguments[i] = part.get();
    anchor->parts_.push_back(std::move(part));
    at += padded(bytes);
  }
  HONE_RETURN_IF_ERROR(device->Wait());
  anchor->module_ = std::move(module);
  anchor->symbol_ = std::move(symbol);
  anchor->arguments_ = std::move(arguments);
  anchor->runs_ =
      static_cast<int64_t>(std::clamp(std::ceil(kAnchorSeconds / std::max(run_seconds, 1e-9)), 1.0, kMostAnchorRuns));
  anchor->warm_ = anchor->runs_ / 4;
  return anchor;
}

double DeviceAnchor::Share() {
  const Result<double> seconds = module_->Time(symbol_, {{arguments_}, warm_}, {{arguments_}, runs_});
  if (!seconds.ok() || *seconds <= 0) return 1;
  best_ = best_ > 0 ? std::min(best_, *seconds) : *seconds;
  return best_ / *seconds;
}

}  // namespace hone::measure
