#include "pipeline/stamp_files.h"

#include "base/file.h"
#include "base/text.h"

namespace hone::pipeline {

std::vector<std::string> StampsOfRecords(const std::string& db) {
  const std::string path = AbsolutePath(db), folder = DirName(path), records = DirName(folder);
  if (!EndsWith(path, ".db") || BaseName(records) != "records") return {};
  const std::string name = BaseName(path), task = name.substr(0, name.size() - 3), target = BaseName(folder);
  const std::string stamps = JoinPath(DirName(records), "stamps");
  const auto names = ListDir(stamps);
  if (!names.ok()) return {};  // nothing has been tuned by Ninja
  std::vector<std::string> found;
  for (const std::string& entry : *names) {
    if (StartsWith(entry, task + "." + target + ".") && EndsWith(entry, ".done"))
      found.push_back(JoinPath(stamps, entry));
    // A round: NET.TARGET.rK/TASKID.done.
    const size_t round = entry.rfind(".r");
    if (round == std::string::npos || !EndsWith(entry.substr(0, round), "." + target)) continue;
    const std::string stamp = JoinPath(JoinPath(stamps, entry), task + ".done");
    if (Exists(stamp)) found.push_back(stamp);
  }
  return found;
}

}  // namespace hone::pipeline
