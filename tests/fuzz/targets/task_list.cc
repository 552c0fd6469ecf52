#include "pipeline/task_list.h"

#include "base/check.h"
#include "fuzz_target.h"

namespace hone::pipeline {

HONE_FUZZ_TARGET(task_list) {
  HONE_ASSIGN_OR_RETURN(const TaskList list, ParseTaskList(input, "fuzz"));
  const std::string text = TaskListText(list);
  const auto again = ParseTaskList(text, "fuzz");
  HONE_CHECK(again.ok());
  fuzz::CheckSame(text, TaskListText(*again));
  return Status();
}

}  // namespace hone::pipeline
