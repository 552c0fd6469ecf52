#include "pipeline/task_file.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kTaskFileVersion = 1;

}  // namespace

std::string TaskFileText(const std::string& id, const std::string& workload, const std::string& target, int64_t flop,
                         const std::string& plugin, const std::string& plugin_digest, const std::string& space) {
  Json json{{"version", kTaskFileVersion}, {"id", id}, {"workload", workload}, {"target", target}, {"flop", flop}};
  if (!plugin.empty()) json["plugin"] = plugin, json["plugin_digest"] = plugin_digest;
  if (!space.empty()) json["space"] = space;
  return DumpJson(json);
}

Result<TaskFile> ParseTaskFile(const std::string& text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kTaskFileVersion));
  TaskFile task;
  std::string workload, target;
  HONE_RETURN_IF_ERROR(reader.Read("id", &task.id));
  HONE_RETURN_IF_ERROR(reader.Read("workload", &workload));
  HONE_RETURN_IF_ERROR(reader.Read("target", &target));
  HONE_RETURN_IF_ERROR(reader.Read("flop", &task.flop));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("plugin", &task.plugin));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("plugin_digest", &task.plugin_digest));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("space", &task.space));
  HONE_RETURN_IF_ERROR(reader.Finish());
  auto parsed_workload = Workload::Parse(workload);
  if (!parsed_workload.ok()) return reader.Error("workload", parsed_workload.status().message());
  auto parsed_target = Target::Parse(target);
  if (!parsed_target.ok()) return reader.Error("target", parsed_target.status().message());
  task.workload = std::move(*parsed_workload);
  task.target = std::move(*parsed_target);
  if (task.flop < 0) return reader.Error("flop", "must not be negative");
  const std::string expected = TaskId(task.workload, task.target.Text());
  if (task.id != expected) {
    return reader.Error("id",
                        fmt::format("is {}, but this workload on this target is {}; extract again", task.id, expected));
  }
  return task;
}

}  // namespace hone::pipeline
