#include "pipeline/task_list.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kTaskListVersion = 3;

Result<TaskEntry> ReadTaskEntry(JsonReader* reader) {
  TaskEntry entry;
  HONE_RETURN_IF_ERROR(reader->Read("id", &entry.id));
  HONE_RETURN_IF_ERROR(reader->Read("workload", &entry.workload));
  HONE_RETURN_IF_ERROR(reader->Read("weight", &entry.weight));
  HONE_RETURN_IF_ERROR(reader->Read("flop", &entry.flop));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("optional", &entry.optional));
  HONE_RETURN_IF_ERROR(reader->Finish());
  if (!IsPlainName(entry.id)) {
    return reader->Error("id", fmt::format("'{}' is no task id: use letters, digits, '_', '.' and '-'", entry.id));
  }
  if (entry.weight < 1) return reader->Error("weight", "must be at least 1");
  if (entry.flop < 0) return reader->Error("flop", "must be at least 0");
  return entry;
}

}  // namespace

bool IsPlainName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name[0] != '.' && name[0] != '-' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string TaskListText(const TaskList& list) {
  Json tasks = Json::array();
  for (const TaskEntry& task : list.tasks) {
    tasks.push_back({{"id", task.id}, {"workload", task.workload}, {"weight", task.weight}, {"flop", task.flop}});
    if (task.optional) tasks.back()["optional"] = true;
  }
  Json json = {{"version", kTaskListVersion},
               {"network", list.network},
               {"target", list.target},
               {"target_name", list.target_name},
               {"tasks", std::move(tasks)}};
  if (!list.reads.empty()) json["reads"] = list.reads;
  if (!list.alternatives.empty()) json["alternatives"] = AlternativesJson(list.alternatives);
  return DumpJson(json);
}

Result<TaskList> ParseTaskList(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kTaskListVersion));
  TaskList list;
  std::vector<JsonReader> tasks;
  HONE_RETURN_IF_ERROR(reader.Read("network", &list.network));
  HONE_RETURN_IF_ERROR(reader.Read("target", &list.target));
  HONE_RETURN_IF_ERROR(reader.Read("target_name", &list.target_name));
  HONE_RETURN_IF_ERROR(reader.Read("tasks", &tasks));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("reads", &list.reads));
  for (const std::string& path : list.reads) {
    if (path.empty() || path[0] == '/' || ("/" + path + "/").find("/../") != std::string::npos ||
        path.find_first_of("\n\r") != std::string::npos) {
      return reader.Error("reads", fmt::format("'{}' lies outside the network's folder", Printable(path)));
    }
  }
  HONE_RETURN_IF_ERROR(ReadAlternatives(&reader, "alternatives", &list.alternatives));
  HONE_RETURN_IF_ERROR(reader.Finish());
  std::unordered_set<std::string> ids;
  list.tasks.reserve(tasks.size());
  for (JsonReader& task : tasks) {
    HONE_ASSIGN_OR_RETURN(TaskEntry entry, ReadTaskEntry(&task));
    if (!ids.insert(entry.id).second) return task.Error("id", fmt::format("'{}' is listed twice", entry.id));
    list.tasks.push_back(std::move(entry));
  }
  return list;
}

Result<TaskList> ReadTaskList(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTaskList(text, path);
}

}  // namespace hone::pipeline
