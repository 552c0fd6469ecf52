// Exports the outdated edges as a list of jobs (hone-plan --export-jobs), and runs one of them (hone-plan --run-job).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/plan/array_job.h"
#include "command/plan/ninja_view.h"

namespace hone::command {

// The outdated edges of `view` as jobs, in the order of the file; empty if all is up to date. Skips a task whose stamp
// is right even if Ninja's log does not know it yet. If trials for a round can be distributed now, does that first and
// nothing else: the list then has this round's jobs, followed by those of later rounds and Ninja's. Returns kInvalid
// while a network still has to be extracted, as its tasks are unknown.
Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const NinjaView& view);

// Replaces this process by the tool that makes the job's outputs, in the work folder, with the words of $HONE_LAUNCHER
// in front if the manifest has them. The command is the manifest's, never the list's: a list from somebody else cannot
// name a program of its own. Returns only on failure: kNotFound if the manifest no longer has such an edge, kInvalid
// for one that is left to Ninja.
Status RunArrayJob(const std::string& work, const ArrayJob& job);

}  // namespace hone::command
