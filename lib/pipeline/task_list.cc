#include "pipeline/task_list.h"

#include <unordered_set>

#include "base/fields.h"
#include "base/text.h"

namespace hone::pipeline {

constexpr int64_t kTaskListVersion = 3, kTaskFileVersion = 1;

static bool LiesBelow(const std::string& path) {
  return !path.empty() && path[0] != '/' && ("/" + path + "/").find("/../") == std::string::npos &&
         path.find_first_of("\n\r") == std::string::npos;
}

static void ListFields(Fields* f, TaskEntry* task) {
  f->Value("id", &task->id);
  f->Check(IsPlainName(task->id),
           fmt::format("'{}' is not a task id: use letters, digits, '_', '.' and '-'", task->id));
  f->Value("workload", &task->workload);
  f->Value("weight", &task->weight).AtLeast(1);
  f->Value("flop", &task->flop).AtLeast(0);
  f->Maybe("optional", &task->optional, task->optional);
}

static void ListFields(Fields* f, TaskList* list) {
  f->Version(kTaskListVersion);
  HONE_VALUES(f, list->network, list->target, list->target_name);
  std::unordered_set<std::string> ids;
  f->List("tasks", &list->tasks, [&ids](Fields* item, TaskEntry* task) {
    ListFields(item, task);
    if (!ids.insert(task->id).second) item->Fail("id", fmt::format("'{}' is listed twice", task->id));
  });
  f->Maybe("failure", &list->failure, !list->failure.empty());
  f->Maybe("reads", &list->reads, !list->reads.empty());
  for (const std::string& path : list->reads) {
    f->Check(LiesBelow(path), fmt::format("'{}' lies outside the network's folder", Printable(path)));
  }
  f->Maybe("alternatives", &list->alternatives, !list->alternatives.empty());
}

std::string TaskListText(const TaskList& list) { return FieldsText(list); }

Result<TaskList> ParseTaskList(std::string_view text, const std::string& path) {
  return ParseFields<TaskList>(text, path);
}

Result<TaskList> ReadTaskList(const std::string& path) { return ReadFields<TaskList>(path); }

static void ListFields(Fields* f, AlternativeNode* node) { HONE_VALUES(f, node->name, node->workload, node->inputs); }

void ListFields(Fields* f, Alternative* alternative) {
  f->Value("replaces", &alternative->replaces).Check(!alternative->replaces.empty(), "names no node");
  f->Value("by", &alternative->by).Check(!alternative->by.empty(), "names no node");
}

static void ListFields(Fields* f, TaskFile* task) {
  f->Version(kTaskFileVersion);
  HONE_VALUES(f, task->id, task->workload, task->target);
  f->Value("flop", &task->flop).AtLeast(0);
  f->Maybe("plugin", &task->plugin, !task->plugin.empty());
  f->Maybe("plugin_digest", &task->plugin_digest, !task->plugin.empty());
  f->Maybe("space", &task->space, !task->space.empty());
  if (!f->reading() || !f->status().ok()) return;
  const std::string expected = TaskId(task->workload, task->target.Text());
  if (task->id == expected) return;
  f->Fail("id", fmt::format("is {}, but this workload on this target is {}; extract again", task->id, expected));
}

std::string TaskFileText(const TaskFile& task) { return FieldsText(task); }

Result<TaskFile> ParseTaskFile(const std::string& text, const std::string& path) {
  return ParseFields<TaskFile>(text, path);
}

}  // namespace hone::pipeline
