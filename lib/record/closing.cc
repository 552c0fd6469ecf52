#include "record/closing.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hone::record {
namespace {

constexpr StopReason kReasons[] = {StopReason::kTrials, StopReason::kSeconds, StopReason::kEarlyStop,
                                   StopReason::kExhausted, StopReason::kExpectedGain};

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
    case StopReason::kExpectedGain:
      return "expected-gain";
  }
  return "";
}

std::string Closing::ToSettings() const {
  const Json json = {{"closing",
                      {{"trials", trials},
                       {"reason", StopReasonName(reason)},
                       {"early_stop", early_stop},
                       {"finalists", finalists},
                       {"drift", drift},
                       {"expected_gain", expected_gain},
                       {"winograd", winograd},
                       {"tf32", tf32}}}};
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
      !inner.Read("finalists", &closing.finalists).ok() || !inner.Read("drift", &closing.drift).ok() ||
      !inner.ReadOptional("expected_gain", &closing.expected_gain).ok() ||
      !inner.ReadOptional("winograd", &closing.winograd).ok() || !inner.ReadOptional("tf32", &closing.tf32).ok()) {
    return std::nullopt;
  }
  for (const StopReason r : kReasons) {
    if (reason == StopReasonName(r)) closing.reason = r;
  }
  return closing;
}

std::string Closing::ReasonText() const {
  switch (reason) {
    case StopReason::kNone:
      return "unknown";
    case StopReason::kTrials:
      return fmt::format("the budget of trials is spent, {} are recorded", trials);
    case StopReason::kSeconds:
      return "the budget of seconds is spent";
    case StopReason::kEarlyStop:
      return fmt::format("nothing better in the last {} trials", early_stop);
    case StopReason::kExhausted:
      return "nothing is left to try";
    case StopReason::kExpectedGain:
      return fmt::format("the tuner expects to gain less than {:g} %", 100 * expected_gain);
  }
  return "";
}

}  // namespace hone::record
