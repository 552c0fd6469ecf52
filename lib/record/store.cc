#include "record/store.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "record/schema.h"
#include "record/sqlite.h"
#include "record/verify.h"

namespace hone::record {
namespace {

constexpr char kTrialColumns[] =
    "ordinal, session, config, state, median, error, error_text, artifact_digest, compile_seconds, measure_seconds, "
    "proposer, steps";
constexpr char kLoadColumns[] = ", disturbed, retaken";  // since version 2

std::vector<std::pair<const char*, std::string Meta::*>> MetaFields() {
  return {{"task_id", &Meta::task_id},
          {"workload", &Meta::workload},
          {"target", &Meta::target},
          {"space_version", &Meta::space_version}};
}

Result<Meta> ReadMeta(Database* db) {
  Meta meta;
  for (const auto& [key, field] : MetaFields()) {
    HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("SELECT value FROM meta WHERE key = ?"));
    HONE_ASSIGN_OR_RETURN(bool row, s.Bind(std::string(key)).Step());
    if (!row) return Status::Corrupt(fmt::format("{}: `{}` is missing in table meta", db->path(), key));
    meta.*field = s.Text(0);
  }
  return meta;
}

Status WriteMeta(Database* db, const Meta& meta) {
  HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("INSERT INTO meta(key, value) VALUES (?, ?)"));
  for (const auto& [key, field] : MetaFields()) HONE_RETURN_IF_ERROR(s.Bind(std::string(key)).Bind(meta.*field).Run());
  return Status();
}

