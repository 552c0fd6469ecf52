#include "base/check.h"
#include "fuzz_target.h"
#include "record/replay_space.h"

namespace hone::record {

HONE_FUZZ_TARGET(replay) {
  HONE_ASSIGN_OR_RETURN(const ReplaySpace space, ParseReplay(input, "fuzz"));
  (void)space.Defaults();
  const std::string text = ReplayText(space);
  const auto again = ParseReplay(text, "fuzz");
  HONE_CHECK(again.ok());
  fuzz::CheckSame(text, ReplayText(*again));
  return Status();
}

}  // namespace hone::record
