#include "record/salvage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/schema.h"
#include "record/sqlite.h"
#include "record/store.h"
#include "task/step.h"

namespace hone::record {
namespace {

constexpr int64_t kMostRows = 10'000'000;
constexpr int64_t kLongestGap = 20'000;  // rows in a row that cannot be read: a page holds far fewer

class Salvager {
 public:
  explicit Salvager(Database* db) : db_(db) {}

  Status ReadAll() {
    HONE_ASSIGN_OR_RETURN(version_, db_->QueryInt("PRAGMA user_version"));
    HONE_ASSIGN_OR_RETURN(const int64_t application, db_->QueryInt("PRAGMA application_id"));
    if (application != kApplicationId) return Status::Invalid(db_->path() + ": not a record file of Hone");
    if (version_ < 1 || version_ > kSchemaVersion) {
      return Status::Unsupported(
          fmt::format("{}: record format {}; use the Hone that wrote it", db_->path(), version_));
    }
    for (const auto& [key, field] :
         {std::pair{"task_id", &meta_.task_id}, std::pair{"workload", &meta_.workload},
          std::pair{"target", &meta_.target}, std::pair{"space_version", &meta_.space_version}}) {
      auto text = MetaText(key);
      if (!text) {
        return NothingLeft(fmt::format("what it is about (`{}`) cannot be read any more", key));
      }
      *field = *text;
    }
    const int64_t sessions = Last("session", "id"), trials = Last("trial", "ordinal");
    ForEachKey(sessions, [&](int64_t id) {
      auto session = ReadSession(id);
      if (session) sessions_.emplace(id, std::move(*session));
      return session.has_value();
    });
    ForEachKey(trials, [&](int64_t ordinal) {
      auto trial = ReadTrial(ordinal);
      if (trial) trials_.push_back(std::move(*trial));
      return trial.has_value();
    });
    // Where the last trial's page is lost its samples may tell how many there were.
    expected_ = std::max({trials, trials_.empty() ? -1 : trials_.back().ordinal, Last("sample", "trial")}) + 1;
    DropTwinsOfTheLost();
    if (trials_.empty() && (trials < 0 || expected_ > 0)) return NothingLeft("no trial can be read any more");
    if (static_cast<int64_t>(trials_.size()) == expected_) return Status();
    // What says that tuning was done (record/closing.h) was about all of them.
    std::erase_if(sessions_, [&](const auto& session) {
      return std::none_of(trials_.begin(), trials_.end(), [&](const Trial& t) { return t.session == session.first; });
    });
    return Status();
  }

  Result<SalvageCount> Write(const std::string& out) {
    // Session rows and trial rows as they are: through the store they would lose their rounds.
    HONE_RETURN_IF_ERROR(Store::OpenForWriting(out, meta_).status());
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(out, OpenMode::kWrite));
    HONE_RETURN_IF_ERROR(db->Execute("PRAGMA foreign_keys = ON"));
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db.get()));
    std::map<int64_t, int64_t> ids;
    for (const auto& [id, s] : sessions_) {
      HONE_ASSIGN_OR_RETURN(Statement insert, db->Prepare("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"));
      insert.Bind(static_cast<int64_t>(ids.size() + 1)).Bind(s.started);
      s.ended > 0 ? insert.Bind(s.ended) : insert.BindNull();
      HONE_RETURN_IF_ERROR(insert.Bind(s.tuning_seconds)
                               .Bind(s.host)
                               .Bind(s.device)
                               .Bind(s.driver)
                               .Bind(s.fingerprint)
                               .Bind(s.tool_version)
                               .Bind(s.codegen_version)
                               .Bind(s.protocol_version)
                               .Bind(std::to_string(s.seed))
                               .Bind(s.settings)
                               .Run());
      const int64_t next = static_cast<int64_t>(ids.size() + 1);
      ids[id] = next;
    }
    for (size_t i = 0; i < trials_.size(); ++i) {
      HONE_RETURN_IF_ERROR(WriteTrial(db.get(), trials_[i], static_cast<int64_t>(i), ids.at(trials_[i].session)));
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
    const int64_t saved = static_cast<int64_t>(trials_.size());
    return SalvageCount{saved, expected_ - saved};
  }

