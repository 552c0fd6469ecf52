#include "record/closing.h"

#include "base/json.h"

namespace hone::record {
namespace {

constexpr StopReason kReasons[] = {StopReason::kTrials, StopReason::kSeconds, StopReason::kEarlyStop,
                                   StopReason::kExhausted};

}  // namespace

const char* StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return "";
    case StopReason::kTrials:
      return "trials";
    case StopReason::kSeconds:
      return "seconds";
    case StopReason::kEarlyStop:
      return "early-stop";
    case StopReason::kExhausted:
      return "space-exhausted";
  }
  return "";
}

std::string Closing::ToSettings() const {
  const Json json = {{"closing",
                      {{"trials", trials},
                       {"reason", StopReasonName(reason)},
                       {"early_stop", early_stop},
                       {"finalists", finalists},
                       {"drift", drift}}}};
  return DumpJson(json, -1);
}

std::optional<Closing> Closing::FromSettings(const std::string& settings) {
  auto json = ParseJson(settings, "settings");
  if (!json.ok()) return std::nullopt;
  JsonReader reader(*json, "settings"), inner;
  Closing closing;
  std::string reason;
  if (!reader.Read("closing", &inner).ok() || !inner.Read("trials", &closing.trials).ok() ||
      !inner.Read("reason", &reason).ok() || !inner.Read("early_stop", &closing.early_stop).ok() ||
      !inner.Read("finalists", &closing.finalists).ok() || !inner.Read("drift", &closing.drift).ok()) {
    return std::nullopt;
  }
  for (const StopReason r : kReasons) {
    if (reason == StopReasonName(r)) closing.reason = r;
  }
  return closing;
}

}  // namespace hone::record