Status CheckMeta(const std::string& path, const Meta& found, const Meta& wanted) {
  for (const auto& [key, field] : MetaFields()) {
    if (found.*field == wanted.*field) continue;
    return Status::Invalid(fmt::format("{}: its {} is `{}`, not `{}`; move the file away to start this task anew", path,
                                       key, found.*field, wanted.*field));
  }
  return Status();
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::unique_ptr<Database> db, Meta meta, int64_t version)
      : db_(std::move(db)),
        meta_(std::move(meta)),
        columns_(std::string(kTrialColumns) + (version < 2 ? ", 0, 0" : kLoadColumns)) {}

  const Meta& meta() const override { return meta_; }

  Result<int64_t> BeginSession(const Session& session) override {
    HONE_ASSIGN_OR_RETURN(
        Statement s,
        db_->Prepare("INSERT INTO session(started, tuning_seconds, host, device, driver, fingerprint, tool_version, "
                     "codegen_version, protocol_version, seed, settings) VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
    HONE_RETURN_IF_ERROR(s.Bind(session.started)
                             .Bind(session.tuning_seconds)
                             .Bind(session.host)
                             .Bind(session.device)
                             .Bind(session.driver)
                             .Bind(session.fingerprint)
                             .Bind(session.tool_version)
                             .Bind(session.codegen_version)
                             .Bind(session.protocol_version)
                             .Bind(std::to_string(session.seed))
                             .Bind(session.settings)
                             .Run());
    return db_->LastRowId();
  }

  Status EndSession(int64_t id, double ended) override {
    HONE_ASSIGN_OR_RETURN(Statement s, db_->Prepare("UPDATE session SET ended = ? WHERE id = ?"));
    return s.Bind(ended).Bind(id).Run();
  }

  Status Append(int64_t session, const std::vector<Outcome>& outcomes, double tuning_seconds) override {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_.get()));
    HONE_ASSIGN_OR_RETURN(int64_t ordinal, CountTrials());
    HONE_ASSIGN_OR_RETURN(
        Statement insert,
        db_->Prepare(
            "INSERT INTO trial(ordinal, session, config, config_digest, artifact_digest, state, median, count, error, "
            "error_text, compile_seconds, measure_seconds, proposer, steps, disturbed, retaken) VALUES "
            "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    for (const Outcome& o : outcomes) {
      insert.Bind(ordinal)
          .Bind(session)
          .Bind(o.config.ToJson())
          .Bind(o.config.ValueDigest().Hex())
          .Bind(o.artifact_digest);
      insert.Bind(std::string(TrialStateName(o.state)));
      o.state == TrialState::kFailed ? insert.BindNull() : insert.Bind(o.median);
      HONE_RETURN_IF_ERROR(insert.Bind(static_cast<int64_t>(o.samples.size()))
                               .Bind(std::string(TrialErrorName(o.error)))
                               .Bind(o.error_text)
                               .Bind(o.compile_seconds)
                               .Bind(o.measure_seconds)
                               .Bind(o.proposer)
                               .Bind(o.steps)
                               .Bind(o.disturbed)
                               .Bind(o.retaken)
                               .Run());
      HONE_RETURN_IF_ERROR(AppendSamples(ordinal, 0, 0, o.samples));
      ++ordinal;
    }
    HONE_ASSIGN_OR_RETURN(Statement spent,
                          db_->Prepare("UPDATE session SET tuning_seconds = max(tuning_seconds, ?) WHERE id = ?"));
    HONE_RETURN_IF_ERROR(spent.Bind(tuning_seconds).Bind(session).Run());
    return transaction.Commit();
  }

  Status Remeasure(const std::vector<Remeasured>& finalists) override {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_.get()));
    HONE_ASSIGN_OR_RETURN(Statement update,
                          db_->Prepare("UPDATE trial SET state = ?, median = ?, count = ?, error = ?, error_text = ?, "
                                       "measure_seconds = measure_seconds + ?, disturbed = ?, retaken = retaken + ? WHERE "
                                       "ordinal = ?"));
    for (const auto& [ordinal, o] : finalists) {
      HONE_ASSIGN_OR_RETURN(int64_t have, Count("SELECT count(*) FROM sample WHERE trial = ?", ordinal));
      HONE_ASSIGN_OR_RETURN(int64_t round, Count("SELECT max(round) FROM sample WHERE trial = ?", ordinal));
      HONE_RETURN_IF_ERROR(AppendSamples(ordinal, have, round + 1, o.samples));
      update.Bind(std::string(TrialStateName(o.state)));
      o.state == TrialState::kFailed ? update.BindNull() : update.Bind(o.median);
      HONE_RETURN_IF_ERROR(update.Bind(have + static_cast<int64_t>(o.samples.size()))
                               .Bind(std::string(TrialErrorName(o.error)))
                               .Bind(o.error_text)
                               .Bind(o.measure_seconds)
                               .Bind(o.disturbed)
                               .Bind(o.retaken)
                               .Bind(ordinal)
                               .Run());
    }
    return transaction.Commit();
  }

  Result<std::vector<Trial>> Trials() const override {
    HONE_ASSIGN_OR_RETURN(Statement s,
                          db_->Prepare(fmt::format("SELECT {} FROM trial ORDER BY ordinal", columns_)));
    std::vector<Trial> trials;
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool row, s.Step());
      if (!row) break;
      HONE_ASSIGN_OR_RETURN(Trial trial, ReadTrial(s));
      trials.push_back(std::move(trial));
    }
    HONE_ASSIGN_OR_RETURN(Statement samples,
                          db_->Prepare("SELECT trial, seconds, round FROM sample ORDER BY trial, sequence"));
    size_t at = 0;
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool row, samples.Step());
      if (!row) break;
      while (at < trials.size() && trials[at].ordinal < samples.Int(0)) ++at;
      if (at == trials.size() || trials[at].ordinal != samples.Int(0)) continue;
      trials[at].outcome.samples.push_back(samples.Real(1));
      trials[at].rounds.push_back(samples.Int(2));
    }
    return trials;
  }

  Result<std::vector<Session>> Sessions() const override {
    HONE_ASSIGN_OR_RETURN(
        Statement s,
        db_->Prepare("SELECT id, started, ended, host, device, driver, fingerprint, tool_version, "
                     "codegen_version, protocol_version, seed, settings, tuning_seconds FROM session ORDER BY id"));
    std::vector<Session> sessions;
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool row, s.Step());
      if (!row) return sessions;
      Session session;
      session.id = s.Int(0);
      session.started = s.Real(1);
      session.ended = s.Real(2);
      session.host = s.Text(3);
      session.device = s.Text(4);
      session.driver = s.Text(5);
      session.fingerprint = s.Text(6);
      session.tool_version = s.Text(7);
      session.codegen_version = s.Text(8);
      session.protocol_version = s.Text(9);
      session.seed = std::strtoull(s.Text(10).c_str(), nullptr, 10);
      session.settings = s.Text(11);
      session.tuning_seconds = s.Real(12);
      sessions.push_back(std::move(session));
    }
  }

  Result<int64_t> CountTrials() const override { return db_->QueryInt("SELECT count(*) FROM trial"); }

  Result<std::optional<Trial>> Best(const std::string& fingerprint) const override {
    HONE_ASSIGN_OR_RETURN(
        Statement s,
        db_->Prepare(fmt::format("SELECT {} FROM trial WHERE ordinal = (SELECT ordinal FROM best WHERE fingerprint = "
                                 "coalesce(nullif(?, ''), (SELECT fingerprint FROM session ORDER BY id DESC LIMIT 1)))",
                                 columns_)));
    HONE_ASSIGN_OR_RETURN(bool row, s.Bind(fingerprint).Step());
    if (!row) return std::optional<Trial>();
    HONE_ASSIGN_OR_RETURN(Trial trial, ReadTrial(s));
    HONE_ASSIGN_OR_RETURN(Statement samples,
                          db_->Prepare("SELECT seconds, round FROM sample WHERE trial = ? ORDER BY sequence"));
    samples.Bind(trial.ordinal);
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool more, samples.Step());
      if (!more) return std::optional<Trial>(std::move(trial));
      trial.outcome.samples.push_back(samples.Real(0));
      trial.rounds.push_back(samples.Int(1));
    }
  }

  Result<std::vector<std::string>> Verify() const override { return VerifyRecords(db_.get()); }

 private:
  Result<int64_t> Count(const std::string& sql, int64_t argument) const {
    HONE_ASSIGN_OR_RETURN(Statement s, db_->Prepare(sql));
    HONE_ASSIGN_OR_RETURN(bool row, s.Bind(argument).Step());
    return row ? s.Int(0) : 0;
  }

  Status AppendSamples(int64_t trial, int64_t sequence, int64_t round, const std::vector<double>& samples) {
    HONE_ASSIGN_OR_RETURN(Statement s,
                          db_->Prepare("INSERT INTO sample(trial, sequence, round, seconds) VALUES (?, ?, ?, ?)"));
    for (double seconds : samples) HONE_RETURN_IF_ERROR(s.Bind(trial).Bind(sequence++).Bind(round).Bind(seconds).Run());
    return Status();
  }

  Result<Trial> ReadTrial(const Statement& s) const {
    Trial t;
    t.ordinal = s.Int(0);
    t.session = s.Int(1);
    const auto damaged = [&](const Status& why) {
      return Status::Corrupt(fmt::format("{}: trial {}: {}", db_->path(), t.ordinal, why.message()));
    };
    Result<Config> config = Config::FromJson(s.Text(2));
    if (!config.ok()) return damaged(config.status());
    Result<TrialState> state = ParseTrialState(s.Text(3));
    if (!state.ok()) return damaged(state.status());
    Result<TrialError> error = ParseTrialError(s.Text(5));
    if (!error.ok()) return damaged(error.status());
    Outcome& o = t.outcome;
    o.config = std::move(*config);
    o.state = *state;
    o.median = s.Real(4);
    o.error = *error;
    o.error_text = s.Text(6);
    o.artifact_digest = s.Text(7);
    o.compile_seconds = s.Real(8);
    o.measure_seconds = s.Real(9);
    o.proposer = s.Text(10);
    o.steps = s.Text(11);
    o.disturbed = s.Int(12);
    o.retaken = s.Int(13);
    return t;
  }

  const std::unique_ptr<Database> db_;
  const Meta meta_;
  const std::string columns_;  // of a trial, as ReadTrial takes them
};

}  // namespace