 private:
  Status NothingLeft(const std::string& why) const {
    return Status::Corrupt(
        fmt::format("{}: {}: nothing can be saved; move it away to start the task again", db_->path(), why));
  }

  // A statement of one key, or nothing if its pages cannot be read.
  std::optional<Statement> Row(const std::string& sql, int64_t key) {
    auto statement = db_->Prepare(sql);
    if (!statement.ok()) return std::nullopt;
    statement->Bind(key);
    auto row = statement->Step();
    if (!row.ok() || !*row) return std::nullopt;
    return std::move(*statement);
  }

  std::optional<std::string> MetaText(const std::string& key) {
    auto statement = db_->Prepare("SELECT value FROM meta WHERE key = ?");
    if (statement.ok()) {
      auto row = statement->Bind(key).Step();
      if (row.ok() && *row) return statement->Text(0);
    }
    // Past the index of its keys.
    auto scan = db_->Prepare("SELECT key, value FROM meta NOT INDEXED");
    while (scan.ok()) {
      auto row = scan->Step();
      if (!row.ok() || !*row) break;
      if (scan->Text(0) == key) return scan->Text(1);
    }
    return std::nullopt;
  }

  // The largest key; -1 if the way to it is damaged.
  int64_t Last(const std::string& table, const std::string& key) {
    auto last = db_->QueryInt(fmt::format("SELECT coalesce(max({}), -1) FROM {}", key, table));
    return last.ok() ? std::min(*last, kMostRows) : -1;
  }

  // Every key up to `last`; where that is unknown, until too many in a row are not there.
  template <typename F>
  void ForEachKey(int64_t last, const F& read) {
    int64_t gap = 0;
    for (int64_t key = 0; key <= (last < 0 ? kMostRows : last); ++key) {
      gap = read(key) ? 0 : gap + 1;
      if (last < 0 && gap > kLongestGap) return;
    }
  }

  std::optional<Session> ReadSession(int64_t id) {
    auto row =
        Row("SELECT started, ended, host, device, driver, fingerprint, tool_version, codegen_version, "
            "protocol_version, seed, settings, tuning_seconds FROM session WHERE id = ?",
            id);
    if (!row) return std::nullopt;
    Session s;
    s.id = id;
    s.started = row->Real(0);
    s.ended = row->Real(1);
    s.host = row->Text(2);
    s.device = row->Text(3);
    s.driver = row->Text(4);
    s.fingerprint = row->Text(5);
    s.tool_version = row->Text(6);
    s.codegen_version = row->Text(7);
    s.protocol_version = row->Text(8);
    s.seed = std::strtoull(row->Text(9).c_str(), nullptr, 10);
    s.settings = row->Text(10);
    s.tuning_seconds = row->Real(11);
    return s;
  }

  std::optional<Trial> ReadTrial(int64_t ordinal) {
    const std::string load = version_ < 2 ? "0, 0" : "disturbed, retaken";
    auto row =
        Row("SELECT session, config, config_digest, state, median, count, error, error_text, artifact_digest, "
            "compile_seconds, measure_seconds, proposer, steps, " +
                load + " FROM trial WHERE ordinal = ?",
            ordinal);
    if (!row) return std::nullopt;
    Trial t;
    t.ordinal = ordinal;
    t.session = row->Int(0);
    auto config = Config::FromJson(row->Text(1));
    auto state = ParseTrialState(row->Text(3));
    auto error = ParseTrialError(row->Text(6));
    if (!config.ok() || config->ValueDigest().Hex() != row->Text(2) || !state.ok() || !error.ok()) return std::nullopt;
    Outcome& o = t.outcome;
    o.config = std::move(*config);
    o.state = *state;
    o.median = row->Real(4);
    o.error = *error;
    o.error_text = row->Text(7);
    o.artifact_digest = row->Text(8);
    o.compile_seconds = row->Real(9);
    o.measure_seconds = row->Real(10);
    o.proposer = row->Text(11);
    o.steps = row->Text(12);
    o.disturbed = row->Int(13);
    o.retaken = row->Int(14);
    const bool failed = o.state == TrialState::kFailed;
    if (failed != (o.error != TrialError::kNone) || failed != row->IsNull(4)) return std::nullopt;
    if (!ParseSteps(o.steps).ok() || o.artifact_digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return std::nullopt;
    }
    if (!sessions_.count(t.session) || !ReadSamples(row->Int(5), &t)) return std::nullopt;
    return t;
  }

