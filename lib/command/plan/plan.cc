#include "command/plan/plan.h"

#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/common/tool.h"
#include "command/plan/array_job.h"
#include "command/plan/ninja_view.h"
#include "graph/networks.h"
#include "nightly/accepted.h"
#include "pipeline/manifest.h"
#include "pipeline/plan.h"
#include "search/tuner/tuner.h"

namespace hone::command {
namespace {

namespace fs = std::filesystem;
using pipeline::PlanInput;
using pipeline::PlannedFile;

// The text of an abi file if the tool cannot answer; constant, so that nothing changes meanwhile.
constexpr const char* kUnversioned = "unversioned\n";

// `path` as the manifest in `work` names it: relative if both lie in one tree, so that the tree can be moved; absolute
// if they share only the root. REQUIRES: both are absolute.
std::string FromWork(const std::string& path, const std::string& work) {
  const fs::path a = fs::weakly_canonical(path), b = fs::weakly_canonical(work);
  const fs::path relative = a.lexically_relative(b);
  auto first = [](const fs::path& p) { return p.begin() == p.end() ? p.end() : std::next(p.begin()); };
  const bool one_tree = first(a) != a.end() && first(b) != b.end() && *first(a) == *first(b);
  return one_tree && !relative.empty() ? relative.string() : a.string();
}

struct Abi {
  std::string text;
  std::string warning;  // empty if all is well
};

// The answer of one tool to --abi; if the tool does not exist (yet), the file with an earlier answer.
Result<Abi> AskAbi(const std::string& program, const std::string& file) {
  if (!Exists(program)) {
    const Result<std::string> earlier = ReadFile(file);
    return Abi{earlier.ok() ? *earlier : kUnversioned, program + ": not there; build it, or pass --tools"};
  }
  CommandOptions options{.timeout_seconds = 20};
  HONE_ASSIGN_OR_RETURN(const CommandResult answer, RunCommand({program, "--abi"}, options));
  const std::string text(Trim(answer.out));
  if (answer.status.ok() && !text.empty()) return Abi{text + "\n", ""};
  // A tool without the flag. Other ends, such as no memory, say nothing about its versions.
  if (answer.status.ok() || (answer.status.signal == 0 && answer.status.code == kMisused))
    return Abi{kUnversioned, program + ": does not answer --abi: nothing is made again when it changes"};
  return Status::Io("{} --abi {}: {}", program, answer.status.ToString(), Trim(answer.err));
}

Result<std::map<std::string, std::string>> AskAbis(const std::string& tools, const std::string& work,
                                                   const std::vector<std::string>& names) {
  std::map<std::string, Result<Abi>> answers;
  for (const std::string& tool : names) answers.emplace(tool, Abi());
  {
    std::vector<std::jthread> threads;  // loading a large program takes most of the time
    for (auto& [tool, abi] : answers) {
      threads.emplace_back([&tool = tool, &abi = abi, &tools, &work] {
        abi = AskAbi(JoinPath(tools, tool), JoinPath(work, pipeline::AbiPath(tool)));
      });
    }
  }
  std::map<std::string, std::string> texts;
  for (const auto& [tool, abi] : answers) {
    HONE_RETURN_IF_ERROR(abi.status());
    if (!abi->warning.empty()) LogWarning(abi->warning);
    texts[tool] = abi->text;
  }
  return texts;
}

// Remaking the manifest extracts for all its pipelines: a pipeline whose plugin is not built (yet) must not block the
// others.
Status LeaveOutWithoutPlugin(const std::string& pipelines, const std::string& tools, pipeline::PipelineFolder* folder) {
  std::string missing;
  std::erase_if(folder->pipelines, [&](const pipeline::PipelineFile& file) {
    const std::string plugin = pipeline::PluginPath(file, pipelines, tools);
    if (plugin.empty() || Exists(plugin)) return false;
    missing = fmt::format("{}: no such plugin: {}; build it, then plan again", file.path, plugin);
    LogWarning(missing + " (until then its jobs are left out)");
    return true;
  });
  return folder->pipelines.empty() ? Status::NotFound(missing) : Status();
}

Status ReadTaskLists(const std::string& work, PlanInput* input) {
  for (const pipeline::PipelineFile& file : input->folder.pipelines) {
    for (const std::string& target : file.AllTargets()) {
      const std::string path = JoinPath(work, pipeline::TaskListPath(file.name, target));
      if (!Exists(path)) continue;
      Result<pipeline::TaskList> list = pipeline::ReadTaskList(path);
      if (!list.ok()) {
        return Status(list.status().kind(),
                      list.status().message() + " (remove the file: hone-extract writes it again)");
      }
      const std::string job = pipeline::JobName(file.name, target);
      if (!list->failure.empty()) {
        input->failed.insert(job);
        continue;
      }
      input->lists.emplace(job, std::move(*list));
    }
  }
  return Status::Ok();
}

// Reads the references of regression runs, by job. A job with a damaged log is still measured, and the measuring tool
// reports the damage; parts that need the reference's choice are left out.
Status ReadAccepted(const std::string& work, PlanInput* input) {
  const std::string accepted = JoinPath(work, "accepted");
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, nightly::AcceptedJobs(accepted));
  for (const std::string& job : jobs) {
    pipeline::AcceptedJob& known = input->accepted[job];
    const auto log = nightly::ReadAcceptances(accepted, job);
    if (!log.ok()) {
      LogWarning(log.status().message());
      continue;
    }
    known.digest = log->back().digest;
    known.choice = log->back().files.count(nightly::kChoiceFile) > 0;
  }
  return Status::Ok();
}

// hone-tune reads the model from the work folder.
void PlaceModel(const std::string& pipelines, pipeline::PipelineFile* file) {
  std::string& path = file->tune.model.file;
  if (!path.empty()) path = JoinPath(pipelines, path);
}

// All files that were read besides the task lists, as the manifest names them. A folder's time changes when a file in
// it appears or disappears.
std::vector<std::string> WhatWasRead(const PlanInput& input, const std::string& pipelines, const std::string& tools) {
  std::vector<std::string> read;
  for (const std::string& path : input.folder.read) {
    // Ninja refuses two aliases of a file, however they are written. A sketch may have any path.
    const std::string from_work = StartsWith(path, pipelines) ? input.pipelines + path.substr(pipelines.size()) : path;
    read.push_back(std::filesystem::path(from_work).lexically_normal());
  }
  read.push_back("accepted");  // and the last line of each log
  for (const auto& [job, accepted] : input.accepted) read.push_back(nightly::AcceptedLogPath("accepted", job));
  bool all = true;
  for (const std::string& tool : pipeline::ToolsFor(input.folder)) {
    const bool there = Exists(JoinPath(tools, tool));
    if (there) read.push_back(JoinPath(input.tools, tool));
    all = all && there;
  }
  if (!all) read.push_back(input.tools);  // to notice the missing tool when it appears
  read.push_back(JoinPath(input.tools, "hone-plan"));
  std::set<std::string> seen;
  std::erase_if(read, [&](const std::string& path) { return !seen.insert(path).second; });
  return read;
}

Status WriteAll(const std::string& work, const std::vector<PlannedFile>& files) {
  std::set<std::string> folders;
  for (const PlannedFile& file : files) {
    const std::string path = JoinPath(work, file.path);
    if (folders.insert(DirName(path)).second) HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(path, file.text).status());
  }
  return Status::Ok();
}

