// hone-plan: work/build.ninja and the small files its edges read, from the pipeline files and the task lists known so
// far; and what is out of date by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::command {

struct PlanOptions {
  std::string pipelines = "pipelines";  // folder of the pipeline files, with targets/ in it
  std::string work = "work";            // folder to write into; made if it is not there
  std::string tools;                    // folder of the hone-* programs; empty: where this program lies
};

// Writes settings/, targets/, abi/ and, last, build.ninja below options.work, each only if its bytes
// change and none of them unless all could be made. Asks every tool for its versions with --abi. Mistakes go to stderr
// in one line. Returns the exit code: 0 done, 1 failed.
int RunPlan(const PlanOptions& options);

// After planning: why `target` is out of date, on stdout (command/plan/why.h).
int RunWhy(const PlanOptions& options, const std::string& target);

// After planning: what `targets` need as a list of jobs in `file`, a line a stage on stdout (command/plan/array_job.h).
int RunExportJobs(const PlanOptions& options, const std::vector<std::string>& targets, const std::string& file);

// Job `number` of such a file, in place of this process. Plans nothing.
int RunExportedJob(const PlanOptions& options, const std::string& file, int64_t number);

}  // namespace hone::command
