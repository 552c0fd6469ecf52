// What a trial's row holds: its configuration, or its schedule's steps.
#include "task/config.h"

#include "base/check.h"
#include "fuzz_target.h"
#include "task/step.h"

namespace hone {

HONE_FUZZ_TARGET(config) {
  const std::string text(input);
  if (const auto steps = ParseSteps(text); steps.ok() && !steps->empty()) {
    const auto again = ParseSteps(StepsText(*steps));
    HONE_CHECK(again.ok());
    fuzz::CheckSame(StepsText(*steps), StepsText(*again));
    return Status();
  }
  HONE_ASSIGN_OR_RETURN(const Config config, Config::FromJson(text));
  const auto again = Config::FromJson(config.ToJson());
  HONE_CHECK(again.ok());
  fuzz::CheckSame(config.ToJson(), again->ToJson());
  return Status();
}

}  // namespace hone
