#include "pipeline/pipeline_file.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/model_file.h"
#include "pipeline/toml_table.h"
#include "sketch/sketch.h"
#include "target/cuda_arch.h"
#include "target/kind.h"
#include "task/operand.h"

namespace hone::pipeline {
namespace {

constexpr std::string_view kSuffix = ".toml";
const std::string kHost = "cpu";  // needs no target file

Result<std::string> Stem(const std::string& path) {
  std::string stem = BaseName(path);
  stem.resize(stem.size() - (EndsWith(stem, kSuffix) ? kSuffix.size() : 0));
  if (IsPlainName(stem)) return stem;
  return Status::Invalid(
      "{}: the file's name becomes part of target names: use letters, digits, '_', '.' and '-', a letter or digit "
      "first",
      path);
}

// `key` is "targets" or "on_request".
Status CheckTargets(const TomlTable& table, const char* key, std::vector<std::string>* targets) {
  std::ranges::sort(*targets);
  const auto twice = std::ranges::adjacent_find(*targets);
  if (twice != targets->end()) return table.Error(key, fmt::format("`{}` names '{}' twice", key, *twice));
  for (const std::string& target : *targets) {
    if (!IsPlainName(target)) return table.Error(key, fmt::format("`{}`: '{}' is not a target name", key, target));
  }
  return Status::Ok();
}

Status CheckTargets(const TomlTable& table, PipelineFile* file) {
  if (file->targets.empty() && file->on_request.empty()) {
    return table.Error("targets", "`targets` must name at least one target, such as [\"cpu\"]");
  }
  HONE_RETURN_IF_ERROR(CheckTargets(table, "targets", &file->targets));
  HONE_RETURN_IF_ERROR(CheckTargets(table, "on_request", &file->on_request));
  for (const std::string& target : file->targets) {
    if (file->OnRequest(target)) {
      return table.Error("on_request", fmt::format("`targets` and `on_request` both name '{}'", target));
    }
  }
  return Status::Ok();
}

// The .toml files of a folder, by name, without hidden ones. Adds the folder to `read`.
Result<std::vector<std::string>> TomlFiles(const std::string& folder, std::vector<std::string>* read) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(folder));
  read->push_back(folder);
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name[0] == '.' || !EndsWith(name, kSuffix)) continue;
    paths.push_back(JoinPath(folder, name));
    read->push_back(paths.back());
  }
  return paths;
}

// Whether the file has one of these tables specifically for this target.
bool HasTables(TomlTable table, std::initializer_list<const char*> names, const std::string& target) {
  for (const char* name : names) {
    const Result<TomlTable> whole = table.Table(name);
    if (whole.ok() && whole->TypeOf(target) == TomlTable::Type::kTable) return true;
  }
  return false;
}

Status ErrorIn(TomlTable table, const char* name, const std::string& target, const char* key, const char* what) {
  HONE_ASSIGN_OR_RETURN(table, table.Table(name));
  HONE_ASSIGN_OR_RETURN(table, table.Table(target));
  return table.Error(key, what);
}

// Reads the pipeline's sketches, so that a mistake in one is found before anything runs. Adds the files to `read`.
Status ReadSketches(const std::string& folder, PipelineFile* pipeline, std::vector<std::string>* read) {
  for (const std::string& name : pipeline->sketches) {
    const std::string path = JoinPath(folder, name);
    if (!Exists(path)) return ErrorAt(*pipeline, TuneKey(*pipeline, "sketch"), "no such file: " + path);
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    HONE_RETURN_IF_ERROR(sketch::ParseSketch(text, path).status());
    pipeline->tune.sketches.push_back({name, text});
    if (std::ranges::find(*read, path) == read->end()) read->push_back(path);
  }
  return Status();
}

