#include "record/store.h"

#include <utility>

#include "base/fields.h"
#include "base/file.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace hone::record {
namespace {

Result<Meta> ReadMeta(Database* db, int64_t version) {
  Meta meta;
  for (const auto& [key, field] : MetaFields()) {
    HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("SELECT value FROM meta WHERE key = ?"));
    HONE_ASSIGN_OR_RETURN(bool row, s.Bind(key).Step());
    if (!row) return Status::Corrupt("{}: `{}` is missing in table meta", db->path(), key);
    meta.*field = s.Text(0);
  }
  HONE_ASSIGN_OR_RETURN(meta.templates, ReadTemplates(db, version));
  return meta;
}

Status WriteTemplates(Database* db, const TemplateVersions& templates) {
  HONE_RETURN_IF_ERROR(db->Execute("DELETE FROM template"));
  HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("INSERT INTO template(name, version) VALUES (?, ?)"));
  for (const auto& [name, version] : templates) HONE_RETURN_IF_ERROR(s.Bind(name, version).Run());
  return Status();
}

Status WriteMeta(Database* db, const Meta& meta) {
  HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("INSERT INTO meta(key, value) VALUES (?, ?)"));
  for (const auto& [key, field] : MetaFields()) HONE_RETURN_IF_ERROR(s.Bind(key, meta.*field).Run());
  return WriteTemplates(db, meta.templates);
}

Status CheckMeta(const std::string& path, const Meta& found, const Meta& wanted) {
  for (const auto& [key, field] : MetaFields()) {
    if (found.*field == wanted.*field) continue;
    return Status::Invalid("{}: its {} is `{}`, not `{}`; move the file away to start this task anew", path, key,
                           found.*field, wanted.*field);
  }
  return Status();
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::unique_ptr<Database> db, Meta meta, int64_t version)
      : db_(std::move(db)), meta_(std::move(meta)), version_(version), columns_(TrialColumns(version)) {}

  const Meta& meta() const override { return meta_; }

  Result<int64_t> BeginSession(const Session& session) override {
    Session fresh = session;
    fresh.id = 0;
    fresh.ended = 0;
    HONE_RETURN_IF_ERROR(InsertSession(db_.get(), fresh));
    return db_->LastRowId();
  }

  Status EndSession(int64_t id, double ended) override {
    return db_->Run("UPDATE session SET ended = ? WHERE id = ?", ended, id);
  }

  Status Append(int64_t session, const std::vector<Outcome>& outcomes, double tuning_seconds) override {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_.get()));
    HONE_ASSIGN_OR_RETURN(int64_t ordinal, CountTrials());
    HONE_ASSIGN_OR_RETURN(TrialWriter writer, TrialWriter::Prepare(db_.get()));
    for (const Outcome& outcome : outcomes) {
      const int64_t version = VersionIn(meta_.templates, outcome.config.template_name);
      HONE_RETURN_IF_ERROR(writer.Write(ordinal++, session, version, outcome));
    }
    HONE_RETURN_IF_ERROR(
        db_->Run("UPDATE session SET tuning_seconds = max(tuning_seconds, ?) WHERE id = ?", tuning_seconds, session));
    return transaction.Commit();
  }

  Status Remeasure(const std::vector<Remeasured>& finalists) override {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_.get()));
    HONE_ASSIGN_OR_RETURN(
        Statement update,
        db_->Prepare("UPDATE trial SET state = ?, median = ?, count = ?, error = ?, error_text = ?, measure_seconds = "
                     "measure_seconds + ?, disturbed = ?, retaken = retaken + ? WHERE ordinal = ?"));
    HONE_ASSIGN_OR_RETURN(TrialWriter writer, TrialWriter::Prepare(db_.get()));
    for (const auto& [ordinal, o] : finalists) {
      HONE_ASSIGN_OR_RETURN(int64_t count, db_->QueryInt("SELECT count(*) FROM sample WHERE trial = ?", ordinal));
      HONE_ASSIGN_OR_RETURN(int64_t round, db_->QueryInt("SELECT max(round) FROM sample WHERE trial = ?", ordinal));
      for (const double seconds : o.samples) {
        HONE_RETURN_IF_ERROR(writer.WriteSample(ordinal, count++, round + 1, seconds));
      }
      update.Bind(TrialStateName(o.state), MedianOf(o), count, TrialErrorName(o.error), o.error_text, o.measure_seconds,
                  o.disturbed, o.retaken, ordinal);
      HONE_RETURN_IF_ERROR(update.Run());
    }
    return transaction.Commit();
  }

  Result<std::vector<Trial>> AllTrials() const override {
    std::vector<Trial> trials;
    HONE_RETURN_IF_ERROR(
        db_->Each(fmt::format("SELECT {} FROM trial ORDER BY ordinal", columns_), [&](const Statement& row) -> Status {
          HONE_ASSIGN_OR_RETURN(trials.emplace_back(), ReadTrial(row));
          return Status();
        }));
    size_t at = 0;
    HONE_RETURN_IF_ERROR(
        db_->Each("SELECT trial, seconds, round FROM sample ORDER BY trial, sequence", [&](const Statement& row) {
          while (at < trials.size() && trials[at].ordinal < row.Int(0)) ++at;
          if (at == trials.size() || trials[at].ordinal != row.Int(0)) return;
          trials[at].outcome.samples.push_back(row.Real(1));
          trials[at].rounds.push_back(row.Int(2));
        }));
    return trials;
  }

  Result<std::vector<Session>> Sessions() const override {
    std::vector<Session> sessions;
    HONE_RETURN_IF_ERROR(db_->Each(fmt::format("SELECT {} FROM session ORDER BY id", kSessionColumns),
                                   [&](const Statement& row) { sessions.push_back(SessionOfRow(row)); }));
    return sessions;
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
    HONE_RETURN_IF_ERROR(ReadSamples(db_.get(), &trial));
    return std::optional<Trial>(std::move(trial));
  }

  Result<std::vector<std::string>> Verify() const override { return VerifyRecords(db_.get(), version_); }

 private:
  Result<Trial> ReadTrial(const Statement& row) const {
    Result<Trial> trial = TrialOfRow(row);
    if (!trial.ok()) return trial.status().WithContext(db_->path());
    const int64_t counts = VersionIn(meta_.templates, trial->outcome.config.template_name);
    if (version_ < 3) trial->template_version = counts;
    trial->superseded = trial->template_version != counts;
    return trial;
  }

  const std::unique_ptr<Database> db_;
  const Meta meta_;
  const int64_t version_;      // the schema's
  const std::string columns_;  // a trial's, for ReadTrial
};

