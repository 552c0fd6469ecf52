// Contents of a trial's row: its configuration, or its schedule's steps.
#include "task/config.h"

#include "fuzz_target.h"
#include "task/step.h"

namespace hone {

HONE_FUZZ_TARGET(config) {
  const std::string text(input);
  if (const auto steps = ParseSteps(text); steps.ok() && !steps->empty()) {
    return fuzz::ReadWriteRead(text, ParseSteps, StepsText);
  }
  return fuzz::ReadWriteRead(text, Config::FromJson, [](const Config& config) { return config.ToJson(); });
}

}  // namespace hone
