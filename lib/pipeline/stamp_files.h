// Finds the stamps of a record file, for tools that change records: hone-tune runs again once they are removed.
#pragma once

#include <string>
#include <vector>

namespace hone::pipeline {

// The existing stamps of the task whose records are WORK/records/TARGET/TASKID.db: under all numerics, and of all
// rounds of all networks (pipeline/plan.cc names them). Empty if the file is not in such a folder.
std::vector<std::string> StampsOfRecords(const std::string& db);

}  // namespace hone::pipeline
