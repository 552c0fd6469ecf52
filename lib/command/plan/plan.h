// hone-plan: writes work/build.ninja and the small files that its edges read, from the pipeline files and the current
// task lists; and explains what is out of date.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::command {

struct PlanOptions {
  std::string pipelines = "pipelines";  // folder of the pipeline files, with targets/ in it
  std::string work = "work";            // folder to write into; created if needed
  std::string tools;                    // folder of the hone-* programs; empty: that of this program
};

// Writes settings/, targets/, abi/ and, last, build.ninja below options.work, each only if its bytes change, and none
// unless all could be made. Asks every tool for its versions with --abi. Prints mistakes to stderr in one line. Returns
// the exit code: 0 done, 1 failed.
int RunPlan(const PlanOptions& options);

// Plans, then prints to stdout why `target` is out of date.
int RunWhy(const PlanOptions& options, const std::string& target);

// Plans, then writes the jobs that `targets` need to `file`, and a line per stage to stdout (command/plan/array_job.h).
int RunExportJobs(const PlanOptions& options, const std::vector<std::string>& targets, const std::string& file);

// Replaces this process by job `number` of such a file. Plans nothing.
int RunExportedJob(const PlanOptions& options, const std::string& file, int64_t number);

}  // namespace hone::command