const ChoiceNames<StopReason> kReasons = {
    {StopReason::kNone, ""},
    {StopReason::kTrials, "trials"},
    {StopReason::kSeconds, "seconds"},
    {StopReason::kEarlyStop, "early-stop"},
    {StopReason::kExhausted, "space-exhausted"},
    {StopReason::kExpectedGain, "expected-gain"},
};

}  // namespace

std::vector<double> Trial::LastRound() const {
  std::vector<double> samples;
  for (size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i] == rounds.back()) samples.push_back(outcome.samples[i]);
  }
  return samples;
}

Result<std::vector<Trial>> Store::Trials() const {
  HONE_ASSIGN_OR_RETURN(std::vector<Trial> trials, AllTrials());
  std::erase_if(trials, [](const Trial& trial) { return trial.superseded; });
  return trials;
}

Result<std::unique_ptr<Store>> Store::OpenForWriting(const std::string& path, const Meta& meta) {
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kCreate));
  HONE_RETURN_IF_ERROR(Migrate(db.get(), [&] { return WriteMeta(db.get(), meta); }));
  HONE_ASSIGN_OR_RETURN(Meta found, ReadMeta(db.get(), kSchemaVersion));
  HONE_RETURN_IF_ERROR(CheckMeta(path, found, meta));
  if (found.templates != meta.templates) {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db.get()));
    HONE_RETURN_IF_ERROR(WriteTemplates(db.get(), meta.templates));
    HONE_RETURN_IF_ERROR(transaction.Commit());
    found.templates = meta.templates;
  }
  return std::unique_ptr<Store>(new SqliteStore(std::move(db), std::move(found), kSchemaVersion));
}

Result<std::unique_ptr<Store>> Store::OpenForReading(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(path + ": no such record file; has its task been tuned?");
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kRead));
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckReadable(db.get()));
  HONE_ASSIGN_OR_RETURN(Meta meta, ReadMeta(db.get(), version));
  return std::unique_ptr<Store>(new SqliteStore(std::move(db), std::move(meta), version));
}

const char* StopReasonName(StopReason reason) { return ChoiceName(kReasons, reason); }

static void ListFields(Fields* f, Closing* closing) {
  f->AllowOthers();
  f->Object("closing", [closing](Fields* c) {
    c->AllowOthers();
    c->Value("trials", &closing->trials);
    c->Choice("reason", &closing->reason, kReasons);
    HONE_VALUES(c, closing->early_stop, closing->finalists, closing->drift);
    c->Maybe("expected_gain", &closing->expected_gain);
    c->Maybe("tuner_gain", &closing->tuner_gain, closing->tuner_gain >= 0);
    c->Maybe("winograd", &closing->winograd);
    c->Maybe("tf32", &closing->tf32);
  });
}

std::string Closing::ToSettings() const { return FieldsText(*this, -1); }

std::optional<Closing> Closing::FromSettings(const std::string& settings) {
  Result<Closing> closing = ParseFields<Closing>(settings, "settings");
  return closing.ok() ? std::optional(*closing) : std::nullopt;
}

std::string Closing::ReasonText() const {
  switch (reason) {
    case StopReason::kNone:
      return "unknown";
    case StopReason::kTrials:
      return fmt::format("the budget of trials is spent, {} are recorded", trials);
    case StopReason::kSeconds:
      return "the budget of seconds is spent";
    case StopReason::kEarlyStop:
      return fmt::format("nothing better in the last {} trials", early_stop);
    case StopReason::kExhausted:
      return "nothing is left to try";
    case StopReason::kExpectedGain:
      return fmt::format("the tuner expects to gain less than {:g} %", 100 * expected_gain);
  }
  return "";
}

}  // namespace hone::record
