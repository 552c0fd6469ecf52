#include "pipeline/task_list.h"

#include "fuzz_target.h"

HONE_FUZZ_TARGET(task_list) {
  return hone::fuzz::ReadWriteRead(input, hone::pipeline::ParseTaskList, hone::pipeline::TaskListText);
}
