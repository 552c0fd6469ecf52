#include "pipeline/plan.h"

#include <algorithm>
#include <tuple>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/donors.h"
#include "pipeline/shares.h"
#include "pipeline/stamp_files.h"

namespace hone::pipeline {
namespace {

std::string ExtractSettingsText(const PipelineFile& pipeline, const std::string& network, const std::string& parameters,
                                const std::string& plugin) {
  Json json = {{"version", 1}, {"network", network}, {"batch", pipeline.batch}};
  if (!pipeline.layout.empty()) json["layout"] = pipeline.layout;
  if (!parameters.empty()) json["parameters"] = parameters;
  if (!plugin.empty()) json["plugin"] = plugin;
  if (!pipeline.alternatives) json["alternatives"] = false;
  for (const std::string& target : pipeline.AllTargets()) {
    for (const SketchFile& sketch : pipeline.For(target).tune.sketches)
      json["sketches"][target][sketch.file] = sketch.text;
  }
  for (const auto& [name, shape] : pipeline.inputs) json["inputs"][name] = shape;
  if (pipeline.quantise) {  // what the graph depends on
    const quantise::Settings& settings = pipeline.quantise->settings;
    json["quantise"] = {{"scheme", quantise::SchemeName(settings.scheme)},
                        {"bias_correction", settings.bias_correction},
                        {"keep", settings.keep}};
  }
  return DumpJson(json);
}

// The tasks of all jobs, once for each target and numerics, with all networks that have it. The largest budget is used,
// which covers the smaller ones. Records the stamps of each job.
std::vector<TuneJob> CollectTasks(std::vector<NetworkJob>* jobs) {
  std::map<std::tuple<std::string, std::string, std::string>, TuneJob>
      tasks;  // by target, id, stamp: the order of edges
  for (NetworkJob& job : *jobs) {
    if (job.tasks == nullptr || job.pipeline->InRounds()) continue;
    for (const TaskEntry& entry : job.tasks->tasks) {
      job.stamps.push_back(StampPath(entry.id, job.target->name, job.pipeline->tune));
      TuneJob& task = tasks[{job.target->name, entry.id, job.stamps.back()}];
      if (task.users.empty()) {
        task.entry = &entry;
        task.target = job.target;
        task.stamp = job.stamps.back();
        task.db = RecordsPath(job.target->name, entry.id);
      }
      task.users.push_back({job.pipeline, entry.weight});
      task.optional = task.optional && entry.optional;
      if (task.budget == nullptr || LargerBudget(job.pipeline->tune, task.budget->tune)) task.budget = job.pipeline;
      task.settings = SettingsPath(task.budget->SettingsName(), "tune");
    }
  }
  std::vector<TuneJob> result;
  result.reserve(tasks.size());
  for (auto& [key, task] : tasks) result.push_back(std::move(task));
  return result;
}

// The tasks of jobs with one total, each once, with the networks that have it.
std::vector<TuneJob> TasksOf(const std::vector<NetworkJob*>& jobs) {
  std::vector<TuneJob> tasks;
  std::map<std::string_view, size_t> places;
  for (const NetworkJob* job : jobs) {
    for (const TaskEntry& entry : job->tasks->tasks) {
      const auto [place, added] = places.emplace(entry.id, tasks.size());
      if (added) {
        tasks.push_back(
            {.entry = &entry,
             .target = job->target,
             .budget = jobs[0]->pipeline,
             .db = RecordsPath(job->target->name, entry.id),
             .own_settings = true,
             .optional = true});  // without a correct candidate its default stands, and others get its budget
      }
      tasks[place->second].users.push_back({job->pipeline, entry.weight});
    }
  }
  return tasks;
}

// The rounds of the jobs with one total, which is the first one's. The stamps of the last round are the jobs'.
std::vector<Round> MakeRounds(const std::vector<NetworkJob*>& jobs) {
  std::vector<Round> rounds;
  const std::string name = jobs[0]->Name();
  const std::vector<TuneJob> tasks = TasksOf(jobs);
  std::vector<std::string> before;
  const int64_t last = jobs[0]->pipeline->tune.rounds;
  for (int r = 1; r <= last; ++r) {
    const std::string stamps = "stamps/" + RoundName(name, r);
    Round round{.jobs = {jobs.begin(), jobs.end()},
                .round = r,
                .dir = "settings/" + RoundName(name, r),
                .before = std::move(before),
                .before_dir = "stamps/" + RoundName(name, r - 1),
                .tasks = tasks};
    before.clear();
    for (TuneJob& task : round.tasks) {
      task.settings = round.dir + "/" + task.entry->id + ".tune.json";
      task.stamp = RoundStampPath(stamps, task.entry->id);
      round.settings.push_back(task.settings);
      before.push_back(task.stamp);
    }
    rounds.push_back(std::move(round));
  }
  const std::string folder = "stamps/" + RoundName(name, static_cast<int>(last));
  for (NetworkJob* job : jobs) {
    for (const TaskEntry& entry : job->tasks->tasks) job->stamps.push_back(RoundStampPath(folder, entry.id));
  }
  return rounds;
}

// A total can only be shared once the tasks of its own pipeline are known. Until then, a job that takes from it counts
// as not extracted; if that pipeline cannot be extracted, the job fails with it.
void FailWithoutTotal(const std::set<std::string>& failed, std::vector<NetworkJob>* jobs) {
  for (NetworkJob& job : *jobs) {
    if (job.pipeline->total_of.empty()) continue;
    const auto leads = [&](const NetworkJob& other) {
      return other.pipeline->name == job.pipeline->total_of && other.target == job.target && other.tasks != nullptr;
    };
    if (std::ranges::any_of(*jobs, leads)) continue;
    job.tasks = nullptr;
    if (job.failed || failed.count(JobName(job.pipeline->total_of, job.target->name)) == 0) continue;
    job.failed = true;
    job.reason = TaskListPath(job.pipeline->total_of, job.target->name);
  }
}

// The job with a total, and those that have named it: all that are extracted.
std::vector<NetworkJob*> WithTotalOf(NetworkJob* job, std::vector<NetworkJob>* jobs) {
  std::vector<NetworkJob*> all = {job};
  for (NetworkJob& other : *jobs) {
    const bool named = other.pipeline->total_of == job->pipeline->name && other.target == job->target;
    if (named && other.tasks != nullptr) all.push_back(&other);
  }
  return all;
}

// Assigns donors among `tasks`, which are of one target and sorted by id.
void AssignDonors(const std::vector<TuneJob*>& tasks) {
  std::vector<DonorTask> known;
  for (const TuneJob* task : tasks) known.push_back({task->entry->id, task->entry->workload, task->budget->transfer});
  const std::vector<std::vector<size_t>> donors = ChooseDonors(known);
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (const size_t j : donors[i]) {
      tasks[i]->donors.push_back({tasks[j]->entry->id, tasks[j]->stamp, tasks[j]->db});
    }
  }
}

// Ordinary tasks learn from ordinary ones under the same numerics, and those of a round from others of the same round,
// since a round waits for the whole previous one anyway.
void AssignDonors(ManifestInput* manifest) {
  std::map<std::tuple<std::string, int64_t, bool>, std::vector<TuneJob*>> plain;
  for (TuneJob& task : manifest->tasks) {
    const TuneSettings& tune = task.budget->tune;
    plain[{task.target->name, tune.winograd, tune.tf32}].push_back(&task);
  }
  for (auto& [key, tasks] : plain) AssignDonors(tasks);
  for (Round& round : manifest->rounds) {
    std::vector<TuneJob*> tasks;
    for (TuneJob& task : round.tasks) tasks.push_back(&task);
    std::sort(tasks.begin(), tasks.end(), [](auto* a, auto* b) { return a->entry->id < b->entry->id; });
    AssignDonors(tasks);
  }
}

// Marks records that several unordered edges write into. The rounds of one job are ordered.
void MarkShared(ManifestInput* manifest) {
  std::map<std::string_view, int> writers;
  for (const TuneJob& task : manifest->tasks) ++writers[task.db];
  for (const Round& round : manifest->rounds) {
    for (const TuneJob& task : round.tasks) writers[task.db] += round.round == 1;
  }
  for (TuneJob& task : manifest->tasks) task.shared = writers[task.db] > 1;
  for (Round& round : manifest->rounds) {
    for (TuneJob& task : round.tasks) task.shared = writers[task.db] > 1;
  }
}

// One edge makes each task file: that of the first job, in the order of the manifest, that needs it.
void AssignTaskFiles(std::vector<NetworkJob>* jobs) {
  std::set<std::string_view> seen;
  for (NetworkJob& job : *jobs) {
    if (job.tasks == nullptr) continue;
    for (const TaskEntry& entry : job.tasks->tasks) {
      if (seen.insert(entry.id).second) job.task_files.push_back(TaskPath(entry.id));
    }
  }
}

void AddSettings(const PipelineFile& pipeline, std::vector<PlannedFile>* files) {
  files->push_back({SettingsPath(pipeline.SettingsName(), "tune"), TuneSettingsText(pipeline.tune)});
  files->push_back({SettingsPath(pipeline.SettingsName(), "bench"), BenchSettingsText(pipeline.bench)});
}

Status CheckNumerics(const PipelineFile& pipeline, const PipelineFile& on, const TargetFile& target) {
  if (!on.tune.tf32 || target.tf32) return Status::Ok();
  const bool own = !on.on_target.empty() && !pipeline.tune.tf32;
  return ErrorAt(pipeline, own ? "numerics." + on.on_target + ".tf32" : "numerics.tf32",
                 fmt::format("`tf32`: the target `{}` has no TF32 (CUDA from sm_80 on has); set `tf32` in "
                             "[numerics.TARGET] of targets that do",
                             target.name));
}

// [weights]: `ids` are those of the pipeline's tasks.
Status CheckWeights(const PipelineFile& pipeline, const std::vector<std::string>& ids) {
  std::vector<std::string> known = ids;
  for (const std::string& id : ids) known.push_back(OperatorOf(id));
  for (const auto& [name, weight] : pipeline.tune.weights) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = Suggest(name, known);
    return ErrorAt(
        pipeline, "weights." + name,
        fmt::format("[weights]: {} has no task and no operator `{}`{}; tasks/*.tasks.json in the work folder "
                    "list them",
                    pipeline.name, name, near ? fmt::format("; did you mean `{}`?", *near) : ""));
  }
  return Status::Ok();
}

