// pipelines/targets/NAME.toml, hone-plan's conversion of it for the tools, and the target itself.
#include "target/target.h"

#include "fuzz_target.h"
#include "pipeline/pipeline_file.h"

namespace hone {

HONE_FUZZ_TARGET(target) {
  HONE_ASSIGN_OR_RETURN(const pipeline::TargetFile file, pipeline::ParseTargetFile(input, "fuzz.toml"));
  HONE_ASSIGN_OR_RETURN(const Target target, ParseTargetFile(file.json, "fuzz.json"));
  return fuzz::ReadWriteRead(target.Text(), Target::Parse, [](const Target& read) { return read.Text(); });
}

}  // namespace hone
