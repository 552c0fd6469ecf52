#include "command/plan/plan_log.h"

#include "base/clock.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"
#include "pipeline/changes.h"

namespace hone::command {
namespace {

constexpr size_t kMaxBytes = 1 << 20;

}  // namespace

static void ListFields(Fields* f, PlanChange* change) {
  f->Value("time", &change->time);
  f->Value("file", &change->file);
  f->Value("before", &change->before);
  f->Value("after", &change->after);
}

std::string PlanChangeText(const PlanChange& change) { return FieldsText(change, -1); }

Result<PlanChange> ParsePlanChange(std::string_view line) { return ParseFields<PlanChange>(line, kPlanLog); }

Status NotePlanChange(const std::string& work, const std::string& file, std::string_view before,
                      std::string_view after) {
  const std::string path = JoinPath(work, kPlanLog);
  std::string text;
  if (Exists(path)) {
    HONE_ASSIGN_OR_RETURN(text, ReadFile(path));
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += PlanChangeText({RealClock()->WallSeconds(), file, std::string(before), std::string(after)});
  if (text.size() > kMaxBytes) text.erase(0, text.find('\n', text.size() - kMaxBytes / 2) + 1);
  return WriteFileAtomic(path, text);
}

std::vector<std::string> PlanChangesIn(std::string_view log, const std::string& file, double since) {
  PlanChange all;
  bool any = false;
  for (const std::string& line : Split(std::string(log), '\n')) {
    Result<PlanChange> change = ParsePlanChange(line);
    if (!change.ok() || change->file != file || change->time < since) continue;
    if (!any) all.before = std::move(change->before);
    all.after = std::move(change->after);
    any = true;
  }
  if (!any) return {};
  return StartsWith(file, "abi/") ? pipeline::AbiChanges(all.before, all.after)
                                  : pipeline::JsonChanges(all.before, all.after);
}

std::vector<std::string> PlanChangesSince(const std::string& work, const std::string& file, double since) {
  const Result<std::string> text = ReadFile(JoinPath(work, kPlanLog));
  return text.ok() ? PlanChangesIn(*text, file, since) : std::vector<std::string>();
}

}  // namespace hone::command