Status CheckTransfer(const PipelineFile& pipeline, const PipelineFile& on, const std::vector<std::string>& known) {
  for (const std::string& id : on.transfer.ids) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    const auto near = Suggest(id, known);
    return ErrorAt(pipeline, on.transfer == pipeline.transfer ? "tune.transfer" : TuneKey(on, "transfer"),
                   fmt::format("`transfer`: no task `{}`{}; tasks/*.tasks.json in the work folder list them", id,
                               near ? fmt::format("; did you mean `{}`?", *near) : ""));
  }
  return Status::Ok();
}

// [tune] total_of: a pipeline with a total of its own on that target, whose tasks compute with the same numerics.
Status CheckTotalOf(const PipelineFile& on, const std::string& target, const PipelineFolder& folder) {
  std::vector<std::string> names;
  const PipelineFile* leader = nullptr;
  for (const PipelineFile& other : folder.pipelines) {
    const std::vector<std::string> targets = other.AllTargets();
    if (std::ranges::find(targets, target) == targets.end() || !other.For(target).tune.HasTotal()) continue;
    names.push_back(other.name);
    if (other.name == on.total_of) leader = &other.For(target);
  }
  const auto error = [&](const std::string& what) {
    return ErrorAt(on, TuneKey(on, "total_of"), "`total_of`: " + what);
  };
  if (leader == nullptr) {
    return error(fmt::format("no pipeline `{}` has a total on the target `{}`{}", on.total_of, target,
                             SuggestionText(on.total_of, names)));
  }
  if (leader->tune.winograd == on.tune.winograd && leader->tune.tf32 == on.tune.tf32) return Status::Ok();
  return error(fmt::format("{} has another [numerics] on `{}`; a trial counts for both only if they are equal",
                           on.total_of, target));
}

