// hone-plan: writes the Ninja manifest of all pipelines; explains what is out of date.
#include <string>
#include <vector>

#include "base/flags.h"
#include "command/plan/plan.h"

int main(int argc, char** argv) {
  hone::command::PlanOptions options;
  hone::Flags flags("hone-plan", "Writes build.ninja and the settings that its edges read, from the pipeline files.");
  flags.Add("--pipelines", &options.pipelines, "folder of the pipeline files (*.toml, targets/*.toml)").ShowDefault();
  flags.Add("--work", &options.work, "folder to write into").ShowDefault();
  flags.Add("--tools", &options.tools, "folder of the hone-* programs (default: that of hone-plan)");
  std::string why, export_file, job_file;
  std::vector<std::string> targets = {"tune-all"};
  int64_t job = 0;
  hone::Flags::Flag why_flag = flags.Add("--why", &why, "plan, then explain why this target of Ninja is out of date");
  hone::Flags::Flag export_flag =
      flags.Add("--export-jobs", &export_file, "plan, then write the outstanding work to this file, a job a line");
  flags.Add("--target", &targets, "with --export-jobs: targets of Ninja (default: tune-all)").Needs(export_flag);
  hone::Flags::Flag run_flag = flags.Add("--run-job", &job_file, "run one job of such a list, without planning");
  hone::Flags::Flag job_flag = flags.Add("--job", &job, "with --run-job: the job's number, from 1").Needs(run_flag);
  run_flag.Needs(job_flag);
  export_flag.Excludes(why_flag);
  run_flag.Excludes(why_flag).Excludes(export_flag);
  if (const auto code = flags.Parse(argc, argv)) return *code;
  if (!job_file.empty()) return hone::command::RunExportedJob(options, job_file, job);
  if (!why.empty()) return hone::command::RunWhy(options, why);
  if (!export_file.empty()) return hone::command::RunExportJobs(options, targets, export_file);
  return hone::command::RunPlan(options);
}
