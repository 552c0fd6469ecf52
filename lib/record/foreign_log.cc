#include "record/foreign_log.h"

#include <fcntl.h>

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone::record {
namespace {

constexpr size_t kMaxLine = size_t{64} << 20;

const char* ErrorName(int64_t number) {
  static const char* const names[] = {"",      "instantiation", "compile-host", "compile-device", "runtime",
                                      "wrong", "build-timeout", "run-timeout",  "unknown"};
  return number >= 0 && number <= 8 ? names[number] : "unknown";
}

// Python writes NaN, Infinity and -Infinity, which JSON lacks. Replaces them, and numbers that no double can hold, by
// null.
std::string WithoutStrangeNumbers(std::string_view line) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < line.size()) out += line[++i];
      in_string = c != '"';
      ++i;
      continue;
    }
    in_string = c == '"';
    const size_t end = std::min(line.find_first_of(",:[]{}\" \t\r\n", i), line.size());
    const std::string word(line.substr(i, end - i));
    const bool number = !word.empty() && (std::isdigit(static_cast<unsigned char>(word.back())) != 0);
    const bool strange = word == "NaN" || word == "Infinity" || word == "-Infinity" ||
                         (number && std::isinf(std::strtod(word.c_str(), nullptr)));
    out += strange ? "null" : word.empty() ? std::string(1, c) : word;
    i = word.empty() ? i + 1 : end;
  }
  return out;
}

}  // namespace

Result<Json> ParseLogLine(std::string_view line) {
  Result<Json> parsed = ParseJson(line, "");
  if (!parsed.ok()) {
    Result<Json> again = ParseJson(WithoutStrangeNumbers(line), "");
    // Its message begins with ":1:".
    if (!again.ok()) return Status::Invalid("broken JSON at column " + parsed.status().message().substr(3));
    parsed = std::move(again);
  }
  if (!parsed->is_object()) return Status::Invalid("no JSON object");
  return parsed;
}

bool IsLogResult(const Json& result) {
  return result.is_array() && result.size() >= 2 && result[0].is_array() && result[1].is_number_integer();
}

void ReadLogResult(const Json& result, ForeignRecord* record) {
  record->error = ErrorName(result[1].get<int64_t>());
  double sum = 0;
  for (const Json& cost : result[0]) {
    const double seconds = cost.is_number() ? cost.get<double>() : 0;
    if (!(seconds > 0) || seconds >= kFailedCost) {
      if (record->error.empty()) record->error = "no-time";
      return;
    }
    sum += seconds;
  }
  if (record->error.empty() && result[0].empty()) record->error = "no-time";
  record->ok = record->error.empty();
  if (record->ok) record->seconds = sum / static_cast<double>(result[0].size());
}

Result<ImportCounts> ImportLines(const std::string& path, const std::string& db, const std::string& name,
                                 const ReadLine& read, const std::function<void(int64_t, const std::string&)>& report) {
  HONE_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDONLY));
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(fd.get(), "rb"), &std::fclose);
  if (file == nullptr) return ErrnoStatus(errno, path + ": cannot read");
  (void)fd.Release();  // `file` closes it
  ForeignImport import(db);
  ImportCounts& counts = import.counts;
  Status first_problem;

  const auto take = [&](std::string_view line, bool ended) -> Status {
    ++counts.lines;
    const std::string_view text = Trim(line);
    if (text.empty() || text.front() == '#') {
      ++counts.comments;
      return Status();
    }
    const Result<ForeignRecord> record = read(line);
    if (!record.ok()) {
      counts.torn = !ended && record.status().kind() == StatusKind::kInvalid;
      report(counts.lines,
             counts.torn ? "the last line is cut off; import again once it is whole" : record.status().message());
      if (!counts.torn) ++counts.skipped;
      if (first_problem.ok()) first_problem = record.status();
      return Status();
    }
    return import.Add(*record);
  };

  std::string pending;
  std::vector<char> chunk(size_t{1} << 20);
  while (const size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    if (Interrupted()) return Status(StatusKind::kInterrupted, "interrupted: nothing was imported");
    std::string_view rest(chunk.data(), got);
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      pending += rest.substr(0, end);
      HONE_RETURN_IF_ERROR(take(pending, true));
      pending.clear();
      rest.remove_prefix(end + 1);
    }
    pending += rest;
    if (pending.size() > kMaxLine) {
      return Status::Invalid("{}:{}: a line of more than 64 MiB; this is not a log", path, counts.lines + 1);
    }
  }
  if (std::ferror(file.get()) != 0) return Status::Io(path + ": cannot be read to its end; nothing was imported");
  if (!pending.empty()) HONE_RETURN_IF_ERROR(take(pending, false));
  if (import.empty()) {
    return Status(first_problem.ok() ? StatusKind::kInvalid : first_problem.kind(),
                  fmt::format("{}: no record of {} in {}{}", path, name, Counted(counts.lines, "line"),
                              first_problem.ok() ? "" : "; the first problem: " + first_problem.message()));
  }
  HONE_RETURN_IF_ERROR(import.Commit());
  return counts;
}

}  // namespace hone::record