// The ids of all tasks that the total of a pipeline pays for, as far as they are extracted.
std::set<std::string> TasksWithTotalOf(const std::string& name, const std::string& target, const PlanInput& input) {
  std::set<std::string> ids;
  for (const PipelineFile& pipeline : input.folder.pipelines) {
    if (pipeline.name != name && pipeline.For(target).total_of != name) continue;
    const auto list = input.lists.find(JobName(pipeline.name, target));
    if (list == input.lists.end()) continue;
    for (const TaskEntry& task : list->second.tasks) ids.insert(task.id);
  }
  return ids;
}

}  // namespace

std::string JobName(const std::string& pipeline, const std::string& target) { return pipeline + "." + target; }

std::string TaskListPath(const std::string& pipeline, const std::string& target) {
  return "tasks/" + JobName(pipeline, target) + ".tasks.json";
}

std::vector<std::string> ToolsFor(const PipelineFolder& folder) {
  std::vector<std::string> tools(std::begin(kTools), std::end(kTools));
  const auto quantises = [](const PipelineFile& pipeline) { return pipeline.quantise.has_value(); };
  if (std::ranges::any_of(folder.pipelines, quantises)) tools.emplace_back(kQuantiseTool);
  return tools;
}

Status CheckPipelines(const PlanInput& input) {
  for (const PipelineFile& pipeline : input.folder.pipelines) {
    if (input.check_network && IsNetworkName(pipeline.network)) {
      const Status network = input.check_network(pipeline.network);
      if (!network.ok()) return ErrorAt(pipeline, "network", "`network`: " + network.message());
    }
    bool all = true;  // whether all of its task lists exist
    std::vector<std::string> known;
    for (const std::string& target : pipeline.AllTargets()) {
      const PipelineFile& on = pipeline.For(target);
      if (input.check_tuner) {
        const Status tuner = input.check_tuner(on.tune.tuner);
        if (!tuner.ok()) return ErrorAt(pipeline, TuneKey(on, "tuner"), tuner.message());
      }
      for (const TargetFile& file : input.folder.targets) {
        if (file.name != target) continue;
        HONE_RETURN_IF_ERROR(CheckNumerics(pipeline, on, file));
        if (!pipeline.quantise || !file.device) continue;
        return ErrorAt(
            pipeline, pipeline.OnRequest(target) ? "on_request" : "targets",
            fmt::format("[quantise]: `{}` is no CPU, and integers run on CPUs only; remove that target", target));
      }
      if (!on.total_of.empty()) HONE_RETURN_IF_ERROR(CheckTotalOf(on, target, input.folder));
      const auto list = input.lists.find(JobName(pipeline.name, target));
      all = all && list != input.lists.end();
      if (list == input.lists.end()) continue;
      const std::vector<TaskEntry>& tasks = list->second.tasks;
      for (const TaskEntry& task : tasks) known.push_back(task.id);
      if (!on.tune.HasTotal()) continue;
      const std::string problem = BudgetProblem(on.tune, TasksWithTotalOf(pipeline.name, target, input).size());
      if (problem.empty()) continue;
      const size_t end = problem.find(' ');
      return ErrorAt(
          pipeline, TuneKey(on, problem.substr(0, end)),
          fmt::format("`{}`{} ({} on {})", problem.substr(0, end), problem.substr(end), pipeline.name, target));
    }
    if (!all) continue;
    HONE_RETURN_IF_ERROR(CheckWeights(pipeline, known));
    // Includes tasks of other pipelines: their records are just as good.
    for (const auto& [job, list] : input.lists) {
      for (const TaskEntry& task : list.tasks) known.push_back(task.id);
    }
    HONE_RETURN_IF_ERROR(CheckTransfer(pipeline, pipeline, known));
    for (const PipelineFile& on : pipeline.on) HONE_RETURN_IF_ERROR(CheckTransfer(pipeline, on, known));
  }
  return Status::Ok();
}

