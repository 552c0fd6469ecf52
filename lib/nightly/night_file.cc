#include "nightly/night_file.h"

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/lock.h"

namespace hone::nightly {
namespace {

struct NightFile {
  std::string night;
  double opened = 0;
  bool closed = true;
};

constexpr int kNightsAMinute = 60;

// In the form of FormatIso8601, as names become parts of paths.
bool IsNightName(const std::string& name) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  const auto fits = [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; };
  return std::equal(name.begin(), name.end(), kForm.begin(), kForm.end(), fits);
}

std::string PathOf(const std::string& nights) { return JoinPath(nights, "night.json"); }

void ListFields(Fields* f, NightFile* file) {
  f->Version(1);
  f->Value("night", &file->night).Check(IsNightName(file->night), "expected a time such as 2026-11-21T03:00:00Z");
  HONE_VALUES(f, file->opened, file->closed);
}

Result<NightFile> ReadNightFile(const std::string& nights) {
  return Exists(PathOf(nights)) ? ReadFields<NightFile>(PathOf(nights)) : NightFile();
}

Status WriteNightFile(const std::string& nights, const NightFile& file) {
  return WriteFileAtomic(PathOf(nights), FieldsText(file));
}

// Jobs of several devices may open a night at the same time. Held only briefly.
Result<FileLock> Lock(const std::string& nights) {
  HONE_RETURN_IF_ERROR(MakeDirs(nights));
  return FileLock::AcquireWithin(PathOf(nights) + ".lock", 10);
}

}  // namespace

Result<std::string> OpenNight(const std::string& nights, double now) {
  HONE_ASSIGN_OR_RETURN(const FileLock lock, Lock(nights));
  HONE_ASSIGN_OR_RETURN(NightFile file, ReadNightFile(nights));
  // If the clock was set back, a night lies in the future and would never end.
  const bool fresh = now - file.opened < kLongestNight && file.opened <= now;
  if (!file.closed && fresh) return file.night;
  const std::string before = file.night;
  file = {FormatIso8601(now), now, false};
  // Two nights within a second: names must be unique and ordered.
  for (int more = 0; file.night <= before && fresh; file.night = FormatIso8601(++now)) {
    if (++more > kNightsAMinute)
      return Status::Invalid(PathOf(nights) + ": its night is of the future; delete the file");
  }
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
