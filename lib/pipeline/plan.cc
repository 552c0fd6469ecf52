#include "pipeline/plan.h"

#include <set>

#include "base/file.h"
#include "base/json.h"
#include "pipeline/manifest.h"

namespace hone::pipeline {
namespace {

std::string ExtractSettingsText(const PipelineFile& pipeline, const std::string& network,
                                const std::string& parameters) {
  Json json = {{"version", 1}, {"network", network}, {"batch", pipeline.batch}};
  if (!parameters.empty()) json["parameters"] = parameters;
  return DumpJson(json);
}

// The tasks of all jobs, each once a target, with everyone who asked. The largest budget is the one that is spent: a
// smaller one is met by it.
std::vector<TuneJob> CollectTasks(const std::vector<NetworkJob>& jobs) {
  std::map<std::pair<std::string, std::string>, TuneJob> tasks;  // by target, then id: the order in the manifest
  for (const NetworkJob& job : jobs) {
    if (job.tasks == nullptr) continue;
    for (const TaskEntry& entry : job.tasks->tasks) {
      TuneJob& task = tasks[{job.target->name, entry.id}];
      if (task.users.empty()) {
        task.entry = &entry;
        task.target = job.target;
      }
      task.users.push_back({job.pipeline, entry.weight});
      if (task.budget == nullptr || LargerBudget(job.pipeline->tune, task.budget->tune)) task.budget = job.pipeline;
    }
  }
  std::vector<TuneJob> result;
  result.reserve(tasks.size());
  for (auto& [key, task] : tasks) result.push_back(std::move(task));
  return result;
}

// Each task file has one edge that makes it: the first job, in the order of the manifest, that asks for it.
void AssignTaskFiles(std::vector<NetworkJob>* jobs) {
  std::set<std::string_view> seen;
  for (NetworkJob& job : *jobs) {
    if (job.tasks == nullptr) continue;
    for (const TaskEntry& entry : job.tasks->tasks) {
      if (seen.insert(entry.id).second) job.task_files.push_back(TaskPath(entry.id));
    }
  }
}

}  // namespace

std::string JobName(const std::string& pipeline, const std::string& target) { return pipeline + "." + target; }

std::string TaskListPath(const std::string& pipeline, const std::string& target) {
  return "tasks/" + JobName(pipeline, target) + ".tasks.json";
}

Result<Plan> MakePlan(const PlanInput& input) {
  Plan plan;
  ManifestInput manifest;
  manifest.tools = input.tools;
  manifest.pipelines = input.pipelines;
  std::map<std::string, const TargetFile*> targets;
  for (const TargetFile& target : input.folder.targets) {
    targets[target.name] = &target;
    manifest.targets.push_back(&target);
    plan.files.push_back({TargetPath(target.name), target.json});
  }
  for (const char* tool : kTools) {
    const auto abi = input.abi.find(tool);
    plan.files.push_back({AbiPath(tool), abi == input.abi.end() ? "" : abi->second});
  }
  const std::string extract_abi = plan.files[targets.size()].text;  // kTools starts with it
  for (const PipelineFile& pipeline : input.folder.pipelines) {
    const bool is_file = IsNetworkFile(pipeline.network);
    const std::string network = is_file ? JoinPath(input.pipelines, pipeline.network) : pipeline.network;
    const std::string parameters = pipeline.parameters.empty() ? "" : JoinPath(input.pipelines, pipeline.parameters);
    const std::string extract = ExtractSettingsText(pipeline, network, parameters);
    plan.files.push_back({SettingsPath(pipeline.name, "extract"), extract});
    plan.files.push_back({SettingsPath(pipeline.name, "tune"), TuneSettingsText(pipeline.tune)});
    plan.files.push_back({SettingsPath(pipeline.name, "bench"), BenchSettingsText(pipeline.bench)});
    for (const std::string& name : pipeline.targets) {
      const auto list = input.lists.find(JobName(pipeline.name, name));
      NetworkJob job;
      job.pipeline = &pipeline;
      job.target = targets.at(name);
      job.network = network;
      job.network_is_file = is_file;
      job.parameters = parameters;
      job.tasks = list == input.lists.end() ? nullptr : &list->second;
      job.extract_inputs = extract + job.target->json + extract_abi;
      manifest.jobs.push_back(std::move(job));
    }
  }
  AssignTaskFiles(&manifest.jobs);
  manifest.tasks = CollectTasks(manifest.jobs);
  HONE_ASSIGN_OR_RETURN(plan.manifest, ManifestText(manifest));
  return plan;
}

}  // namespace hone::pipeline
