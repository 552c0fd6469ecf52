#include "pipeline/settings_toml.h"

#include <algorithm>
#include <set>
#include <variant>

#include "base/fields.h"
#include "pipeline/task_list.h"

namespace hone::pipeline {
namespace {

// AutoTVM's default, for a count that was not given.
constexpr int64_t kNumber = 4;
constexpr int64_t kRepeat = 3;

// TOML keys are never empty, so no file has this table.
constexpr char kNothing[] = "";

// [name], or [name.target]; the tables of other targets in it are allowed.
Result<TomlTable> Open(TomlTable* file, const char* name, const TablesOf& of) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, file->Table(name));
  if (!of.target.empty()) {
    if (table.TypeOf(of.target) == TomlTable::Type::kTable) return table.Table(of.target);
    return file->Table(kNothing);
  }
  for (const std::string& target : of.targets) {
    const TomlTable::Type type = table.TypeOf(target);
    const bool may_be = type == TomlTable::Type::kTable || type == TomlTable::Type::kMissing;
    if (may_be) HONE_RETURN_IF_ERROR(table.Table(target).status());
  }
  return table;
}

// The problem that CheckValues found, at the line of its key.
Status At(const TomlTable& table, const std::string& problem) {
  if (problem.empty()) return Status::Ok();
  const size_t colon = problem.find(':');
  return table.Error(problem.substr(0, colon), "`" + problem.substr(0, colon) + "`" + problem.substr(colon + 1));
}

// The keys that `list` accepts.
template <typename T>
Status ReadKeysOf(TomlTable* table, void (*list)(Fields*, T*), T* settings) {
  Fields fields([table](const std::string& key, Fields::Place place) {
    return std::visit([&](auto* value) { return table->Read(key, value); }, place);
  });
  list(&fields, settings);
  return fields.status();
}

// Rejects a value next to another one that would make it meaningless.
Status Exclude(const TomlTable& table, const char* key, const char* other) {
  if (!table.Has(key) || !table.Has(other)) return Status::Ok();
  return table.Error(other, fmt::format("`{}` and `{}` exclude each other; leave one out", key, other));
}

Status ReadTransfer(TomlTable* table, Transfer* transfer) {
  using Type = TomlTable::Type;
  const Type type = table->TypeOf("transfer");
  if (type != Type::kList) {
    const Status read = table->Read("transfer", &transfer->any);
    return read.ok() ? read : table->Error("transfer", "`transfer` must be true, false or a list of task ids");
  }
  HONE_RETURN_IF_ERROR(table->Read("transfer", &transfer->ids));
  if (transfer->ids.empty()) return table->Error("transfer", "`transfer` is empty; write false to learn from no task");
  for (const std::string& id : transfer->ids) {
    if (!IsPlainName(id)) return table->Error("transfer", fmt::format("`transfer`: '{}' is not a task id", id));
  }
  std::sort(transfer->ids.begin(), transfer->ids.end());
  const auto twice = std::adjacent_find(transfer->ids.begin(), transfer->ids.end());
  if (twice == transfer->ids.end()) return Status::Ok();
  return table->Error("transfer", fmt::format("`transfer` names '{}' twice", *twice));
}

// `sketch = "mine.sketch"`, or a list of such paths.
Status ReadSketches(TomlTable* table, std::vector<std::string>* paths) {
  if (!table->Has("sketch")) return Status::Ok();
  paths->clear();
  if (table->TypeOf("sketch") == TomlTable::Type::kText) paths->emplace_back();
  const Status read = paths->empty() ? table->Read("sketch", paths) : table->Read("sketch", &paths->front());
  if (!read.ok()) return table->Error("sketch", "`sketch` must be a path or a list of paths");
  std::set<std::string> known;
  for (const std::string& path : *paths) {
    const bool control = std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20; });
    if (path.empty() || control) return table->Error("sketch", "`sketch` is not a path");
    if (!known.insert(path).second) return table->Error("sketch", fmt::format("`sketch` names '{}' twice", path));
  }
  return Status::Ok();
}

Status ReadModelPath(TomlTable* table, std::string* path) {
  HONE_RETURN_IF_ERROR(table->Read("model", path));
  const bool control = std::ranges::any_of(*path, [](unsigned char c) { return c < 0x20; });
  if (control || (table->Has("model") && path->empty())) return table->Error("model", "`model` is not a path");
  return Status::Ok();
}

