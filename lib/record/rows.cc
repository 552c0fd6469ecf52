#include "record/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/statistics.h"
#include "base/text.h"
#include "task/protocol.h"

namespace hone::record {
namespace {

constexpr double kRelative = 1e-12;  // tolerance for sums in another order

}  // namespace

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
  HONE_RETURN_IF_ERROR(db->Each("SELECT name, version FROM template",
                                [&](const Statement& s) { templates[s.Text(0)] = s.Int(1); }));
  return templates;
}

Session SessionOfRow(const Statement& row) {
  Session s;
  s.id = row.Int(0);
  s.started = row.Real(1);
  s.ended = row.Real(2);
  s.host = row.Text(3);
  s.device = row.Text(4);
  s.driver = row.Text(5);
  s.fingerprint = row.Text(6);
  s.trimmed_means = CountsTrimmedMeans(s.fingerprint);
  s.tool_version = row.Text(7);
  s.codegen_version = row.Text(8);
  s.protocol_version = row.Text(9);
  s.seed = std::strtoull(row.Text(10).c_str(), nullptr, 10);
  s.settings = row.Text(11);
  s.tuning_seconds = row.Real(12);
  return s;
}

Status InsertSession(Database* db, const Session& s) {
  HONE_ASSIGN_OR_RETURN(Statement insert, db->Prepare(fmt::format("INSERT INTO session({}) VALUES "
                                                                  "(?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                                                  kSessionColumns)));
  s.id > 0 ? insert.Bind(s.id) : insert.BindNull();
  insert.Bind(s.started);
  s.ended > 0 ? insert.Bind(s.ended) : insert.BindNull();
  return insert.Bind(s.host)
      .Bind(s.device)
      .Bind(s.driver)
      .Bind(s.fingerprint)
      .Bind(s.tool_version)
      .Bind(s.codegen_version)
      .Bind(s.protocol_version)
      .Bind(std::to_string(s.seed))
      .Bind(s.settings)
      .Bind(s.tuning_seconds)
      .Run();
}

std::string TrialColumns(int64_t version) {
  return std::string(
             "ordinal, session, config, state, median, error, error_text, artifact_digest, compile_seconds, "
             "measure_seconds, proposer, steps, ") +
         (version < 2 ? "0, 0" : "disturbed, retaken") + (version < 3 ? ", 0" : ", template_version");
}

Result<Trial> TrialOfRow(const Statement& row) {
  Trial t;
  t.ordinal = row.Int(0);
  t.session = row.Int(1);
  const auto damaged = [&](const Status& why) {
    return Status::Corrupt(fmt::format("trial {}: {}", t.ordinal, why.message()));
  };
  Result<Config> config = Config::FromJson(row.Text(2));
  if (!config.ok()) return damaged(config.status());
  Result<TrialState> state = ParseTrialState(row.Text(3));
  if (!state.ok()) return damaged(state.status());
  Result<TrialError> error = ParseTrialError(row.Text(5));
  if (!error.ok()) return damaged(error.status());
  Outcome& o = t.outcome;
  o.config = std::move(*config);
  o.state = *state;
  o.median = row.Real(4);
  o.error = *error;
  o.error_text = row.Text(6);
  o.artifact_digest = row.Text(7);
  o.compile_seconds = row.Real(8);
  o.measure_seconds = row.Real(9);
  o.proposer = row.Text(10);
  o.steps = row.Text(11);
  o.disturbed = row.Int(12);
  o.retaken = row.Int(13);
  t.template_version = row.Int(14);
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
  trial_.Bind(ordinal).Bind(session).Bind(o.config.ToJson()).Bind(o.config.ValueDigest().Hex());
  trial_.Bind(o.artifact_digest).Bind(std::string(TrialStateName(o.state)));
  o.state == TrialState::kFailed ? trial_.BindNull() : trial_.Bind(o.median);
  HONE_RETURN_IF_ERROR(trial_.Bind(static_cast<int64_t>(o.samples.size()))
                           .Bind(std::string(TrialErrorName(o.error)))
                           .Bind(o.error_text)
                           .Bind(o.compile_seconds)
                           .Bind(o.measure_seconds)
                           .Bind(o.proposer)
                           .Bind(o.steps)
                           .Bind(o.disturbed)
                           .Bind(o.retaken)
                           .Bind(o.config.template_name)
                           .Bind(version)
                           .Run());
  for (size_t i = 0; i < o.samples.size(); ++i) {
    const int64_t round = rounds.empty() ? 0 : rounds[i];
    HONE_RETURN_IF_ERROR(WriteSample(ordinal, static_cast<int64_t>(i), round, o.samples[i]));
  }
  return Status();
}

Status TrialWriter::WriteSample(int64_t ordinal, int64_t sequence, int64_t round, double seconds) {
  return sample_.Bind(ordinal).Bind(sequence).Bind(round).Bind(seconds).Run();
}

double MedianOfSamples(const Trial& trial) {
  const std::vector<double> samples = trial.LastRound();
  return trial.outcome.state == TrialState::kPruned ? *std::min_element(samples.begin(), samples.end())
                                                    : Median(samples);
}

bool IsOfSamples(double stored, const Trial& trial, bool trimmed_means) {
  const auto is = [stored](double expected) { return std::abs(stored - expected) <= kRelative * expected; };
  if (is(MedianOfSamples(trial))) return true;
  return trimmed_means && trial.outcome.state == TrialState::kOk && trial.rounds.back() == 0 && is(TrimmedMean(trial.LastRound()));
}

}  // namespace hone::record
