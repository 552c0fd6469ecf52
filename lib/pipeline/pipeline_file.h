// The files that people write: pipelines/NAME.toml (a network, the targets, how to tune and bench it) and
// pipelines/targets/NAME.toml (a device). doc/reference/pipelines.md lists the keys. File names give the job's name:
// `resnet18.toml` on target `cpu` is `tune-resnet18-cpu`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/settings_toml.h"

namespace hone::pipeline {

// One pipelines/NAME.toml.
struct PipelineFile : JobSettings {
  std::string name;     // the file's stem
  std::string path;     // of the file, for messages
  std::string network;  // a built-in name, "resnet-18", or the path of a model or graph, relative to the pipeline file
  std::string parameters;  // path of its parameter file (graph/graph.h), likewise; may be empty
  std::string plugin;      // path of a library with custom operators (plugin/plugin.h), likewise; may be empty
  int64_t batch = 1;
  std::string layout;                // a name of kLayoutNames; empty: blocked, or that of a graph file
  std::vector<std::string> targets;  // names of target files, sorted, distinct: what `tune-all` tunes
  // The same for targets that are tuned only when requested by name; disjoint from `targets`. At least one of the two
  // lists is not empty.
  std::vector<std::string> on_request;
  std::optional<QuantiseTable> quantise;
  std::vector<std::string> calibration;  // with `quantise.data`, read by ReadPipelineFolder: that path, or the folder
                                         // and the paths of its files
  InputShapes inputs;                    // for a model that leaves them open
  // For each target with tables like [tune.TARGET]: this file with those applied, with that target as `on_target`, and
  // without `on`.
  std::vector<PipelineFile> on;
  std::string on_target;
  bool shares_settings = false;  // in `on`: differs only in [memory.TARGET], so uses the file's settings files

  // `targets` and `on_request`, sorted.
  std::vector<std::string> AllTargets() const;
  bool OnRequest(const std::string& target) const;
  // The settings for this target: the element of `on`, or the file itself. The reference is valid as long as this
  // object.
  const PipelineFile& For(const std::string& target) const;
  // Stem of its settings files: the name, or "NAME@TARGET" (never a pipeline's name) for an element of `on` with its
  // own.
  std::string SettingsName() const { return on_target.empty() || shares_settings ? name : name + "@" + on_target; }
};

// One pipelines/targets/NAME.toml.
struct TargetFile {
  std::string name;     // the file's stem
  std::string path;     // of the file, for messages
  std::string json;     // the tools' input (target/target.h: ReadTargetFile): every key except `devices`
  bool device = false;  // TargetKind::has_device
  bool tf32 = false;    // HasTensorFloat32 (target/cuda_arch.h)
  int64_t devices = 1;  // how many edges may measure on such devices at once; does not affect results
};

// Whether `network` is a workload's text: "dense(f32[1,16], f32[4,16]) + relu".
bool IsWorkload(std::string_view network);
// Whether it is a file's path, not a built-in name or a workload. A path has a '/' or ends as one of the next two.
bool IsNetworkFile(std::string_view network);
// Whether a file has the ending of an ONNX model (.onnx), or of a graph (.json), in any case of letters.
bool IsOnnxFile(std::string_view path);
bool IsGraphFile(std::string_view path);
// Whether it is a name, which must then be a built-in network's.
bool IsNetworkName(std::string_view network);

// Returns kInvalid with "PATH:LINE: what" for a syntax error, an unknown key, or a value of a wrong type or out of
// range; with PATH for a file name that is not a valid job name.
Result<PipelineFile> ParsePipelineFile(std::string_view text, const std::string& path);
Result<TargetFile> ParseTargetFile(std::string_view text, const std::string& path);

// The library that `plugin` names: in `plugins/` of the tools' folder if the name has no '/', else relative to the
// pipeline's folder. Empty without a plugin.
std::string PluginPath(const PipelineFile& pipeline, const std::string& folder, const std::string& tools);

// An error `what` at the line of `key` ("targets", "tune.trials", "tune.cuda.trials") in a file that was already
// parsed: the parsed form no longer has lines.
Status ErrorAt(const PipelineFile& pipeline, const std::string& key, const std::string& what);

// A key of [tune], or of [tune.TARGET] for an element of PipelineFile::on, for ErrorAt.
std::string TuneKey(const PipelineFile& on, const std::string& key);

// The contents of a folder of pipelines.
struct PipelineFolder {
  std::vector<PipelineFile> pipelines;  // sorted by name
  std::vector<TargetFile> targets;      // sorted by name, only those that a pipeline names
  // The inputs of the result: every .toml file, the sketches that they name, and the folders, whose times change when a
  // file appears.
  std::vector<std::string> read;
};

// Returns kNotFound without a pipeline; kInvalid as above, for a mistake in a sketch, with its line and column, and for
// a missing sketch or file of a target, at the line of the pipeline that names it. Files of networks and parameters may
// be missing.
Result<PipelineFolder> ReadPipelineFolder(const std::string& folder);

// Returns kInvalid, at the line that names it, if the file of the network, its parameters or calibration inputs is
// missing. `folder` is
// the pipeline's.
Status CheckNetworkFiles(const PipelineFile& pipeline, const std::string& folder);

}  // namespace hone::pipeline
