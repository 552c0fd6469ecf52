// Records as text for other programs: one JSON object a line, a trial each, with the task repeated in each line so that
// lines of several files can be mixed. Keys are those of db/README.md.
#pragma once

#include <string>

#include "record/store.h"

namespace hone::record {

Result<std::string> ExportJsonLines(const Store& store);
// ordinal,state,error,median_seconds,samples,compile_seconds,measure_seconds,proposer,config
Result<std::string> ExportCsv(const Store& store);

}  // namespace hone::record
