// The outdated edges of a work folder, as Ninja sees them: for hone-plan --why and --export-jobs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/changes.h"
#include "pipeline/ninja_writer.h"

namespace hone::command {

struct DirtyEdge {
  const pipeline::NinjaBuild* build = nullptr;
  std::string command;  // as Ninja would pass it to a shell
};

// The last run of an edge, from .ninja_log.
struct LoggedRun {
  double seconds = 0;
  double read = 0;  // unix seconds; an input that was changed later makes the edge outdated
};

struct NinjaView {
  std::vector<pipeline::NinjaBuild> builds;  // all of the manifest
  std::map<std::string, size_t> makers;      // index into `builds` by output path
  std::map<std::string, LoggedRun> logged;   // by output
  std::vector<DirtyEdge> dirty;              // each after its inputs; without aliases

  // The edge that makes a path; null if no edge does.
  const pipeline::NinjaBuild* Maker(const std::string& path) const;
};

// Asks Ninja (found in PATH) what it would run for `targets` of WORK/build.ninja, which was just planned and has the
// statements `builds`. Runs and writes nothing, and ignores the manifest's own edge. Returns kNotFound without manifest
// or Ninja; kInvalid, with Ninja's suggestion, for an unknown target.
Result<NinjaView> LookAtWork(const std::string& work, const std::vector<std::string>& targets,
                             std::vector<pipeline::NinjaBuild> builds);

// The commands of all edges of WORK/build.ninja, as Ninja expands them, by their first output.
Result<std::map<std::string, std::string>> ReadCommands(const std::string& work);

// "tune conv2d-0123456789abcdef", "pick best resnet18.cpu": the rule and its subject.
std::string EdgeName(const pipeline::NinjaBuild& build);

// For an edge of rule `tune`: the texts of its inputs, empty for missing files, and the stamp it wrote last, if any.
pipeline::TuneInputs ReadTuneInputs(const std::string& work, const pipeline::NinjaBuild& build);
std::string ReadStamp(const std::string& work, const pipeline::NinjaBuild& build);

// The text of hone-plan --why TARGET, ending with a newline: why something is out of date, for the whole chain that
// leads to it; "TARGET is up to date." if there is nothing to do. Ninja lists the edges that are out of date (`view`).
// For a tuning job the digests in its stamp tell what changed; for other edges file
// times and Ninja's log tell which file changed. Runs nothing and changes nothing.
std::string WhyText(const std::string& work, const std::string& target, const NinjaView& view);

}  // namespace hone::command
