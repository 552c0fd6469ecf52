#include "fuzz_target.h"
#include "pipeline/shares.h"

HONE_FUZZ_TARGET(stamp) { return hone::pipeline::ParseStamp(input, "fuzz").status(); }
