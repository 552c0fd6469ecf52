#include "pipeline/best_file.h"

#include "base/check.h"
#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(best_file) {
  HONE_ASSIGN_OR_RETURN(const BestFile best, ParseBestFile(input, "fuzz"));
  const std::string text = BestFileText(best);
  const auto again = ParseBestFile(text, "fuzz");
  HONE_CHECK(again.ok());
  fuzz::CheckSame(text, BestFileText(*again));
  const auto choice = ParseBestFile(ChoiceText(best), "fuzz");
  HONE_CHECK(choice.ok());
  return Status();
}

}  // namespace hone::pipeline
