// settings/JOB.tune.json or JOB.bench.json.
#include "pipeline/settings.h"

#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(settings) {
  if (ParseBenchSettings(input, "fuzz").ok()) {
    return fuzz::ReadWriteRead(input, ParseBenchSettings, BenchSettingsText);
  }
  return fuzz::ReadWriteRead(input, ParseTuneSettings, TuneSettingsText);
}

}  // namespace hone::pipeline
