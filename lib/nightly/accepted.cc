#include "nightly/accepted.h"

#include <unistd.h>

#include <algorithm>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kAcceptedVersion = 1;

// Names in the file become paths.
bool PlainName(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Result<std::map<std::string, std::string>> FilesFromJson(const Json& json) {
  std::map<std::string, std::string> files;
  for (const auto& item : json.items()) {
    if (!json.is_object() || !item.value().is_string()) return Status::Invalid("expected the files' digests");
    if (!PlainName(item.key()))
      return Status::Invalid("'" + Printable(item.key()) + "' is no name of a file in a folder");
    files[item.key()] = item.value().get<std::string>();
  }
  return files;
}

Result<std::string> FileDigest(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return Digest128(bytes).Hex();
}

// A file that another accepted folder already has is linked to it, as parameters are large.
Status CopyFile(const std::string& from, const std::string& to, const std::string& twin, const std::string& digest) {
  if (!twin.empty() && ShareFile(twin, to).ok()) return Status();
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(from));
  if (Digest128(bytes).Hex() != digest)
    return Status::Corrupt(from + ": changed while it was being accepted; accept again once its build is done");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(to, bytes));
  return MakeReadOnly(to);
}

// The path of a file with this name and digest in `acceptance`'s folder; empty if the file is missing or damaged.
std::string Twin(const std::string& accepted, const std::string& job, const std::vector<Acceptance>& log,
                 const std::string& name, const std::string& digest) {
  for (const Acceptance& other : log) {
    const auto found = other.files.find(name);
    if (found == other.files.end() || found->second != digest) continue;
    const std::string path = JoinPath(AcceptedDir(accepted, job, other.digest), name);
    const Result<std::string> now = FileDigest(path);
    if (now.ok() && *now == digest) return path;
  }
  return "";
}

Status CopyFolder(const std::string& accepted, const std::string& job, const std::map<std::string, std::string>& from,
                  const std::vector<Acceptance>& log, const Acceptance& acceptance) {
  const std::string to = AcceptedDir(accepted, job, acceptance.digest);
  if (CheckAccepted(accepted, job, acceptance).ok()) return Status();  // it was accepted before
  HONE_RETURN_IF_ERROR(RemoveTree(to));
  const std::string temporary = fmt::format("{}.{}", to, getpid());
  HONE_RETURN_IF_ERROR(RemoveTree(temporary));
  HONE_RETURN_IF_ERROR(MakeDirs(temporary));
  Status status;
  for (const auto& [name, path] : from) {
    const std::string& digest = acceptance.files.at(name);
    status = CopyFile(path, JoinPath(temporary, name), Twin(accepted, job, log, name, digest), digest);
    if (!status.ok()) break;
  }
  if (status.ok()) status = Rename(temporary, to);
  if (!status.ok()) (void)RemoveTree(temporary);
  return status;
}

Result<std::vector<Acceptance>> ReadLog(const std::string& path) {
  if (!Exists(path)) return std::vector<Acceptance>();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseAcceptances(text, path);
}

}  // namespace

std::string ArtifactDigest(const std::map<std::string, std::string>& files, const std::string& name) {
  std::string text;
  for (const std::string& file : {"lib" + name + ".so", name + ".params", name + ".graph.json"}) {
    const auto found = files.find(file);
    text += (found == files.end() ? "" : found->second) + "\n";
  }
  return Digest128(text).Hex();
}

Result<std::string> FolderDigest(const std::string& dir, const std::string& name) {
  std::map<std::string, std::string> files;
  for (const std::string& file : {"lib" + name + ".so", name + ".params", name + ".graph.json"}) {
    HONE_ASSIGN_OR_RETURN(files[file], FileDigest(JoinPath(dir, file)));
  }
  return ArtifactDigest(files, name);
}

static void ListFields(Fields* f, Acceptance* a) {
  f->Version(kAcceptedVersion);
  for (const auto& [key, value] : {std::pair{"recorded", &a->recorded},
                                   {"by", &a->by},
                                   {"reason", &a->reason},
                                   {"digest", &a->digest},
                                   {"before", &a->before},
                                   {"network", &a->network},
                                   {"target", &a->target},
                                   {"name", &a->name}}) {
    f->Value(key, value);
  }
  f->As(
      "files", &a->files, [](const auto& files) { return Json(files); }, FilesFromJson);
  if (!f->reading() || !f->status().ok()) return;
  if (!ParseDigest(a->digest).ok() || a->digest != ArtifactDigest(a->files, a->name))
    f->Fail("digest", "is not that of the files");
}

