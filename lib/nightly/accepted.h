// The accepted references, with which nightly runs compare libraries.
//   accepted/JOB.jsonl        a line for each acceptance; the last one is valid
//   accepted/JOB/DIGEST/      a whole copy of the library's folder, read-only: libNET.so, NET.h, NET.params,
//                             NET.graph.json, manifest.json, and the choice it was built from (choice.json)
// The first accepted library is also the canary: it is never rebuilt, so if its time changes, the machine has changed.
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
  std::map<std::string, std::string> files;  // file name -> digest of the content, hex
};

// The digest of library, parameters and graph: equal digests mean the same artifact. `name` is that in libNAME.so.
std::string ArtifactDigest(const std::map<std::string, std::string>& files, const std::string& name);

// The digest of the library NAME in `dir`, from the contents of its files.
Result<std::string> FolderDigest(const std::string& dir, const std::string& name);

std::string AcceptanceText(const Acceptance& acceptance);  // one line, with its newline
// The lines in order, without a torn last line. Returns kInvalid or kUnsupported with `path` and the line.
Result<std::vector<Acceptance>> ParseAcceptances(std::string_view text, const std::string& path);

// Paths; `accepted` is the folder.
std::string AcceptedLogPath(const std::string& accepted, const std::string& job);
std::string AcceptedDir(const std::string& accepted, const std::string& job, const std::string& digest);
// The choice that a reference was built from, in its folder.
inline constexpr const char* kChoiceFile = "choice.json";

// Never empty: returns kNotFound, with how to accept, if nothing was accepted; else errors as above.
Result<std::vector<Acceptance>> ReadAcceptances(const std::string& accepted, const std::string& job);
// Names of all jobs with a reference, sorted; empty without the folder.
Result<std::vector<std::string>> AcceptedJobs(const std::string& accepted);

// Checks that the copy equals what was accepted, byte for byte. Returns kCorrupt or kNotFound with the file and what to
// do.
Status CheckAccepted(const std::string& accepted, const std::string& job, const Acceptance& acceptance);

struct AcceptInput {
  std::string accepted, job;
  std::string dir;     // of the library
  std::string choice;  // path of the choice it was built from, copied as kChoiceFile; empty: unknown
  // Called once the digests of the files are known; an error rejects the library. Null: no check.
  std::function<Status()> check = {};
  // Called before the line is written: copying may have taken so long that the lock is lost. Null: no check.
  std::function<Status()> still_ours = {};
};

// Copies the files, then appends the line, so that a reference is never half accepted. Fill in all of `acceptance`
// except digest, before and files, and hold the job's lock. Returns the valid acceptance. If the library already is the
// reference, changes nothing and sets `moved` to false.
Result<Acceptance> Accept(const AcceptInput& input, Acceptance acceptance, bool* moved);

}  // namespace hone::nightly