Status ReadTune(TomlTable* file, const TablesOf& of, JobSettings* settings) {
  TuneSettings* tune = &settings->tune;
  HONE_ASSIGN_OR_RETURN(TomlTable table, Open(file, "tune", of));
  // A budget of [tune.TARGET] replaces that of [tune].
  for (const char* key : {"trials", "trials_total", "seconds_total", "total_of"}) {
    if (!table.Has(key)) continue;
    tune->trials_total = 0, tune->seconds_total = 0, settings->total_of.clear();
    if (tune->trials == kMostTrials) tune->trials = TuneSettings().trials;
  }
  HONE_RETURN_IF_ERROR(ReadKeysOf(&table, ListTuneKeys, tune));
  HONE_RETURN_IF_ERROR(ReadTransfer(&table, &settings->transfer));
  HONE_RETURN_IF_ERROR(ReadSketches(&table, &settings->sketches));
  HONE_RETURN_IF_ERROR(ReadModelPath(&table, &settings->model));
  HONE_RETURN_IF_ERROR(table.Read("total_of", &settings->total_of));
  HONE_RETURN_IF_ERROR(table.Read("in_network", &settings->in_network));
  HONE_RETURN_IF_ERROR(table.Read("alternatives", &settings->alternatives));
  HONE_RETURN_IF_ERROR(table.Finish());
  for (const auto& [key, other] : {std::pair("trials", "trials_total"),
                                   {"trials", "seconds_total"},
                                   {"trials_total", "seconds_total"},
                                   {"seconds", "seconds_total"}}) {
    HONE_RETURN_IF_ERROR(Exclude(table, key, other));
  }
  for (const std::string& key : table.Keys()) {
    const std::set<std::string> own = {"total_of", "target_ms", "in_network", "alternatives"};
    if (settings->total_of.empty() || own.count(key) > 0 || std::ranges::count(of.targets, key) > 0) continue;
    return table.Error(key, fmt::format("`{}` stands in the pipeline that `total_of` names; remove it here", key));
  }
  if (table.Has("total_of") && !IsPlainName(settings->total_of)) {
    return table.Error("total_of", "`total_of` must be the name of a pipeline");
  }
  if (table.Has("like") && tune->like.empty()) return table.Error("like", "`like` is empty; known: ansor, autotvm");
  if (table.Has("trials_total") && tune->trials_total < 1) {
    return table.Error("trials_total", fmt::format("`trials_total` must be at least 1, is {}", tune->trials_total));
  }
  if (table.Has("seconds_total") && !(tune->seconds_total > 0)) {
    return table.Error("seconds_total", fmt::format("`seconds_total` must be above 0, is {}", tune->seconds_total));
  }
  if (table.Has("seconds_total")) tune->trials = kMostTrials, tune->seconds = 0;
  for (const std::string key : {"rounds", "share", "objective", "target_ms"}) {
    const bool total = tune->HasTotal() || (key == "target_ms" && settings->InRounds());
    if (table.Has(key) && !total) {
      return table.Error(key, fmt::format("`{}` goes with `trials_total` or `seconds_total`; add one of them", key));
    }
  }
  return At(table, CheckValues(*tune));
}

Status ReadMeasure(TomlTable* file, const TablesOf& of, TuneSettings* tune) {
  Protocol* measure = &tune->measure;
  HONE_ASSIGN_OR_RETURN(TomlTable table, Open(file, "measure", of));
  if (table.Has("candidate_seconds") || table.Has("prune_factor")) measure->number = measure->repeat = 0;
  HONE_RETURN_IF_ERROR(ReadKeysOf(&table, ListMeasureKeys, tune));
  HONE_RETURN_IF_ERROR(table.Read("timeout", &measure->timeout_seconds));  // AutoTVM's name
  HONE_RETURN_IF_ERROR(table.Finish());
  HONE_RETURN_IF_ERROR(Exclude(table, "timeout_seconds", "timeout"));
  for (const char* count : {"number", "repeat"}) {
    for (const char* adaptive : {"candidate_seconds", "prune_factor"}) {
      HONE_RETURN_IF_ERROR(Exclude(table, count, adaptive));
    }
  }
  if (table.Has("number") && measure->number < 1) return table.Error("number", "`number` must be at least 1");
  if (table.Has("repeat") && measure->repeat < 1) return table.Error("repeat", "`repeat` must be at least 1");
  if (measure->number > 0 || measure->repeat > 0) {
    if (measure->number == 0) measure->number = kNumber;
    if (measure->repeat == 0) measure->repeat = kRepeat;
  }
  const std::string problem = CheckValues(*tune);
  const bool renamed = table.Has("timeout") && problem.rfind("timeout_seconds", 0) == 0;
  return At(table, renamed ? "timeout" + problem.substr(std::string("timeout_seconds").size()) : problem);
}

Status ReadNumerics(TomlTable* file, const TablesOf& of, TuneSettings* tune) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, Open(file, "numerics", of));
  if (table.TypeOf("winograd") == TomlTable::Type::kText) {
    std::string word;
    HONE_RETURN_IF_ERROR(table.Read("winograd", &word));
    if (word != "off")
      return table.Error("winograd", fmt::format("`winograd` must be \"off\", 2, 4 or 6, is '{}'", word));
    tune->winograd = 0;
  } else {
    const Status read = table.Read("winograd", &tune->winograd);
    if (!read.ok()) return table.Error("winograd", "`winograd` must be \"off\", 2, 4 or 6");
    if (table.Has("winograd") && tune->winograd == 0) {
      return table.Error("winograd", "`winograd` must be \"off\", 2, 4 or 6, is 0");
    }
  }
  HONE_RETURN_IF_ERROR(table.Read("tf32", &tune->tf32));
  HONE_RETURN_IF_ERROR(table.Finish());
  return At(table, CheckValues(*tune));
}

