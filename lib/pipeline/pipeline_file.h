// The files that people write: pipelines/NAME.toml (a network, the targets, how to tune and bench it) and
// pipelines/targets/NAME.toml (a device). doc/reference/pipelines.md lists the keys. Names of files are names of jobs:
// `resnet18.toml` on target `cpu` is `tune-resnet18-cpu`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"
#include "pipeline/settings_toml.h"

namespace hone::pipeline {

// One pipelines/NAME.toml.
struct PipelineFile : JobSettings {
  std::string name;     // the file's stem
  std::string path;     // of the file, for messages
  std::string network;  // a built-in name, "resnet-18", or the path of a model or graph, relative to the pipeline file
  std::string parameters;  // the path of its parameter file (graph/parameters.h), likewise; empty: it needs none
  std::string plugin;      // the path of a library with operators of its own (op/plugin.h), likewise; empty: none
  int64_t batch = 1;
  std::vector<std::string> targets;  // names of target files, sorted, distinct: what `tune-all` tunes
  // Likewise, none of `targets`: tuned when asked for by name. One of both at least.
  std::vector<std::string> on_request;
  InputShapes inputs;  // of a model that leaves them open
  // For each target with tables like [tune.TARGET]: this file with those applied, that target as `on_target`, and no
  // `on`.
  std::vector<PipelineFile> on;
  std::string on_target;
  bool shares_settings = false;  // of one of `on`: only [memory.TARGET] is its own, and what is in files is the file's

  // `targets` and `on_request`, sorted.
  std::vector<std::string> AllTargets() const;
  bool OnRequest(const std::string& target) const;
  // The settings for this target: the one of `on`, or the file itself. The reference lives as long as this object.
  const PipelineFile& For(const std::string& target) const;
  // Stem of its settings files: the name; "NAME@TARGET" (no pipeline is named so) for one of `on` with its own.
  std::string SettingsName() const { return on_target.empty() || shares_settings ? name : name + "@" + on_target; }
};

// One pipelines/targets/NAME.toml.
struct TargetFile {
  std::string name;     // the file's stem
  std::string path;     // of the file, for messages
  std::string json;     // what the tools read (target/target.h: ReadTargetFile): every key but `devices`
  bool device = false;  // TargetKind::has_device
  bool tf32 = false;    // HasTensorFloat32 (target/cuda_arch.h)
  int64_t devices = 1;  // how many edges may measure on such devices at once; changes no result
};

// Is `network` the path of a file, not a built-in name or the text of a workload (which has a '(')? It has a '/' or
// ends in ".onnx" or ".json".
bool IsNetworkFile(std::string_view network);
// Is it a name, of a network that must be built in?
bool IsNetworkName(std::string_view network);

// kInvalid with "PATH:LINE: what" for a syntax error, an unknown key, a value of a wrong type or out of range; with
// PATH for a file name that is no job name.
Result<PipelineFile> ParsePipelineFile(std::string_view text, const std::string& path);
Result<TargetFile> ParseTargetFile(std::string_view text, const std::string& path);

// The library that `plugin` names: below `plugins/` of the folder of the tools, where it has no '/', else from the
// pipeline's own folder. Empty: none.
std::string PluginPath(const PipelineFile& pipeline, const std::string& folder, const std::string& tools);

// `what` at the line of `key` ("targets", "tune.trials", "tune.cuda.trials") in a file that was parsed already: the
// result no longer has its lines.
Status ErrorAt(const PipelineFile& pipeline, const std::string& key, const std::string& what);

// All that is in a folder of pipelines.
struct PipelineFolder {
  std::vector<PipelineFile> pipelines;  // sorted by name
  std::vector<TargetFile> targets;      // sorted by name, those that a pipeline names
  // The inputs of the result: every .toml file and the folders themselves, whose times change when a file appears.
  std::vector<std::string> read;
};

// kNotFound without a pipeline; kInvalid as above, and for a target, a network or parameters whose file is not there,
// at the line of the pipeline that names it.
Result<PipelineFolder> ReadPipelineFolder(const std::string& folder);

}  // namespace hone::pipeline
