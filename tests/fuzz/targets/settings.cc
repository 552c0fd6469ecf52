// settings/JOB.tune.json or JOB.bench.json.
#include "pipeline/settings.h"

#include "base/check.h"
#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(settings) {
  if (const auto bench = ParseBenchSettings(input, "fuzz"); bench.ok()) {
    const auto again = ParseBenchSettings(BenchSettingsText(*bench), "fuzz");
    HONE_CHECK(again.ok() && *again == *bench);
    return Status();
  }
  HONE_ASSIGN_OR_RETURN(const TuneSettings tune, ParseTuneSettings(input, "fuzz"));
  const auto again = ParseTuneSettings(TuneSettingsText(tune), "fuzz");
  HONE_CHECK(again.ok() && *again == tune);
  return Status();
}

}  // namespace hone::pipeline
