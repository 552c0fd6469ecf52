#include "nightly/night_file.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"

namespace hone::nightly {
namespace {

struct NightFile {
  std::string night;
  double opened = 0;
  bool closed = true;
};

std::string PathOf(const std::string& nights) { return JoinPath(nights, "night.json"); }

Result<NightFile> ReadNightFile(const std::string& nights) {
  NightFile file;
  if (!Exists(PathOf(nights))) return file;
  HONE_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(PathOf(nights)));
  JsonReader reader(json, PathOf(nights));
  HONE_RETURN_IF_ERROR(reader.ReadVersion(1));
  HONE_RETURN_IF_ERROR(reader.Read("night", &file.night));
  HONE_RETURN_IF_ERROR(reader.Read("opened", &file.opened));
  HONE_RETURN_IF_ERROR(reader.Read("closed", &file.closed));
  HONE_RETURN_IF_ERROR(reader.Finish());
  return file;
}

Status WriteNightFile(const std::string& nights, const NightFile& file) {
  const Json json = {{"version", 1}, {"night", file.night}, {"opened", file.opened}, {"closed", file.closed}};
  return WriteFileAtomic(PathOf(nights), DumpJson(json));
}

// Jobs of several devices open a night at the same time. Held for a moment only.
Result<FileLock> Lock(const std::string& nights) {
  HONE_RETURN_IF_ERROR(MakeDirs(nights));
  const double end = RealClock()->NowSeconds() + 10;
  for (;;) {
    Result<FileLock> lock = FileLock::Acquire(PathOf(nights) + ".lock");
    if (lock.ok() || lock.status().kind() != StatusKind::kLocked || RealClock()->NowSeconds() > end) return lock;
    RealClock()->SleepSeconds(0.02);
  }
}

}  // namespace

Result<std::string> OpenNight(const std::string& nights, double now) {
  HONE_ASSIGN_OR_RETURN(const FileLock lock, Lock(nights));
  HONE_ASSIGN_OR_RETURN(NightFile file, ReadNightFile(nights));
  // A clock that was set back makes a night of the future, which would never end.
  const bool fresh = now - file.opened < kLongestNight && file.opened <= now;
  if (!file.closed && fresh) return file.night;
  const std::string before = file.night;
  file = {FormatIso8601(now), now, false};
  // Two within a second: names are unique, and in order.
  while (file.night <= before && fresh) file.night = FormatIso8601(++now);
  HONE_RETURN_IF_ERROR(WriteNightFile(nights, file));
  return file.night;
}

Result<std::string> LastNight(const std::string& nights) {
  HONE_ASSIGN_OR_RETURN(const NightFile file, ReadNightFile(nights));
  return file.night;
}

Status CloseNight(const std::string& nights) {
  if (!Exists(PathOf(nights))) return Status();
  HONE_ASSIGN_OR_RETURN(const FileLock lock, Lock(nights));
  HONE_ASSIGN_OR_RETURN(NightFile file, ReadNightFile(nights));
  if (file.closed) return Status();
  file.closed = true;
  return WriteNightFile(nights, file);
}

std::string SeriesDir(const std::string& nights, const std::string& series) {
  return series == "main" ? nights : JoinPath(nights, series);
}

std::string HistoryPath(const std::string& nights, const std::string& series, const std::string& job) {
  return JoinPath(SeriesDir(nights, series), job + ".jsonl");
}

std::string TonightPath(const std::string& nights, const std::string& series, const std::string& job) {
  return JoinPath(SeriesDir(nights, series), job + ".tonight");
}

}  // namespace hone::nightly
