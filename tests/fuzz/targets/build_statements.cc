// The build statements of WORK/build.ninja. Ours, and not what others send: but whoever asks reads what lies there.
#include "fuzz_target.h"
#include "pipeline/ninja_reader.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(build_statements) {
  HONE_ASSIGN_OR_RETURN(const std::vector<NinjaBuild> builds, ReadBuilds(input));
  for (const NinjaBuild& build : builds) HONE_CHECK(!build.outputs.empty() && !build.rule.empty());
  return Status();
}

}  // namespace hone::pipeline
