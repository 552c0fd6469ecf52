// The plan: which files are made from which, for all pipelines at once, as the text of work/build.ninja and the small
// files that its edges read. A pure function of the pipelines, the task lists known so far, and the tools' answers to
// --abi. doc/internals/manifest.md has the rules and their reasons.
//
// Two stages. Before hone-extract has run there are no task lists: the manifest then holds the extract edges, and the
// edge that makes the manifest itself, whose inputs are those lists. Ninja brings its manifest up to date before
// anything else, so it extracts, plans again, reloads, and goes on with the tune edges in one invocation.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/manifest.h"
#include "pipeline/pipeline_file.h"
#include "pipeline/task_list.h"

namespace hone::pipeline {

// The tools that edges run, in the order of the pipeline.
inline constexpr const char* kTools[] = {"hone-extract", "hone-allocate", "hone-tune",  "hone-pick-best",
                                         "hone-confirm", "hone-build",    "hone-bench", "hone-report"};

struct PlanInput {
  PipelineFolder folder;
  std::map<std::string, TaskList> lists;        // by JobName; a list that is not there yet is missing
  std::set<std::string> failed = {};            // JobNames of failed extractions; they have no list
  std::map<std::string, AcceptedJob> accepted;  // by JobName; nights compare with them
  std::map<std::string, std::string> abi;       // by tool: the text of its abi file
  std::string tools;      // folder of the tools as the manifest names it: absolute or relative to the work folder
  std::string pipelines;  // folder of the pipelines, likewise
  // Files and folders that planning read besides the task lists, likewise, each once: the manifest is made again when
  // one changes, comes or goes.
  std::vector<std::string> reads = {};
  // Checks the name of a tuner; empty: any name will do. Only hone-tune knows the tuners.
  std::function<Status(const std::string& name)> check_tuner = {};
  // Likewise of a built-in network, which are hone-extract's.
  std::function<Status(const std::string& name)> check_network = {};
};

struct PlannedFile {
  std::string path;  // relative to the work folder
  std::string text;
};

struct Plan {
  std::string manifest;            // of build.ninja
  std::vector<NinjaBuild> builds;  // its statements (manifest.h)
  std::vector<PlannedFile> files;  // settings/, targets/ and abi/, to be written before the manifest, if changed
};

// "resnet18.cpu": a network on a target, as file names have it.
std::string JobName(const std::string& pipeline, const std::string& target);
// "tasks/resnet18.cpu.tasks.json", relative to the work folder.
std::string TaskListPath(const std::string& pipeline, const std::string& target);

// kInvalid, at the line of the pipeline, for a network or tuner that does not exist, a `trials_total` below the number
// of tasks, or a donor that is not a task (the last two once the tasks are known).
Status CheckPipelines(const PlanInput& input);

// kInvalid if two jobs would make the same file or alias ("a-b" on "c", "a" on "b-c"), naming it.
Result<Plan> MakePlan(const PlanInput& input);

}  // namespace hone::pipeline
