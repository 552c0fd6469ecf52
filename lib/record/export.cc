#include "base/fields.h"
#include "base/text.h"
#include "record/store.h"

namespace hone::record {

namespace {

// For a spreadsheet, and harmless to a terminal.
std::string Cell(const std::string& text) {
  const std::string line = Printable(text);
  return line.find_first_of(", \"") == std::string::npos ? line : '"' + ReplaceAll(line, "\"", "\"\"") + '"';
}

}  // namespace

Result<std::string> ExportJsonLines(const Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store.Trials());
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store.Sessions());
  const Meta& meta = store.meta();
  std::string out;
  for (const Trial& t : trials) {
    const Outcome& o = t.outcome;
    Json j = {{"version", 1}};
    j.update(HONE_JSON(meta.task_id, meta.workload, meta.target));
    for (const Session& s : sessions) {
      if (s.id == t.session) j["fingerprint"] = s.fingerprint;
    }
    j["ordinal"] = t.ordinal;
    j["session"] = t.session;
    j["config"] = ConfigJson(o.config);
    j["state"] = TrialStateName(o.state);
    j["median"] = o.state == TrialState::kFailed ? Json() : Json(o.median);
    j["error"] = TrialErrorName(o.error);
    j.update(HONE_JSON(o.error_text, o.samples, o.disturbed, o.retaken, o.artifact_digest, o.compile_seconds,
                       o.measure_seconds, o.proposer, o.steps));
    out += DumpAsciiJson(j, -1);
  }
  return out;
}

Result<std::string> ExportCsv(const Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store.Trials());
  std::string out = "task,ordinal,state,error,median_seconds,samples,compile_seconds,measure_seconds,proposer,config\n";
  for (const Trial& t : trials) {
    const Outcome& o = t.outcome;
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{}\n", Cell(store.meta().task_id), t.ordinal, TrialStateName(o.state),
        TrialErrorName(o.error), o.state == TrialState::kFailed ? "" : FormatDouble(o.median), o.samples.size(),
        FormatDouble(o.compile_seconds), FormatDouble(o.measure_seconds), Cell(o.proposer), Cell(o.config.Text()));
  }
  return out;
}

}  // namespace hone::record