Status ReadMemory(TomlTable* file, const TablesOf& of, double* parameters) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, Open(file, "memory", of));
  HONE_RETURN_IF_ERROR(table.Read("parameters", parameters));
  HONE_RETURN_IF_ERROR(table.Finish());
  if (!table.Has("parameters") || (*parameters >= 1 && *parameters <= kMostMemory)) return Status::Ok();
  return table.Error("parameters", fmt::format("`parameters` must be from 1 to {}, is {}", kMostMemory, *parameters));
}

Status ReadBench(TomlTable* file, const TablesOf& of, BenchSettings* bench) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, Open(file, "bench", of));
  HONE_RETURN_IF_ERROR(ReadKeysOf<BenchSettings>(&table, ListFields, bench));
  HONE_RETURN_IF_ERROR(table.Finish());
  return At(table, CheckValues(*bench));
}

}  // namespace

Status ReadJobSettings(TomlTable* file, const TablesOf& of, JobSettings* settings) {
  HONE_RETURN_IF_ERROR(ReadTune(file, of, settings));
  HONE_RETURN_IF_ERROR(ReadMeasure(file, of, &settings->tune));
  HONE_RETURN_IF_ERROR(ReadNumerics(file, of, &settings->tune));
  HONE_RETURN_IF_ERROR(ReadMemory(file, of, &settings->memory));
  return ReadBench(file, of, &settings->bench);
}

Status ReadWeights(TomlTable* file, std::vector<TaskWeight>* weights) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, file->Table("weights"));
  for (const std::string& name : table.Keys()) {
    TaskWeight& weight = weights->emplace_back(TaskWeight{name});
    HONE_RETURN_IF_ERROR(table.Read(name, &weight.weight));
    if (weight.weight >= 0 && weight.weight <= kMostWeight) continue;
    return table.Error(name, fmt::format("`{}` must be from 0 to {}, is {}", name, kMostWeight, weight.weight));
  }
  return Status::Ok();
}

Result<std::optional<QuantiseTable>> ReadQuantiseTable(TomlTable* file) {
  std::optional<QuantiseTable> nothing;
  if (!file->Has("quantise")) return nothing;
  QuantiseTable quantise;
  quantise::Settings& settings = quantise.settings;
  HONE_ASSIGN_OR_RETURN(TomlTable table, file->Table("quantise"));
  std::string method = quantise::MethodName(settings.method), scheme = quantise::SchemeName(settings.scheme);
  HONE_RETURN_IF_ERROR(table.Read("data", &quantise.data));
  HONE_RETURN_IF_ERROR(table.Read("method", &method));
  HONE_RETURN_IF_ERROR(table.Read("scheme", &scheme));
  HONE_RETURN_IF_ERROR(table.Read("percentile", &settings.percentile));
  HONE_RETURN_IF_ERROR(table.Read("samples", &settings.samples));
  HONE_RETURN_IF_ERROR(table.Read("per_channel", &settings.per_channel));
  HONE_RETURN_IF_ERROR(table.Read("bias_correction", &settings.bias_correction));
  HONE_RETURN_IF_ERROR(table.Read("keep", &settings.keep));
  HONE_RETURN_IF_ERROR(table.Finish());
  const auto known_method = quantise::ParseMethod(method);
  if (!known_method.ok()) return table.Error("method", "`method`: " + known_method.status().message());
  const auto known_scheme = quantise::ParseScheme(scheme);
  if (!known_scheme.ok()) return table.Error("scheme", "`scheme`: " + known_scheme.status().message());
  settings.method = *known_method, settings.scheme = *known_scheme;
  const bool control = std::ranges::any_of(quantise.data, [](unsigned char c) { return c < 0x20; });
  if (control || (table.Has("data") && quantise.data.empty())) return table.Error("data", "`data` is not a path");
  HONE_RETURN_IF_ERROR(At(table, quantise::CheckValues(settings)));
  return std::optional(std::move(quantise));
}

Status ReadInputTable(TomlTable* file, InputShapes* inputs) {
  HONE_ASSIGN_OR_RETURN(TomlTable table, file->Table("input"));
  for (const std::string& name : table.Keys()) {
    std::vector<int64_t> shape;
    const Status read = table.Read(name, &shape);
    if (!read.ok()) return table.Error(name, fmt::format("`{}` must be a shape, such as [1, 3, 224, 224]", name));
    // The flag is NAME=SHAPE, and Ninja has no line breaks.
    const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20; });
    if (name.empty() || control || name.find('=') != std::string::npos || name[0] == '-') {
      return table.Error(name, fmt::format("`{}` cannot be the name of an input", name));
    }
    for (const int64_t extent : shape) {
      if (extent < 1 || extent > INT32_MAX) {
        return table.Error(name, fmt::format("`{}`: an extent must be from 1 to {}, is {}", name, INT32_MAX, extent));
      }
    }
    inputs->emplace_back(name, std::move(shape));
  }
  return Status::Ok();
}

}  // namespace hone::pipeline
