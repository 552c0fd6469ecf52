#include <fmt/format.h>

#include "base/fields.h"
#include "record/store.h"

namespace hone::record {
namespace {

const ChoiceNames<StopReason> kReasons = {
    {StopReason::kNone, ""},
    {StopReason::kTrials, "trials"},
    {StopReason::kSeconds, "seconds"},
    {StopReason::kEarlyStop, "early-stop"},
    {StopReason::kExhausted, "space-exhausted"},
    {StopReason::kExpectedGain, "expected-gain"},
};

}  // namespace

const char* StopReasonName(StopReason reason) { return ChoiceName(kReasons, reason); }

static void ListFields(Fields* f, Closing* closing) {
  f->AllowOthers();
  f->Object("closing", [closing](Fields* c) {
    c->AllowOthers();
    c->Value("trials", &closing->trials);
    c->Choice("reason", &closing->reason, kReasons);
    c->Value("early_stop", &closing->early_stop);
    c->Value("finalists", &closing->finalists);
    c->Value("drift", &closing->drift);
    c->Maybe("expected_gain", &closing->expected_gain);
    c->Maybe("winograd", &closing->winograd);
    c->Maybe("tf32", &closing->tf32);
  });
}

std::string Closing::ToSettings() const { return FieldsText(*this, -1); }

std::optional<Closing> Closing::FromSettings(const std::string& settings) {
  Result<Closing> closing = ParseFields<Closing>(settings, "settings");
  return closing.ok() ? std::optional(*closing) : std::nullopt;
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
