#include "base/check.h"
#include "fuzz_target.h"
#include "nightly/environment.h"
#include "nightly/history.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(nights) {
  HONE_ASSIGN_OR_RETURN(const History history, ParseHistory(input, "fuzz"));
  std::string text;
  for (const Night& night : history.nights) text += NightText(night);
  const auto again = ParseHistory(text, "fuzz");
  HONE_CHECK(again.ok() && again->damaged.empty());
  std::string twice;
  for (const Night& night : again->nights) twice += NightText(night);
  fuzz::CheckSame(text, twice);
  if (!history.nights.empty()) (void)EnvironmentMoved(history.nights, history.nights.back());
  return Status();
}

}  // namespace hone::nightly