// Warns of networks that cannot be extracted; their own targets say why. A failure is out of date if an input of the
// extract edge changed since: Ninja then tries again, so there is nothing to say yet.
void WarnOfFailures(const std::string& work, const std::string& pipelines, const PlanInput& input,
                    const std::vector<pipeline::NinjaBuild>& builds) {
  std::set<std::string> outdated;  // task lists
  for (const pipeline::NinjaBuild& build : builds) {
    if (build.rule != "extract") continue;
    const double noted = ModifiedSeconds(JoinPath(work, build.outputs[0]));
    for (const auto* inputs : {&build.inputs, &build.implicit_inputs}) {
      for (const std::string& path : *inputs) {
        if (ModifiedSeconds(JoinPath(work, path)) > noted) outdated.insert(build.outputs[0]);
      }
    }
  }
  for (const pipeline::PipelineFile& file : input.folder.pipelines) {
    if (const Status files = pipeline::CheckNetworkFiles(file, pipelines); !files.ok()) {
      LogWarning(files.message() + " (until it is there, only this pipeline's own targets fail)");
      continue;
    }
    for (const std::string& target : file.AllTargets()) {
      const std::string job = pipeline::JobName(file.name, target);
      if (input.failed.count(job) == 0 || outdated.count(pipeline::TaskListPath(file.name, target)) > 0) continue;
      LogWarning("{} cannot be extracted, and only its own targets fail: see `hone-plan --why tune-{}-{}`", job,
                 file.name, target);
    }
  }
}

