#include "pipeline/task_file.h"

#include <fmt/format.h>

#include "base/fields.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kTaskFileVersion = 1;

}  // namespace

static void ListFields(Fields* f, TaskFile* task) {
  f->Version(kTaskFileVersion);
  f->Value("id", &task->id);
  f->As(
      "workload", &task->workload, [](const Workload& workload) { return workload.Text(); }, Workload::Parse);
  f->As(
      "target", &task->target, [](const Target& target) { return target.Text(); }, Target::Parse);
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
