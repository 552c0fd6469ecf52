// hone-plan: writes the Ninja manifest of all pipelines; explains what is out of date.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/flags.h"
#include "base/log.h"
#include "command/plan/plan.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-plan");
  hone::command::PlanOptions options;
  CLI::App app("Writes build.ninja and the settings that its edges read, from the pipeline files.", "hone-plan");
  app.add_option("--pipelines", options.pipelines, "folder of the pipeline files (*.toml, targets/*.toml)")
      ->capture_default_str();
  app.add_option("--work", options.work, "folder to write into")->capture_default_str();
  app.add_option("--tools", options.tools, "folder of the hone-* programs (default: that of hone-plan)");
  std::string why, export_file, job_file;
  std::vector<std::string> targets = {"tune-all"};
  int64_t job = 0;
  CLI::Option* why_flag = app.add_option("--why", why, "plan, then explain why this target of Ninja is out of date");
  CLI::Option* export_flag = app.add_option("--export-jobs", export_file,
                                            "plan, then write the outstanding work to this file, a job a line");
  app.add_option("--target", targets, "with --export-jobs: targets of Ninja (default: tune-all)")
      ->needs(export_flag);
  CLI::Option* run_flag = app.add_option("--run-job", job_file, "run one job of such a list, without planning");
  CLI::Option* job_flag = app.add_option("--job", job, "with --run-job: the job's number, from 1")->needs(run_flag);
  run_flag->needs(job_flag);
  export_flag->excludes(why_flag);
  run_flag->excludes(why_flag)->excludes(export_flag);
  if (const auto code = hone::ParseFlags(&app, argc, argv)) return *code;
  if (!job_file.empty()) return hone::command::RunExportedJob(options, job_file, job);
  if (!why.empty()) return hone::command::RunWhy(options, why);
  if (!export_file.empty()) return hone::command::RunExportJobs(options, targets, export_file);
  return hone::command::RunPlan(options);
}
