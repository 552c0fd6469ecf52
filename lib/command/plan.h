// hone-plan: work/build.ninja and the small files its edges read, from the pipeline files and the task lists known so
// far.
#pragma once

#include <string>

namespace hone::command {

struct PlanOptions {
  std::string pipelines = "pipelines";  // folder of the pipeline files, with targets/ in it
  std::string work = "work";            // folder to write into; made if it is not there
  std::string tools;                    // folder of the hone-* programs; empty: where this program lies
};

// Writes settings/, targets/, abi/, build.ninja.d and, last, build.ninja below options.work, each only if its bytes
// change and none of them unless all could be made. Asks every tool for its versions with --abi. Mistakes go to stderr
// in one line. Returns the exit code: 0 done, 1 failed.
int RunPlan(const PlanOptions& options);

}  // namespace hone::command
