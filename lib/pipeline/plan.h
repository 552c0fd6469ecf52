// The plan: which files are made from which, for all pipelines at once, as the text of work/build.ninja and the small
// files that its edges read. A pure function of the pipelines, the current task lists, and the tools' answers to --abi.
// doc/internals/manifest.md explains the rules.
//
// It has two stages. Before hone-extract has run there are no task lists: the manifest then contains the extract edges,
// and the edge that makes the manifest itself, whose inputs are those lists. Ninja updates its manifest before anything
// else, so it extracts, plans again, reloads, and continues with the tune edges in one invocation.
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

// Run by the edges of pipelines with [quantise] only.
inline constexpr const char* kQuantiseTool = "hone-quantise";
// Those that the edges of these pipelines run.
std::vector<std::string> ToolsFor(const PipelineFolder& folder);

struct PlanInput {
  PipelineFolder folder;
  std::map<std::string, TaskList> lists;        // by JobName; without lists that do not exist yet
  std::set<std::string> failed = {};            // JobNames of failed extractions, which have no list
  std::map<std::string, AcceptedJob> accepted;  // by JobName; nightly runs compare with them
  std::map<std::string, std::string> abi;       // by tool: the text of its abi file
  std::string tools;      // folder of the tools, as in the manifest: absolute or relative to the work folder
  std::string pipelines;  // folder of the pipelines, likewise
  // Files and folders that planning read in addition to the task lists, in the same form, each once: the manifest is
  // remade when one of them changes, appears or disappears.
  std::vector<std::string> reads = {};
  // Checks the name of a tuner; empty: accepts any name. Only hone-tune knows the tuners.
  std::function<Status(const std::string& name)> check_tuner = {};
  // The same for a built-in network, which only hone-extract knows.
  std::function<Status(const std::string& name)> check_network = {};
};

struct PlannedFile {
  std::string path;  // relative to the work folder
  std::string text;
};

struct Plan {
  std::string manifest;            // the text of build.ninja
  std::vector<NinjaBuild> builds;  // its statements (manifest.h)
  std::vector<PlannedFile> files;  // settings/, targets/ and abi/, to be written before the manifest if changed
};

// "resnet18.cpu": a network on a target, as in file names.
std::string JobName(const std::string& pipeline, const std::string& target);
// "tasks/resnet18.cpu.tasks.json", relative to the work folder.
std::string TaskListPath(const std::string& pipeline, const std::string& target);

// Returns kInvalid, at the pipeline's line, for an unknown network or tuner, a total below one trial or second
// a task, or a donor that is not a task (the last two once the tasks are known).
Status CheckPipelines(const PlanInput& input);

// Returns kInvalid, naming it, if two jobs would make the same file or alias ("a-b" on "c", "a" on "b-c").
Result<Plan> MakePlan(const PlanInput& input);

}  // namespace hone::pipeline
