// The stamps of tasks in WORK/stamps/: their names, and which exist, for tools that change records. hone-tune runs
// again once they are removed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"

namespace hone::pipeline {

// The stamp of a task that is not tuned in rounds, relative to the work folder. Non-default numerics have their own
// stamps: their tasks are done when enough is measured under them.
std::string StampPath(const std::string& task, const std::string& target, const TuneSettings& settings);
// Whether this file of the folder stamps/ is that stamp under any numerics.
bool IsStampOf(const std::string& name, const std::string& task, const std::string& target);

// Whether a stamp's path is of non-default numerics.
bool IsOfOtherNumerics(const std::string& stamp);

// Stands for all stamps of a job, "NET.TARGET", relative to the work folder.
std::string TunedPath(const std::string& job);

// The folder of a round below settings/ and stamps/: "NET.TARGET.rK". `job` is "NET.TARGET".
std::string RoundName(const std::string& job, int round);
// The stamp of a task that is tuned in rounds; `folder` is that of the round below stamps/.
std::string RoundStampPath(const std::string& folder, const std::string& task);

// The existing stamps of the task whose records are WORK/records/TARGET/TASKID.db: under all numerics, and of all
// rounds of all networks. Empty if the file is not in such a folder, or if there is no folder WORK/stamps. Returns an
// error if that folder cannot be read.
Result<std::vector<std::string>> StampsOfRecords(const std::string& db);

}  // namespace hone::pipeline
