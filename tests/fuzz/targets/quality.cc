// nights/quality/JOB.jsonl
#include "nightly/quality.h"

#include "base/check.h"
#include "fuzz_target.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(quality) {
  HONE_ASSIGN_OR_RETURN(const QualityHistory history, ParseQuality(input, "fuzz"));
  std::string text, twice;
  for (const QualityNight& night : history.nights) text += QualityText(night);
  const auto again = ParseQuality(text, "fuzz");
  HONE_CHECK(again.ok() && again->damaged.empty());
  for (const QualityNight& night : again->nights) twice += QualityText(night);
  fuzz::CheckSame(text, twice);
  HONE_CHECK(QualityValues(history.nights).size() == history.nights.size());
  return Status();
}

}  // namespace hone::nightly
