#include "fuzz_target.h"
#include "pipeline/pipeline_file.h"

HONE_FUZZ_TARGET(pipeline) { return hone::pipeline::ParsePipelineFile(input, "fuzz.toml").status(); }
