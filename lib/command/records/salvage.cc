#include "record/salvage.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/records/records.h"
#include "record/store.h"

namespace hone::command {

static Status Salvage(const std::string& file, const std::string& out) {
  std::optional<FileLock> lock;
  std::optional<Heartbeat> heartbeat;
  if (out.empty()) {
    if (!Exists(file)) return Status::NotFound(file + ": no such record file");
    HONE_ASSIGN_OR_RETURN(FileLock job, FileLock::Acquire(file + ".lock"));
    lock.emplace(std::move(job));
    heartbeat.emplace(&*lock);
    if (Exists(file + ".damaged")) {
      return Status::Invalid(file + ".damaged: exists from an earlier salvage; move it away or use --out");
    }
  }
  const std::string target = out.empty() ? file + ".salvaged" : out;
  if (out.empty()) HONE_RETURN_IF_ERROR(Remove(target));  // left by a killed process
  HONE_ASSIGN_OR_RETURN(const record::SalvageCount count, record::SalvageRecords(file, target));
  // Never hand out an incomplete file.
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(target));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> findings, store->Verify());
  if (!findings.empty()) {
    return Status::Corrupt("{}: the salvaged records are inconsistent: {}", target, findings[0]);
  }
  if (out.empty()) {
    HONE_RETURN_IF_ERROR(heartbeat->Check());
    HONE_RETURN_IF_ERROR(Rename(file, file + ".damaged"));
    HONE_RETURN_IF_ERROR(Rename(target, file));
  }
  PrintOut(fmt::format("{}: {} trials saved, {} lost{}\n", Printable(out.empty() ? file : out), count.trials,
                       count.lost, out.empty() ? "; the damaged file is now " + Printable(file) + ".damaged" : ""));
  return Status();
}

int SalvageFile(const std::string& file, const std::string& out) { return ExitCodeOf(Salvage(file, out)); }

}  // namespace hone::command