// Reads the pipeline's model, so that a damaged one is found before anything runs. Adds the file to `read`.
Status ReadModel(const std::string& folder, PipelineFile* pipeline, std::vector<std::string>* read) {
  if (pipeline->model.empty()) return Status();
  const std::string path = JoinPath(folder, pipeline->model);
  if (!Exists(path)) {
    return ErrorAt(*pipeline, TuneKey(*pipeline, "model"),
                   "no such file: " + path + "; `hone-records learn` writes one, or leave `model` out");
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  HONE_RETURN_IF_ERROR(ParseSavedModel(text, path).status());
  pipeline->tune.model = {pipeline->model, Digest128(text).Hex()};
  if (std::ranges::find(*read, path) == read->end()) read->push_back(path);
  return Status();
}

// Lists the calibration inputs. A folder is read again when its time changes.
Status ListCalibration(const std::string& folder, PipelineFile* pipeline, std::vector<std::string>* read) {
  if (!pipeline->quantise || pipeline->quantise->data.empty()) return Status();
  const std::string path = JoinPath(folder, pipeline->quantise->data);
  pipeline->calibration = {pipeline->quantise->data};
  if (!IsDirectory(path)) return Status();
  if (std::ranges::find(*read, path) == read->end()) read->push_back(path);
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(path));
  for (const std::string& name : names) {
    if (name.front() != '.') pipeline->calibration.push_back(JoinPath(pipeline->quantise->data, name));
  }
  return Status();
}

// Ninja cannot express a line break, nor the system a path that contains a zero.
bool HasControl(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; });
}

// Only the given keys: a missing key means "as the host has it", or the default limit.
Status ReadKeys(TomlTable* table, const TargetKind& kind, Json* json) {
  for (const TargetKey& key : kind.FileKeys()) {
    const auto read = [&](auto value) -> Status {
      HONE_RETURN_IF_ERROR(table->Read(key.name, &value));
      if (table->Has(key.name)) (*json)[key.name] = std::move(value);
      return Status();
    };
    using enum TargetKey::Type;
    HONE_RETURN_IF_ERROR(key.type == kText     ? read(std::string())
                         : key.type == kTexts  ? read(std::vector<std::string>())
                         : key.type == kNumber ? read(int64_t{0})
                                               : read(std::vector<int64_t>()));
  }
  return Status();
}

}  // namespace

Status ErrorAt(const PipelineFile& pipeline, const std::string& key, const std::string& what) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(pipeline.path));
  HONE_ASSIGN_OR_RETURN(TomlTable table, TomlTable::Parse(text, pipeline.path));
  size_t begin = 0;
  for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    HONE_ASSIGN_OR_RETURN(table, table.Table(key.substr(begin, dot - begin)));
    begin = dot + 1;
  }
  return table.Error(key.substr(begin), what);
}

std::string TuneKey(const PipelineFile& on, const std::string& key) {
  return on.on_target.empty() || on.shares_settings ? "tune." + key : "tune." + on.on_target + "." + key;
}

std::vector<std::string> PipelineFile::AllTargets() const {
  std::vector<std::string> all = targets;
  all.insert(all.end(), on_request.begin(), on_request.end());
  std::ranges::sort(all);
  return all;
}

bool PipelineFile::OnRequest(const std::string& target) const {
  return std::ranges::find(on_request, target) != on_request.end();
}

const PipelineFile& PipelineFile::For(const std::string& target) const {
  const auto found = std::ranges::find(on, target, &PipelineFile::on_target);
  return found == on.end() ? *this : *found;
}

// `ending` in any case of letters.
static bool HasEnding(std::string_view path, std::string_view ending) {
  const auto lower = [](unsigned char ch) { return std::tolower(ch); };
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, {}, lower, lower);
}

bool IsOnnxFile(std::string_view path) { return HasEnding(path, ".onnx"); }

bool IsGraphFile(std::string_view path) { return HasEnding(path, ".json"); }

static bool HasFileEnding(std::string_view network) { return IsOnnxFile(network) || IsGraphFile(network); }

bool IsWorkload(std::string_view network) {
  return network.find('(') != std::string_view::npos && !HasFileEnding(network);  // browsers save "model (1).onnx"
}

bool IsNetworkName(std::string_view network) { return !IsWorkload(network) && !IsNetworkFile(network); }

bool IsNetworkFile(std::string_view network) {
  if (IsWorkload(network)) return false;
  return network.find('/') != std::string_view::npos || HasFileEnding(network);
}

std::string PluginPath(const PipelineFile& pipeline, const std::string& folder, const std::string& tools) {
  if (pipeline.plugin.empty()) return "";
  if (pipeline.plugin.find('/') == std::string::npos) return JoinPath(JoinPath(tools, "plugins"), pipeline.plugin);
  return JoinPath(folder, pipeline.plugin);
}

