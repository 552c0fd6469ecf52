// accepted/JOB.jsonl
#include "base/check.h"
#include "fuzz_target.h"
#include "nightly/accepted.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(acceptances) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Acceptance> log, ParseAcceptances(input, "fuzz"));
  std::string text, twice;
  for (const Acceptance& acceptance : log) text += AcceptanceText(acceptance);
  const auto again = ParseAcceptances(text, "fuzz");
  HONE_CHECK(again.ok());
  for (const Acceptance& acceptance : *again) twice += AcceptanceText(acceptance);
  fuzz::CheckSame(text, twice);
  return Status();
}

}  // namespace hone::nightly
