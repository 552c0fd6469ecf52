#include "pipeline/model_file.h"

#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(model) { return fuzz::ReadWriteRead(input, ParseSavedModel, SavedModelText); }

}  // namespace hone::pipeline
