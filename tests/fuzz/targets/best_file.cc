#include "pipeline/best_file.h"

#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(best_file) {
  HONE_RETURN_IF_ERROR(fuzz::ReadWriteRead(input, ParseBestFile, BestFileText));
  HONE_CHECK(ParseBestFile(ChoiceText(*ParseBestFile(input, "fuzz")), "fuzz").ok());
  return Status();
}

}  // namespace hone::pipeline
