// tasks/TASKID.task.json. Its id is a digest, which a fuzzer cannot guess: the target inserts the right one.
#include "base/json.h"
#include "fuzz_target.h"
#include "pipeline/task_list.h"

namespace hone::pipeline {
namespace {

std::string WithItsId(std::string_view input) {
  auto json = ParseJson(input, "fuzz");
  if (!json.ok() || !json->is_object() || !json->contains("workload") || !json->contains("target"))
    return std::string(input);
  if (!(*json)["workload"].is_string() || !(*json)["target"].is_string()) return std::string(input);
  const auto workload = Workload::Parse((*json)["workload"].get<std::string>());
  const auto target = Target::Parse((*json)["target"].get<std::string>());
  if (!workload.ok() || !target.ok()) return std::string(input);
  (*json)["id"] = TaskId(*workload, target->Text());
  return DumpJson(*json);
}

}  // namespace

HONE_FUZZ_TARGET(task_file) {
  (void)ParseTaskFile(std::string(input), "fuzz").ok();
  return ParseTaskFile(WithItsId(input), "fuzz").status();
}

}  // namespace hone::pipeline
