// The text of build.ninja from resolved jobs. What is to be done is decided in plan.h; here is how Ninja is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/pipeline_file.h"
#include "pipeline/task_list.h"

namespace hone::pipeline {

// One network on one target. Pointers are borrowed from the PlanInput.
struct NetworkJob {
  const PipelineFile* pipeline = nullptr;
  const TargetFile* target = nullptr;
  std::string network;                  // --network; a file is named from the work folder
  bool network_is_file = false;         // then it is an input of the extract edge too
  std::string parameters;               // file of its parameters, named from the work folder; empty: none
  const TaskList* tasks = nullptr;      // null: not extracted yet
  std::vector<std::string> task_files;  // those that this job's extract edge makes, in the order of the list
  std::string extract_inputs;           // the text of everything hone-extract reads that hone-plan wrote
};

// One task on one target, for all networks that have it.
struct TuneJob {
  struct User {
    const PipelineFile* pipeline;
    int64_t weight;
  };
  const TaskEntry* entry = nullptr;
  const TargetFile* target = nullptr;
  const PipelineFile* budget = nullptr;  // whose settings it is tuned with
  std::vector<User> users;               // in the order of the jobs
};

struct ManifestInput {
  std::vector<const TargetFile*> targets;
  std::vector<NetworkJob> jobs;  // sorted by pipeline, then target
  std::vector<TuneJob> tasks;    // sorted by target, then id
  std::string tools;
  std::string pipelines;
};

// Paths relative to the work folder.
std::string TaskPath(const std::string& id);
std::string TargetPath(const std::string& target);
std::string AbiPath(const std::string& tool);
std::string SettingsPath(const std::string& pipeline, const std::string& part);  // part: extract, tune, bench

// kInvalid if two statements make the same path.
Result<std::string> ManifestText(const ManifestInput& input);

}  // namespace hone::pipeline