Status CheckNetworkFiles(const PipelineFile& pipeline, const std::string& folder) {
  const auto check = [&](const char* key, const std::string& file) {
    const std::string path = JoinPath(folder, file);
    return Exists(path) ? Status() : ErrorAt(pipeline, key, "no such file: " + path);
  };
  if (IsNetworkFile(pipeline.network)) HONE_RETURN_IF_ERROR(check("network", pipeline.network));
  if (!pipeline.parameters.empty()) HONE_RETURN_IF_ERROR(check("parameters", pipeline.parameters));
  if (!pipeline.quantise || pipeline.quantise->data.empty()) return Status();
  return check("quantise.data", pipeline.quantise->data);
}

Result<PipelineFile> ParsePipelineFile(std::string_view text, const std::string& path) {
  PipelineFile file;
  file.path = path;
  HONE_ASSIGN_OR_RETURN(file.name, Stem(path));
  HONE_ASSIGN_OR_RETURN(TomlTable table, TomlTable::Parse(text, path));
  HONE_RETURN_IF_ERROR(table.Read("network", &file.network));
  HONE_RETURN_IF_ERROR(table.Read("parameters", &file.parameters));
  HONE_RETURN_IF_ERROR(table.Read("plugin", &file.plugin));
  HONE_RETURN_IF_ERROR(table.Read("batch", &file.batch));
  HONE_RETURN_IF_ERROR(table.Read("layout", &file.layout));
  HONE_RETURN_IF_ERROR(table.Read("targets", &file.targets));
  HONE_RETURN_IF_ERROR(table.Read("on_request", &file.on_request));
  if (!table.Has("targets") && !table.Has("on_request")) file.targets = {kHost};
  const std::vector<std::string> targets = file.AllTargets();
  HONE_RETURN_IF_ERROR(ReadJobSettings(&table, {targets, ""}, &file));
  HONE_RETURN_IF_ERROR(ReadWeights(&table, &file.tune.weights));
  HONE_RETURN_IF_ERROR(ReadInputTable(&table, &file.inputs));
  HONE_ASSIGN_OR_RETURN(file.quantise, ReadQuantiseTable(&table));
  HONE_RETURN_IF_ERROR(table.Finish());  // before checking for missing keys: a missing key may be misspelt
  if (file.network.empty()) return table.Error("network", "`network` is missing, such as network = \"resnet-18\"");
  if (HasControl(file.network) || file.network[0] == '-') {
    return table.Error("network", "`network` is neither a built-in network nor a path");
  }
  if (table.Has("plugin") && (file.plugin.empty() || HasControl(file.plugin))) {
    return table.Error("plugin", "`plugin` is not a path");
  }
  if (table.Has("parameters")) {
    if (!IsNetworkFile(file.network)) {
      return table.Error("parameters", "`parameters` belong to a network file; a built-in network makes its own");
    }
    if (file.parameters.empty() || HasControl(file.parameters)) {
      return table.Error("parameters", "`parameters` is not a path");
    }
  }
  if (!file.inputs.empty() && !IsOnnxFile(file.network)) {
    return table.Error("input", "[input] belongs to a model file (.onnx); the shapes of other networks are fixed");
  }
  if (table.Has("batch") && !IsNetworkName(file.network)) {
    return table.Error("batch", IsOnnxFile(file.network)
                                    ? "`batch` is for built-in networks; a model's stands in the shapes of [input]"
                                    : "`batch` is for built-in networks; this network has its own");
  }
  if (file.batch < 1 || file.batch > 65536) return table.Error("batch", "`batch` must be from 1 to 65536");
  if (const Result<Layout> layout = LayoutNamed(file.layout); table.Has("layout") && !layout.ok()) {
    return table.Error("layout", layout.status().message());
  }
  HONE_RETURN_IF_ERROR(CheckTargets(table, &file));
  for (const std::string& target : targets) {
    PipelineFile on = file;
    on.on.clear();
    on.on_target = target;
    HONE_RETURN_IF_ERROR(ReadJobSettings(&table, {targets, target}, &on));
    if (on.alternatives != file.alternatives) {
      return ErrorIn(table, "tune", target, "alternatives", "`alternatives` holds for all targets: write it in [tune]");
    }
    on.shares_settings = !HasTables(table, {"tune", "measure", "numerics", "bench"}, target);
    if (!on.shares_settings || HasTables(table, {"memory"}, target)) file.on.push_back(std::move(on));
  }
  const auto has_total = [](const PipelineFile& on) { return on.InRounds(); };
  if (!file.tune.weights.empty() && !has_total(file) && std::ranges::none_of(file.on, has_total)) {
    return table.Error("weights", "[weights] goes with `trials_total` or `seconds_total`; add one of them to [tune]");
  }
  return file;
}

