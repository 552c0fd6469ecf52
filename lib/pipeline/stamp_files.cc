#include "pipeline/stamp_files.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace hone::pipeline {

constexpr char kStampEnding[] = ".done";

constexpr char kTf32[] = ".tf32", kWinograd[] = ".winograd-", kRound[] = ".r";

std::string StampPath(const std::string& task, const std::string& target, const TuneSettings& settings) {
  const int64_t cap = settings.winograd;
  std::string own = cap == TuneSettings().winograd ? "" : kWinograd + (cap == 0 ? "off" : std::to_string(cap));
  if (settings.tf32) own += kTf32;
  return "stamps/" + task + "." + target + own + kStampEnding;
}

bool IsStampOf(const std::string& name, const std::string& task, const std::string& target) {
  std::string_view own = name;
  const std::string begin = task + "." + target;
  if (!StartsWith(own, begin)) return false;
  own.remove_prefix(begin.size());
  if (!EndsWith(own, kStampEnding)) return false;
  own.remove_suffix(std::size(kStampEnding) - 1);
  if (EndsWith(own, kTf32)) own.remove_suffix(std::size(kTf32) - 1);
  // Else it is of another target, as names of targets may have dots.
  return own.empty() || (StartsWith(own, kWinograd) && own.find('.', 1) == own.npos);
}

bool IsOfOtherNumerics(const std::string& stamp) {
  return stamp.find(kWinograd) != std::string::npos || EndsWith(stamp, std::string(kTf32) + kStampEnding);
}

std::string TunedPath(const std::string& job) { return fmt::format("stamps/{}.tuned", job); }

std::string RoundName(const std::string& job, int round) { return job + kRound + std::to_string(round); }

std::string RoundStampPath(const std::string& folder, const std::string& task) {
  return JoinPath(folder, task + kStampEnding);
}

static bool IsRoundOf(const std::string& name, const std::string& target) {
  const size_t round = name.rfind(kRound);
  return round != std::string::npos && EndsWith(name.substr(0, round), "." + target);
}

Result<std::vector<std::string>> StampsOfRecords(const std::string& db) {
  const std::string path = AbsolutePath(db), folder = DirName(path), records = DirName(folder);
  if (!EndsWith(path, ".db") || BaseName(records) != "records") return std::vector<std::string>();
  const std::string name = BaseName(path), task = name.substr(0, name.size() - 3), target = BaseName(folder);
  const std::string stamps = JoinPath(DirName(records), "stamps");
  if (!Exists(stamps)) return std::vector<std::string>();  // nothing has been tuned by Ninja
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(stamps));
  std::vector<std::string> found;
  for (const std::string& entry : names) {
    const std::string at = JoinPath(stamps, entry);
    if (IsStampOf(entry, task, target)) found.push_back(at);
    if (!IsRoundOf(entry, target) || !IsDirectory(at)) continue;
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> round, ListDir(at));
    const std::string stamp = RoundStampPath(at, task);
    if (std::ranges::find(round, BaseName(stamp)) != round.end()) found.push_back(stamp);
  }
  return found;
}

}  // namespace hone::pipeline
