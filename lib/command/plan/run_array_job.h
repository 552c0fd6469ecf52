// One job of the list: hone-plan --run-job FILE --job K.
#pragma once

#include <string>

#include "base/status.h"
#include "command/plan/array_job.h"

namespace hone::command {

// Replaces this process by the tool that makes the job's outputs, in the work folder, with the words of $HONE_LAUNCHER
// in front where the manifest has them. The command is the manifest's, never the list's, so that a list from somebody
// else can name no program of its own. Returns only if it cannot: kNotFound if the manifest has no such edge any more,
// kInvalid for one that is Ninja's.
Status RunArrayJob(const std::string& work, const ArrayJob& job);

}  // namespace hone::command