// Plans, and returns the statements of the manifest.
Result<std::vector<pipeline::NinjaBuild>> Run(const PlanOptions& options) {
  std::string pipelines = options.pipelines;  // as the caller named it, for messages
  while (pipelines.size() > 1 && pipelines.back() == '/') pipelines.pop_back();
  const std::string work = AbsolutePath(options.work);
  std::string tools = options.tools;
  if (tools.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string self, CurrentExecutable());
    tools = DirName(self);
  }
  tools = AbsolutePath(tools);
  for (const std::string& path : {AbsolutePath(pipelines), work, tools}) {
    if (path.find_first_of("\n\r") != std::string::npos) {
      return Status::Unsupported("a path with a line break in it cannot stand in a Ninja manifest");
    }
  }
  PlanInput input;
  HONE_ASSIGN_OR_RETURN(input.folder, pipeline::ReadPipelineFolder(pipelines));
  HONE_RETURN_IF_ERROR(LeaveOutWithoutPlugin(pipelines, tools, &input.folder));
  HONE_RETURN_IF_ERROR(ReadTaskLists(work, &input));
  HONE_RETURN_IF_ERROR(ReadAccepted(work, &input));
  input.check_tuner = search::CheckTunerName;
  input.check_network = graph::CheckNetworkName;
  HONE_RETURN_IF_ERROR(pipeline::CheckPipelines(input));
  input.tools = FromWork(tools, work);
  input.pipelines = FromWork(AbsolutePath(pipelines), work);
  HONE_ASSIGN_OR_RETURN(input.abi, AskAbis(tools, work, pipeline::ToolsFor(input.folder)));
  for (pipeline::PipelineFile& file : input.folder.pipelines) {
    PlaceModel(input.pipelines, &file);
    for (pipeline::PipelineFile& on : file.on) PlaceModel(input.pipelines, &on);
  }
  input.reads = WhatWasRead(input, pipelines, tools);
  HONE_ASSIGN_OR_RETURN(pipeline::Plan plan, pipeline::MakePlan(input));
  std::vector<PlannedFile> files = std::move(plan.files);
  files.push_back({"build.ninja", std::move(plan.manifest)});
  HONE_RETURN_IF_ERROR(MakeDirs(JoinPath(work, "accepted")));  // to notice the first one when it appears
  HONE_RETURN_IF_ERROR(WriteAll(work, files));
  WarnOfFailures(work, pipelines, input, plan.builds);
  return std::move(plan.builds);
}

// Like Ninja, updates the manifest first: otherwise later changes are unknown.
Result<NinjaView> PlanAndLook(const PlanOptions& options, const std::vector<std::string>& targets) {
  HONE_ASSIGN_OR_RETURN(std::vector<pipeline::NinjaBuild> builds, Run(options));
  return LookAtWork(options.work, targets, std::move(builds));
}

Status ExportJobs(const PlanOptions& options, const std::vector<std::string>& targets, const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, PlanAndLook(options, targets));
  HONE_ASSIGN_OR_RETURN(const std::vector<ArrayJob> jobs, FindArrayJobs(options.work, view));
  HONE_RETURN_IF_ERROR(WriteFileIfChanged(file, ArrayJobsText(jobs)).status());
  if (jobs.empty()) LogInfo(Join(targets, ", ") + (targets.size() == 1 ? " is" : " are") + " up to date: no jobs");
  return WriteOut(StagesText(jobs));
}

Status RunJob(const PlanOptions& options, const std::string& file, int64_t number) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  HONE_ASSIGN_OR_RETURN(const ArrayJob job, ParseArrayJob(text, number, file));
  LogInfo(job.what);
  return RunArrayJob(options.work, job);
}

}  // namespace

int RunPlan(const PlanOptions& options) { return ExitCodeOf(Run(options).status()); }

int RunWhy(const PlanOptions& options, const std::string& target) {
  const Result<NinjaView> view = PlanAndLook(options, {target});
  return ExitCodeOf(view.ok() ? WriteOut(WhyText(options.work, target, *view)) : view.status());
}

int RunExportJobs(const PlanOptions& options, const std::vector<std::string>& targets, const std::string& file) {
  return ExitCodeOf(ExportJobs(options, targets, file));
}

int RunExportedJob(const PlanOptions& options, const std::string& file, int64_t number) {
  return ExitCodeOf(RunJob(options, file, number));
}

}  // namespace hone::command