Result<TargetFile> ParseTargetFile(std::string_view text, const std::string& path) {
  TargetFile file{.path = path};
  HONE_ASSIGN_OR_RETURN(file.name, Stem(path));
  HONE_ASSIGN_OR_RETURN(TomlTable table, TomlTable::Parse(text, path));
  std::string name;
  HONE_RETURN_IF_ERROR(table.Read("kind", &name));
  const Result<const TargetKind*> kind = FindTargetKind(table.Has("kind") ? name : "cpu");
  if (!kind.ok()) return table.Error("kind", kind.status().message());
  HONE_RETURN_IF_ERROR(table.Read("devices", &file.devices));
  Json json = {{"kind", name}};
  HONE_RETURN_IF_ERROR(ReadKeys(&table, **kind, &json));
  HONE_RETURN_IF_ERROR(table.Finish());  // before the next check, so that a misspelt `kind` gets a suggestion
  if (!table.Has("kind")) return table.Error("kind", "`kind` is missing, such as kind = \"cpu\"");
  std::string key;
  if (Status status = (*kind)->CheckFile(json, &key); !status.ok()) return table.Error(key, status.message());
  if (file.devices < 1 || file.devices > 100000) return table.Error("devices", "`devices` must be from 1 to 100000");
  file.json = DumpJson(json);
  file.device = (*kind)->has_device();
  file.tf32 = HasTensorFloat32(json.value("arch", ""));
  return file;
}

Result<PipelineFolder> ReadPipelineFolder(const std::string& folder) {
  PipelineFolder result;
  const Result<std::vector<std::string>> paths = TomlFiles(folder, &result.read);
  if (!paths.ok()) {
    return Status(paths.status().kind(),
                  paths.status().message() + "; pass the folder of the pipeline files by --pipelines");
  }
  for (const std::string& path : *paths) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    HONE_ASSIGN_OR_RETURN(result.pipelines.emplace_back(), ParsePipelineFile(text, path));
  }
  if (result.pipelines.empty()) {
    return Status::NotFound(folder +
                            ": no pipeline (a file NAME.toml) is in this folder; write one, or pass --pipelines");
  }
  const std::string target_folder = JoinPath(folder, "targets");
  std::vector<std::string> target_paths;
  if (Exists(target_folder)) {
    HONE_ASSIGN_OR_RETURN(target_paths, TomlFiles(target_folder, &result.read));
  }
  for (PipelineFile& pipeline : result.pipelines) {
    HONE_RETURN_IF_ERROR(ListCalibration(folder, &pipeline, &result.read));
    HONE_RETURN_IF_ERROR(ReadSketches(folder, &pipeline, &result.read));
    HONE_RETURN_IF_ERROR(ReadModel(folder, &pipeline, &result.read));
    for (PipelineFile& on : pipeline.on) {
      HONE_RETURN_IF_ERROR(ReadSketches(folder, &on, &result.read));
      HONE_RETURN_IF_ERROR(ReadModel(folder, &on, &result.read));
    }
  }
  std::map<std::string, TargetFile> targets;
  std::vector<std::string> known;
  // The host with its detected features, unless there is a file for it.
  HONE_ASSIGN_OR_RETURN(TargetFile host,
                        ParseTargetFile("kind = \"cpu\"\n", JoinPath(target_folder, kHost + std::string(kSuffix))));
  for (const std::string& path : target_paths) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    HONE_ASSIGN_OR_RETURN(TargetFile file, ParseTargetFile(text, path));
    known.push_back(file.name);
    targets.emplace(file.name, std::move(file));
  }
  if (targets.emplace(kHost, std::move(host)).second) known.push_back(kHost);
  std::map<std::string, TargetFile> used;
  for (const PipelineFile& pipeline : result.pipelines) {
    for (const std::string& target : pipeline.AllTargets()) {
      const auto found = targets.find(target);
      if (found == targets.end()) {
        return ErrorAt(pipeline, pipeline.OnRequest(target) ? "on_request" : "targets",
                       fmt::format("no file targets/{}.toml{}", target, SuggestionText(target, known)));
      }
      used.insert(*found);
    }
  }
  // Paths sort differently from names: "a-b.toml" precedes "a.toml".
  std::ranges::sort(result.pipelines, {}, &PipelineFile::name);
  for (auto& [name, file] : used) result.targets.push_back(std::move(file));
  return result;
}

}  // namespace hone::pipeline