  // All of them, and the median that they give.
  bool ReadSamples(int64_t count, Trial* t) {
    auto samples = db_->Prepare("SELECT seconds, round FROM sample WHERE trial = ? ORDER BY sequence");
    if (!samples.ok()) return false;
    samples->Bind(t->ordinal);
    while (true) {
      auto row = samples->Step();
      if (!row.ok()) return false;
      if (!*row) break;
      if (!(samples->Real(0) > 0)) return false;
      t->outcome.samples.push_back(samples->Real(0));
      t->rounds.push_back(samples->Int(1));
    }
    if (static_cast<int64_t>(t->outcome.samples.size()) != count) return false;
    if (count == 0 || t->outcome.state == TrialState::kFailed) return true;
    const std::vector<double> last = t->LastRound();
    const double median =
        t->outcome.state == TrialState::kPruned ? *std::min_element(last.begin(), last.end()) : Median(last);
    return std::abs(t->outcome.median - median) <= 1e-12 * median;
  }

  void DropTwinsOfTheLost() {
    std::set<std::pair<std::string, std::string>> timed;  // fingerprint and artifact
    std::erase_if(trials_, [&](const Trial& t) {
      const std::pair<std::string, std::string> key{sessions_.at(t.session).fingerprint, t.outcome.artifact_digest};
      if (!t.outcome.samples.empty()) timed.insert(key);
      return t.outcome.state != TrialState::kFailed && t.outcome.samples.empty() && !timed.count(key);
    });
  }

  static Status WriteTrial(Database* db, const Trial& t, int64_t ordinal, int64_t session) {
    const Outcome& o = t.outcome;
    HONE_ASSIGN_OR_RETURN(
        Statement insert,
        db->Prepare("INSERT INTO trial(ordinal, session, config, config_digest, artifact_digest, state, median, count, "
                    "error, error_text, compile_seconds, measure_seconds, proposer, steps, disturbed, retaken) VALUES "
                    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    insert.Bind(ordinal).Bind(session).Bind(o.config.ToJson()).Bind(o.config.ValueDigest().Hex());
    insert.Bind(o.artifact_digest).Bind(std::string(TrialStateName(o.state)));
    o.state == TrialState::kFailed ? insert.BindNull() : insert.Bind(o.median);
    insert.Bind(static_cast<int64_t>(o.samples.size())).Bind(std::string(TrialErrorName(o.error))).Bind(o.error_text);
    insert.Bind(o.compile_seconds).Bind(o.measure_seconds).Bind(o.proposer).Bind(o.steps);
    HONE_RETURN_IF_ERROR(insert.Bind(o.disturbed).Bind(o.retaken).Run());
    HONE_ASSIGN_OR_RETURN(Statement sample, db->Prepare("INSERT INTO sample(trial, sequence, round, seconds) VALUES "
                                                        "(?,?,?,?)"));
    for (size_t i = 0; i < o.samples.size(); ++i) {
      HONE_RETURN_IF_ERROR(
          sample.Bind(ordinal).Bind(static_cast<int64_t>(i)).Bind(t.rounds[i]).Bind(o.samples[i]).Run());
    }
    return Status();
  }

  Database* db_;
  int64_t version_ = 0, expected_ = 0;
  Meta meta_;
  std::map<int64_t, Session> sessions_;
  std::vector<Trial> trials_;
};

}  // namespace

Result<SalvageCount> SalvageRecords(const std::string& path, const std::string& out) {
  if (!Exists(path)) return Status::NotFound(path + ": no such record file");
  if (Exists(out)) return Status::Invalid(out + ": is there already; name a file that is not");
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kSalvage));
  Salvager salvager(db.get());
  HONE_RETURN_IF_ERROR(salvager.ReadAll());
  const std::string draft = out + ".salvage";
  HONE_RETURN_IF_ERROR(Remove(draft));
  Result<SalvageCount> count = salvager.Write(draft);
  if (count.ok()) {
    const Status renamed = Rename(draft, out);
    if (!renamed.ok()) count = renamed;
  }
  if (!count.ok()) (void)Remove(draft).ok();
  return count;
}

}  // namespace hone::record
