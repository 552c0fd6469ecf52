#include "fuzz_target.h"
#include "pipeline/changes.h"
#include "pipeline/shares.h"

// Also as hone-plan --why and --export-jobs read it: against the job's current inputs, and as each of these.
HONE_FUZZ_TARGET(stamp) {
  using namespace hone::pipeline;
  const std::string text(input);
  const TuneInputs now = {R"({"id": "x", "space": "a=1"})", R"({"trials": 8})", "space a=1", {"y"}};
  for (const TuneInputs& inputs : {now, TuneInputs{text, text, text, {}}}) {
    (void)StampChanges(input, inputs);
    HONE_CHECK(NewTrials(input, inputs) >= 0);
    HONE_CHECK(NewSeconds(input, inputs) >= 0);
  }
  const auto by_time = ParseStamp(input, "fuzz", /*by_time=*/true);
  if (by_time.ok()) (void)by_time->BestAt(by_time->trials / 2);
  return ParseStamp(input, "fuzz", /*by_time=*/false).status();
}