std::string AcceptanceText(const Acceptance& a) { return FieldsText(a, -1); }

Result<std::vector<Acceptance>> ParseAcceptances(std::string_view text, const std::string& path) {
  std::vector<std::string> damaged;
  HONE_ASSIGN_OR_RETURN(std::vector<Acceptance> log, ParseLines<Acceptance>(text, path, &damaged));
  // A lost line may be the valid one: do not guess.
  if (!damaged.empty())
    return Status::Corrupt(damaged[0] + "; remove the line, or accept again with hone-report accept");
  return log;
}

std::string AcceptedLogPath(const std::string& accepted, const std::string& job) {
  return JoinPath(accepted, job + ".jsonl");
}

std::string AcceptedDir(const std::string& accepted, const std::string& job, const std::string& digest) {
  return JoinPath(JoinPath(accepted, job), digest);
}

Result<std::vector<Acceptance>> ReadAcceptances(const std::string& accepted, const std::string& job) {
  const std::string path = AcceptedLogPath(accepted, job);
  const Status nothing = Status::NotFound(
      "{}: no library of {} is accepted yet: build one and run `hone-report accept --reason WHY {}` in the work folder",
      path, job, job);
  HONE_ASSIGN_OR_RETURN(std::vector<Acceptance> log, ReadLog(path));
  if (log.empty()) return nothing;
  return log;
}

Result<std::vector<std::string>> AcceptedJobs(const std::string& accepted) {
  std::vector<std::string> jobs;
  if (!Exists(accepted)) return jobs;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(accepted));
  constexpr std::string_view kEnd = ".jsonl";
  for (const std::string& name : names) {
    if (EndsWith(name, kEnd) && name.size() > kEnd.size()) jobs.push_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::sort(jobs.begin(), jobs.end());  // without the ending, the order may differ
  return jobs;
}

Status CheckAccepted(const std::string& accepted, const std::string& job, const Acceptance& acceptance) {
  const std::string dir = AcceptedDir(accepted, job, acceptance.digest);
  const char* help = "bring it back from a backup, or accept another library with hone-report accept";
  for (const auto& [name, digest] : acceptance.files) {
    const std::string path = JoinPath(dir, name);
    if (!Exists(path)) return Status::NotFound("{}: is gone from the accepted library; {}", path, help);
    HONE_ASSIGN_OR_RETURN(const std::string found, FileDigest(path));
    if (found != digest) return Status::Corrupt("{}: is not what was accepted; {}", path, help);
  }
  return Status();
}

Result<Acceptance> Accept(const AcceptInput& input, Acceptance acceptance, bool* moved) {
  const std::string &accepted = input.accepted, &job = input.job, path = AcceptedLogPath(accepted, job);
  HONE_ASSIGN_OR_RETURN(const std::vector<Acceptance> log, ReadLog(path));
  std::map<std::string, std::string> from;
  const std::string& library = acceptance.name;
  for (const std::string& name : {"lib" + library + ".so", library + ".h", library + ".params", library + ".graph.json",
                                  std::string("manifest.json")}) {
    from[name] = JoinPath(input.dir, name);
  }
  if (!input.choice.empty()) from[kChoiceFile] = input.choice;
  acceptance.files.clear();
  for (const auto& [name, file] : from) {
    HONE_ASSIGN_OR_RETURN(acceptance.files[name], FileDigest(file));
  }
  acceptance.digest = ArtifactDigest(acceptance.files, acceptance.name);
  if (input.check) HONE_RETURN_IF_ERROR(input.check());
  *moved = log.empty() || log.back().digest != acceptance.digest || !CheckAccepted(accepted, job, log.back()).ok();
  if (!*moved) return log.back();
  acceptance.before = log.empty() ? "" : log.back().digest;
  HONE_RETURN_IF_ERROR(CopyFolder(accepted, job, from, log, acceptance));
  if (input.still_ours) HONE_RETURN_IF_ERROR(input.still_ours());
  HONE_RETURN_IF_ERROR(AppendLine(path, AcceptanceText(acceptance)));
  return acceptance;
}

}  // namespace hone::nightly
