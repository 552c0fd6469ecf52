#include "session/aside.h"

#include <fmt/format.h>

#include "base/file.h"
#include "record/store.h"

namespace hone::session {
Result<std::string> SetAsideOldSpace(const std::string& db_path, const std::string& task_id,
                                     const std::string& space_version) {
  std::string done;
  if (Exists(db_path)) {
    auto old = record::Store::OpenForReading(db_path);
    if (!old.ok() || (*old)->meta().space_version == space_version) return done;
    if ((*old)->meta().task_id != task_id) return done;
    const std::string plain = db_path + "." + (*old)->meta().space_version;
    (*old).reset();
    std::string aside = plain;
    for (int i = 2; Exists(aside); ++i) aside = fmt::format("{}.{}", plain, i);
    HONE_RETURN_IF_ERROR(Rename(db_path, aside));
    done = fmt::format("the templates have changed to {}; the old records are kept as {}", space_version, aside);
  }
  const std::string ours = db_path + "." + space_version;
  if (!Exists(ours)) return done;
  HONE_RETURN_IF_ERROR(Rename(ours, db_path));
  return (done.empty() ? "" : done + "; ") + fmt::format("going on with the records of {}", ours);
}

}  // namespace hone::session
