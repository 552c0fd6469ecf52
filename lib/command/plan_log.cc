#include "command/plan_log.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/changes.h"

namespace hone::command {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

}  // namespace

Status NotePlanChange(const std::string& work, const std::string& file, std::string_view before,
                      std::string_view after) {
  const std::string path = JoinPath(work, kPlanLog);
  std::string text;
  if (Exists(path)) {
    HONE_ASSIGN_OR_RETURN(text, ReadFile(path));
  }
  const Json line = {{"time", RealClock()->WallSeconds()}, {"file", file}, {"before", before}, {"after", after}};
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += DumpJson(line, -1);
  if (text.size() > kMaxBytes) text.erase(0, text.find('\n', text.size() - kMaxBytes / 2) + 1);
  return WriteFileAtomic(path, text);
}

std::vector<std::string> PlanChangesSince(const std::string& work, const std::string& file, double since) {
  const Result<std::string> text = ReadFile(JoinPath(work, kPlanLog));
  if (!text.ok()) return {};
  std::string before, after;
  bool any = false;
  for (const std::string& line : Split(*text, '\n')) {
    const Result<Json> json = ParseJson(line, kPlanLog);
    if (!json.ok() || !json->is_object()) continue;
    JsonReader reader(*json, kPlanLog);
    double time = 0;
    std::string name, was, is;
    const bool whole = reader.Read("time", &time).ok() && reader.Read("file", &name).ok() &&
                       reader.Read("before", &was).ok() && reader.Read("after", &is).ok();
    if (!whole || name != file || time < since) continue;
    if (!any) before = was;
    after = is;
    any = true;
  }
  if (!any) return {};
  return StartsWith(file, "abi/") ? pipeline::AbiChanges(before, after) : pipeline::JsonChanges(before, after);
}

}  // namespace hone::command
