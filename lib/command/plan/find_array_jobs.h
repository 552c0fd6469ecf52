// The outdated edges as a list of jobs: hone-plan --export-jobs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/plan/array_job.h"

namespace hone::command {

// What `targets` need, in the order of the file. Empty: they are up to date. A task whose stamp is right is left out,
// though Ninja's log may not know it yet. Where a round of a total of trials can be shared out that is done first, and
// nothing else is: its jobs are in the list then, those of later rounds behind them and Ninja's. Errors as LookAtWork;
// kInvalid while a network is to be extracted first: its tasks are not known then.
Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const std::vector<std::string>& targets);

}  // namespace hone::command