Result<Plan> MakePlan(const PlanInput& input) {
  Plan plan;
  ManifestInput manifest{
      .accepted = input.accepted, .tools = input.tools, .pipelines = input.pipelines, .reads = input.reads};
  std::map<std::string, const TargetFile*> targets;
  for (const TargetFile& target : input.folder.targets) {
    targets[target.name] = &target;
    manifest.targets.push_back(&target);
    plan.files.push_back({TargetPath(target.name), target.json});
  }
  for (const std::string& tool : ToolsFor(input.folder)) {
    const auto abi = input.abi.find(tool);
    plan.files.push_back({AbiPath(tool), abi == input.abi.end() ? "" : abi->second});
  }
  const std::string extract_abi = plan.files[targets.size()].text;  // kTools starts with it
  for (const PipelineFile& pipeline : input.folder.pipelines) {
    const bool is_file = IsNetworkFile(pipeline.network);
    const std::string network = is_file ? JoinPath(input.pipelines, pipeline.network) : pipeline.network;
    // An ONNX model contains the values of its parameters.
    const bool is_onnx = is_file && IsOnnxFile(pipeline.network);
    const std::string parameters = !pipeline.parameters.empty() ? JoinPath(input.pipelines, pipeline.parameters)
                                   : is_onnx                    ? network
                                                                : "";
    const std::string plugin = PluginPath(pipeline, input.pipelines, input.tools);
    const std::string extract = ExtractSettingsText(pipeline, network, parameters, plugin);
    plan.files.push_back({SettingsPath(pipeline.name, "extract"), extract});
    if (pipeline.quantise) {
      plan.files.push_back(
          {SettingsPath(pipeline.name, "quantise"), quantise::SettingsText(pipeline.quantise->settings)});
    }
    AddSettings(pipeline, &plan.files);
    for (const PipelineFile& on : pipeline.on) {
      if (!on.shares_settings) AddSettings(on, &plan.files);
    }
    for (const std::string& name : pipeline.AllTargets()) {
      const auto list = input.lists.find(JobName(pipeline.name, name));
      NetworkJob job{.pipeline = &pipeline.For(name),
                     .target = targets.at(name),
                     .on_request = pipeline.OnRequest(name),
                     .network = network,
                     .network_is_file = is_file,
                     .parameters = parameters,
                     .plugin = plugin,
                     .tasks = list == input.lists.end() ? nullptr : &list->second,
                     .failed = input.failed.count(JobName(pipeline.name, name)) > 0};
      if (job.tasks != nullptr && is_file) {
        for (const std::string& file : job.tasks->reads) job.reads.push_back(JoinPath(DirName(network), file));
      }
      for (const std::string& file : pipeline.calibration) job.calibration.push_back(JoinPath(input.pipelines, file));
      for (const std::string& file : job.pipeline->sketches) job.sketches.push_back(JoinPath(input.pipelines, file));
      job.extract_inputs = extract + job.target->json + extract_abi;
      manifest.jobs.push_back(std::move(job));
    }
  }
  AssignTaskFiles(&manifest.jobs);
  manifest.tasks = CollectTasks(&manifest.jobs);
  FailWithoutTotal(input.failed, &manifest.jobs);
  for (NetworkJob& job : manifest.jobs) {
    if (job.tasks == nullptr || !job.pipeline->tune.HasTotal()) continue;
    for (Round& round : MakeRounds(WithTotalOf(&job, &manifest.jobs))) manifest.rounds.push_back(std::move(round));
  }
  AssignDonors(&manifest);
  MarkShared(&manifest);
  HONE_ASSIGN_OR_RETURN(Manifest made, MakeManifest(manifest));
  plan.manifest = std::move(made.text);
  plan.builds = std::move(made.builds);
  return plan;
}

}  // namespace hone::pipeline
