// Records as text for other programs: one JSON object per line and trial, which repeats the task so that lines of
// several files can be mixed. db/README.md describes the keys.
#pragma once

#include <string>

#include "record/store.h"

namespace hone::record {

Result<std::string> ExportJsonLines(const Store& store);
// ordinal,state,error,median_seconds,samples,compile_seconds,measure_seconds,proposer,config
Result<std::string> ExportCsv(const Store& store);

}  // namespace hone::record
