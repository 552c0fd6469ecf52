#include "record/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"

namespace hone::record {

constexpr double kRelative = 1e-12;  // tolerance for sums in another order

std::vector<std::pair<const char*, std::string Meta::*>> MetaFields() {
  return {{"task_id", &Meta::task_id}, {"workload", &Meta::workload}, {"target", &Meta::target}};
}

Result<TemplateVersions> ReadTemplates(Database* db, int64_t version) {
  TemplateVersions templates;
  if (version < 3) {  // 'conv2d_direct=4,conv2d_winograd=2', for all trials
    HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("SELECT value FROM meta WHERE key = 'space_version'"));
    HONE_ASSIGN_OR_RETURN(const bool row, s.Step());
    for (const std::string& part : Split(row ? s.Text(0) : "", ',')) {
      const size_t equals = part.find('=');
      if (equals == std::string::npos) continue;
      templates[part.substr(0, equals)] = std::strtoll(part.c_str() + equals + 1, nullptr, 10);
    }
    return templates;
  }
  HONE_RETURN_IF_ERROR(
      db->Each("SELECT name, version FROM template", [&](const Statement& s) { templates[s.Text(0)] = s.Int(1); }));
  return templates;
}

Session SessionOfRow(const Statement& row) {
  Session s;
  std::string seed;
  row.Read(&s.id, &s.started, &s.ended, &s.host, &s.device, &s.driver, &s.fingerprint, &s.tool_version,
           &s.codegen_version, &s.protocol_version, &seed, &s.settings, &s.tuning_seconds);
  s.seed = std::strtoull(seed.c_str(), nullptr, 10);
  if (s.ended < 0) s.killed_before = -std::exchange(s.ended, 0);
  return s;
}

Status InsertSession(Database* db, const Session& s) {
  const double end = s.ended > 0 ? s.ended : -s.killed_before;
  return db->Run(fmt::format("INSERT INTO session({}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", kSessionColumns),
                 s.id > 0 ? std::optional(s.id) : std::nullopt, s.started,
                 end != 0 ? std::optional(end) : std::nullopt, s.host, s.device, s.driver, s.fingerprint,
                 s.tool_version, s.codegen_version, s.protocol_version, std::to_string(s.seed), s.settings,
                 s.tuning_seconds);
}

std::string TrialColumns(int64_t version) {
  return std::string(
             "ordinal, session, config, state, median, error, error_text, artifact_digest, compile_seconds, "
             "measure_seconds, proposer, steps, ") +
         (version < 2 ? "0, 0" : "disturbed, retaken") + (version < 3 ? ", 0" : ", template_version");
}

Result<Trial> TrialOfRow(const Statement& row) {
  Trial t;
  Outcome& o = t.outcome;
  std::string config, state, error;
  row.Read(&t.ordinal, &t.session, &config, &state, &o.median, &error, &o.error_text, &o.artifact_digest,
           &o.compile_seconds, &o.measure_seconds, &o.proposer, &o.steps, &o.disturbed, &o.retaken,
           &t.template_version);
  const auto parse = [&]() -> Status {
    HONE_ASSIGN_OR_RETURN(o.config, Config::FromJson(config));
    HONE_ASSIGN_OR_RETURN(o.state, ParseTrialState(state));
    HONE_ASSIGN_OR_RETURN(o.error, ParseTrialError(error));
    return Status();
  };
  const Status parsed = parse();
  if (!parsed.ok()) return Status::Corrupt("trial {}: {}", t.ordinal, parsed.message());
  return t;
}

Status ReadSamples(Database* db, Trial* trial) {
  HONE_ASSIGN_OR_RETURN(Statement s,
                        db->Prepare("SELECT seconds, round FROM sample WHERE trial = ? ORDER BY sequence"));
  return s.Bind(trial->ordinal).Each([&](const Statement& row) {
    trial->outcome.samples.push_back(row.Real(0));
    trial->rounds.push_back(row.Int(1));
  });
}

std::optional<double> MedianOf(const Outcome& outcome) {
  return outcome.state == TrialState::kFailed ? std::nullopt : std::optional(outcome.median);
}

Result<TrialWriter> TrialWriter::Prepare(Database* db) {
  HONE_ASSIGN_OR_RETURN(
      Statement trial,
      db->Prepare("INSERT INTO trial(ordinal, session, config, config_digest, artifact_digest, state, median, count, "
                  "error, error_text, compile_seconds, measure_seconds, proposer, steps, disturbed, retaken, "
                  "template, template_version) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  HONE_ASSIGN_OR_RETURN(Statement sample,
                        db->Prepare("INSERT INTO sample(trial, sequence, round, seconds) VALUES (?,?,?,?)"));
  return TrialWriter(std::move(trial), std::move(sample));
}

Status TrialWriter::Write(int64_t ordinal, int64_t session, int64_t version, const Outcome& o,
                          const std::vector<int64_t>& rounds) {
  trial_.Bind(ordinal, session, o.config.ToJson(), o.config.ValueDigest().Hex(), o.artifact_digest,
              TrialStateName(o.state), MedianOf(o), o.samples.size(), TrialErrorName(o.error), o.error_text,
              o.compile_seconds, o.measure_seconds, o.proposer, o.steps, o.disturbed, o.retaken, o.config.template_name,
              version);
  HONE_RETURN_IF_ERROR(trial_.Run());
  for (size_t i = 0; i < o.samples.size(); ++i) {
    const int64_t round = rounds.empty() ? 0 : rounds[i];
    HONE_RETURN_IF_ERROR(WriteSample(ordinal, static_cast<int64_t>(i), round, o.samples[i]));
  }
  return Status();
}

Status TrialWriter::WriteSample(int64_t ordinal, int64_t sequence, int64_t round, double seconds) {
  return sample_.Bind(ordinal, sequence, round, seconds).Run();
}

double MedianOfSamples(const Trial& trial) {
  const std::vector<double> samples = trial.LastRound();
  return trial.outcome.state == TrialState::kPruned ? *std::ranges::min_element(samples) : Median(samples);
}

bool IsOfSamples(double stored, const Trial& trial, bool trimmed_means) {
  const auto is = [stored](double expected) { return std::abs(stored - expected) <= kRelative * expected; };
  if (is(MedianOfSamples(trial))) return true;
  return trimmed_means && trial.outcome.state == TrialState::kOk && trial.rounds.back() == 0 &&
         is(TrimmedMean(trial.LastRound()));
}

}  // namespace hone::record