namespace {

// SQLite says "disk I/O error" of a folder.
Status RefuseFolder(const std::string& path) {
  return IsDirectory(path) ? Status::Io(path + ": this is a folder, not a record file") : Status();
}

}  // namespace

std::vector<double> Trial::LastRound() const {
  std::vector<double> samples;
  for (size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i] == rounds.back()) samples.push_back(outcome.samples[i]);
  }
  return samples;
}

Result<std::unique_ptr<Store>> Store::OpenForWriting(const std::string& path, const Meta& meta) {
  HONE_RETURN_IF_ERROR(RefuseFolder(path));
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kCreate));
  HONE_RETURN_IF_ERROR(Migrate(db.get(), [&] { return WriteMeta(db.get(), meta); }));
  HONE_ASSIGN_OR_RETURN(Meta found, ReadMeta(db.get()));
  HONE_RETURN_IF_ERROR(CheckMeta(path, found, meta));
  return std::unique_ptr<Store>(new SqliteStore(std::move(db), std::move(found), kSchemaVersion));
}

Result<std::unique_ptr<Store>> Store::OpenForReading(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(path + ": no such record file; has its task been tuned?");
  HONE_RETURN_IF_ERROR(RefuseFolder(path));
  // A reader that finds a journal must roll back what a killed writer left, for which it has to write; without the
  // right to do so it still reads a file that needs no such repair.
  Result<std::unique_ptr<Database>> db = Database::Open(path, OpenMode::kWrite);
  if (!db.ok()) db = Database::Open(path, OpenMode::kRead);
  if (!db.ok()) return db.status();
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckReadable(db->get()));
  HONE_RETURN_IF_ERROR((*db)->Execute("PRAGMA query_only = ON"));
  HONE_ASSIGN_OR_RETURN(Meta meta, ReadMeta(db->get()));
  return std::unique_ptr<Store>(new SqliteStore(std::move(*db), std::move(meta), version));
}

}  // namespace hone::record
