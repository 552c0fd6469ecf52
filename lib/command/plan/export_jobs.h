// The outdated edges as a list of jobs, hone-plan --export-jobs, and one job of it, hone-plan --run-job.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/plan/array_job.h"
#include "command/plan/ninja_view.h"

namespace hone::command {

// The outdated edges of `view` as jobs, in the order of the file. Empty: all is up to date. A task whose stamp is right
// is left out, though Ninja's log may not know it yet. Where a round of a total of trials can be shared out that is
// done first, and nothing else is: its jobs are in the list then, those of later rounds behind them and Ninja's.
// kInvalid while a network is to be extracted first: its tasks are not known then.
Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const NinjaView& view);

// Replaces this process by the tool that makes the job's outputs, in the work folder, with the words of $HONE_LAUNCHER
// in front where the manifest has them. The command is the manifest's, never the list's, so that a list from somebody
// else can name no program of its own. Returns only if it cannot: kNotFound if the manifest has no such edge any more,
// kInvalid for one that is Ninja's.
Status RunArrayJob(const std::string& work, const ArrayJob& job);

}  // namespace hone::command
