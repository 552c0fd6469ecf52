#include "session/own_sketches.h"

namespace hone::session {

Result<propose::OwnSketches> OwnSketches(const std::vector<pipeline::SketchFile>& files) {
  propose::OwnSketches sketches;
  for (const pipeline::SketchFile& file : files) {
    HONE_ASSIGN_OR_RETURN(sketches.emplace_back(), sketch::ParseSketch(file.text, file.file));
  }
  return sketches;
}

Result<propose::Proposers> ProposersOf(const pipeline::TaskFile& task, const pipeline::TuneSettings& settings) {
  using propose::Mode;
  const Mode mode = settings.mode == "templates"  ? Mode::kTemplates
                    : settings.mode == "sketches" ? Mode::kSketches
                                                  : Mode::kBoth;
  HONE_ASSIGN_OR_RETURN(const propose::OwnSketches own, OwnSketches(settings.sketches));
  return propose::ProposersOf(task.workload, task.target, mode, own);
}

}  // namespace hone::session
