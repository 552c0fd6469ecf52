#include "record/salvage.h"

#include <filesystem>
#include <optional>

#include "base/counted.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/records/records.h"
#include "record/store.h"

namespace hone::command {

namespace {

// Removes the second name, or the copy, that was left where the file was not replaced. Fails if its bytes cannot be
// compared.
Status TidyAfter(const std::string& file, const std::string& damaged) {
  std::error_code error;
  if (std::filesystem::equivalent(file, damaged, error)) return Remove(damaged);
  const Result<int64_t> size = FileSize(file), kept_size = FileSize(damaged);
  if (!size.ok() || !kept_size.ok() || *size != *kept_size) return Status();
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
  HONE_ASSIGN_OR_RETURN(const std::string kept, ReadFile(damaged));
  return bytes == kept ? Remove(damaged) : Status();
}

// The damaged file gets a second name or a copy first, so that there is a record file under its own name at any moment.
Status Replace(const std::string& file, const std::string& salvaged, const std::string& damaged) {
  if (const Status shared = ShareFile(file, damaged); !shared.ok()) {
    if (Exists(damaged)) return shared;  // only its folder could not be synced; the next salvage removes it
    // A file system without such links.
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(damaged, bytes));
  }
  const Status renamed = Rename(salvaged, file);
  if (!renamed.ok()) (void)TidyAfter(file, damaged).ok();
  return renamed;
}

Status CheckSound(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(file));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> findings, store->Verify());
  return findings.empty() ? Status() : Status::Corrupt(findings[0]);
}

Status Save(const std::string& file, const std::string& target, record::SalvageCount* count) {
  HONE_ASSIGN_OR_RETURN(*count, record::SalvageRecords(file, target));
  // Never hand out an incomplete file.
  return CheckSound(target).WithContext(target + ": the salvaged records are inconsistent");
}

Status Salvage(const std::string& file, const std::string& out) {
  std::optional<FileLock> lock;
  std::optional<Heartbeat> heartbeat;
  const bool in_place = out.empty();
  const std::string target = in_place ? file + ".salvaged" : out, damaged = file + ".damaged";
  if (in_place) {
    if (!Exists(file)) return Status::NotFound(file + ": no such record file");
    HONE_ASSIGN_OR_RETURN(FileLock job, FileLock::Acquire(file + ".lock"));
    lock.emplace(std::move(job));
    heartbeat.emplace(&*lock);
    HONE_RETURN_IF_ERROR(TidyAfter(file, damaged));
    if (Exists(damaged)) {
      const Status sound = CheckSound(file);
      if (!sound.ok() && sound.kind() != StatusKind::kCorrupt) return sound;
      if (!sound.ok()) {
        return Status::Invalid(damaged + ": exists from an earlier salvage; move it away or use --out");
      }
      PrintOut("{}: sound, was salvaged before; the damaged file is {}\n", Printable(file), Printable(damaged));
      return Status();
    }
    HONE_RETURN_IF_ERROR(Remove(target));  // left by a killed process
  }
  record::SalvageCount count;
  Status saved = Save(file, target, &count);
  if (saved.ok() && in_place) saved = heartbeat->Check();
  if (saved.ok() && in_place) saved = Replace(file, target, damaged);
  if (!saved.ok() && in_place) (void)Remove(target).ok();
  HONE_RETURN_IF_ERROR(saved);
  PrintOut("{}: {} saved, {} lost{}\n", Printable(in_place ? file : out), Counted(count.trials, "trial"), count.lost,
           in_place ? "; the damaged file is now " + Printable(damaged) : "");
  return Status();
}

}  // namespace

int SalvageFile(const std::string& file, const std::string& out) { return ExitCodeOf(Salvage(file, out)); }

}  // namespace hone::command
