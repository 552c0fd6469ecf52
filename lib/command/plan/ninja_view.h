// The outdated edges of a work folder, as Ninja sees them: for hone-plan --why and --export-jobs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/ninja_writer.h"

namespace hone::command {

struct DirtyEdge {
  const pipeline::NinjaBuild* build = nullptr;
  std::string command;  // as Ninja would give it to a shell
};

// The last run of an edge, by .ninja_log.
struct LoggedRun {
  double seconds = 0;
  double read = 0;  // unix seconds; an input that was changed later makes the edge outdated
};

struct NinjaView {
  std::vector<pipeline::NinjaBuild> builds;     // of the whole manifest
  std::map<std::string, size_t> makers;         // path -> index into `builds`
  std::map<std::string, std::string> commands;  // first output -> command
  std::map<std::string, LoggedRun> logged;      // by output
  std::vector<DirtyEdge> dirty;                 // each after its inputs; without aliases

  // The edge that makes a path; null: none does.
  const pipeline::NinjaBuild* Maker(const std::string& path) const;
};

// Reads WORK/build.ninja and asks Ninja (found in PATH) about `targets`. Nothing is run or written, the manifest's own
// edge is ignored. kNotFound without manifest or Ninja, kInvalid for a target that is not known, with Ninja's
// suggestion. Without targets: the commands alone.
Result<NinjaView> LookAtWork(const std::string& work, const std::vector<std::string>& targets);

}  // namespace hone::command
