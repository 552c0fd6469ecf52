// The accepted references, with which nightly runs compare libraries.
//   accepted/JOB.jsonl        a line for each acceptance; the last one is valid
//   accepted/JOB/DIGEST/      a whole copy of the library's folder, read-only: libNET.so, NET.h, NET.params,
//                             NET.graph.json, manifest.json, and the choice it was built from (choice.json)
// The first accepted library is also the canary: it is never rebuilt, so if it moves, the machine has moved.
// A line (version 1):
//   {"version": 1, "recorded": "2026-11-21T10:00:00Z", "by": "me@host", "reason": "...", "digest": "...",
//    "before": "...", "network": "...", "target": "...", "name": "resnet18", "files": {"libresnet18.so": "HEX", ..}}
// `before` is the digest of the reference that it replaces, empty for the first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::nightly {

struct Acceptance {
  std::string recorded, by, reason;
  std::string digest;  // ArtifactDigest of `files`
  std::string before;
  std::string network, target, name;
  std::map<std::string, std::string> files;  // name -> digest of its content, hex
};

// The digest of library, parameters and graph: equal digests are the same artifact. `name`: as in libNAME.so.
std::string ArtifactDigest(const std::map<std::string, std::string>& files, const std::string& name);

// Of the library NAME in `dir`, by the bytes of its files.
Result<std::string> FolderDigest(const std::string& dir, const std::string& name);

std::string AcceptanceText(const Acceptance& acceptance);  // one line, with its newline
// The lines in order. kInvalid, kUnsupported with `path` and the line; a torn last line is left out.
Result<std::vector<Acceptance>> ParseAcceptances(std::string_view text, const std::string& path);

// Paths; `accepted` is the folder.
std::string AcceptedLogPath(const std::string& accepted, const std::string& job);
std::string AcceptedDir(const std::string& accepted, const std::string& job, const std::string& digest);
// The choice a reference was built from, in its folder.
inline constexpr const char* kChoiceFile = "choice.json";

// kNotFound if nothing was accepted (the message says how to), else as above; never empty.
Result<std::vector<Acceptance>> ReadAcceptances(const std::string& accepted, const std::string& job);
// Names of all jobs that have one, sorted; none if there is no such folder.
Result<std::vector<std::string>> AcceptedJobs(const std::string& accepted);

// Is the copy what was accepted, byte for byte? kCorrupt, kNotFound with the file and what to do.
Status CheckAccepted(const std::string& accepted, const std::string& job, const Acceptance& acceptance);

struct AcceptInput {
  std::string accepted, job;
  std::string dir;     // of the library
  std::string choice;  // what it was built from, a path, copied as kChoiceFile; empty: unknown
  // Called once the digests of the files are known; an error rejects the library. Null: no check.
  std::function<Status()> check = {};
  // Called before the line is written: copying may have taken so long that the lock is lost. Null: no check.
  std::function<Status()> still_ours = {};
};

// Copies the files, then appends the line, so that nothing is half accepted. Fill in all of `acceptance` but digest,
// before and files, and hold the job's lock. Returns the valid acceptance. If the library is the reference already,
// nothing changes and `moved` is false.
Result<Acceptance> Accept(const AcceptInput& input, Acceptance acceptance, bool* moved);

}  // namespace hone::nightly
