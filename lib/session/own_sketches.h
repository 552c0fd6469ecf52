// The sketches that a user wrote, from the settings of a job.
#pragma once

#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "propose/propose.h"

namespace hone::session {

// Parses them. Returns kInvalid with file, line and column.
Result<propose::OwnSketches> OwnSketches(const std::vector<pipeline::SketchFile>& files);

// Who proposes candidates of a task under these settings.
Result<propose::Proposers> ProposersOf(const pipeline::TaskFile& task, const pipeline::TuneSettings& settings);

}  // namespace hone::session
