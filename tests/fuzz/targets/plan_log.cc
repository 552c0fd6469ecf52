#include "command/plan/plan_log.h"

#include "base/check.h"
#include "base/text.h"
#include "fuzz_target.h"

// A log is taken if all its lines are; hone-plan --why passes over the others.
HONE_FUZZ_TARGET(plan_log) {
  using namespace hone::command;
  hone::Status status;
  for (const char* file : {"abi/hone-tune.txt", "settings/net.tune.json"}) (void)PlanChangesIn(input, file, 1);
  for (const std::string& line : hone::Split(std::string(hone::Trim(input)), '\n')) {
    const auto change = ParsePlanChange(line);
    if (!change.ok()) {
      status = change.status();
      continue;
    }
    (void)PlanChangesIn(line, change->file, change->time);
    const std::string text = PlanChangeText(*change);
    const auto again = ParsePlanChange(text);
    HONE_CHECK(again.ok());
    hone::fuzz::CheckSame(text, PlanChangeText(*again));
  }
  return status;
}
