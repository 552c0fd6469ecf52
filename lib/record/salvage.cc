#include "record/salvage.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/file.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/sqlite.h"
#include "record/store.h"
#include "task/candidate.h"
#include "task/protocol.h"

namespace hone::record {
namespace {

constexpr int64_t kMostRows = 10'000'000;
constexpr int64_t kLongestGap = 20'000;  // consecutive unreadable rows: far more than fit into a page

class Salvager {
 public:
  explicit Salvager(Database* db) : db_(db) {}

  Status ReadAll() {
    const Result<int64_t> version = db_->QueryInt("PRAGMA user_version");
    if (version.status().kind() == StatusKind::kCorrupt) return NothingLeft("its first page cannot be read");
    HONE_ASSIGN_OR_RETURN(version_, version);
    HONE_ASSIGN_OR_RETURN(const int64_t application, db_->QueryInt("PRAGMA application_id"));
    if (application != kApplicationId) return Status::Invalid(db_->path() + ": not a record file of Hone");
    if (version_ < 1 || version_ > kSchemaVersion) {
      return Status::Unsupported("{}: record format {}; use the Hone that wrote it", db_->path(), version_);
    }
    for (const auto& [key, field] : MetaFields()) {
      auto text = MetaText(key);
      if (!text) return NothingLeft(fmt::format("its `{}` cannot be read", key));
      meta_.*field = *text;
    }
    if (auto templates = ReadTemplates(db_, version_); templates.ok()) meta_.templates = std::move(*templates);
    const bool versions_lost = meta_.templates.empty();
    const int64_t sessions = Last("session", "id"), trials = Last("trial", "ordinal");
    ForEachKey(sessions, [&](int64_t id) {
      const auto row = Row(fmt::format("SELECT {} FROM session WHERE id = ?", kSessionColumns), id);
      if (row) sessions_.emplace(id, SessionOfRow(*row));
      return row.has_value();
    });
    ForEachKey(trials, [&](int64_t ordinal) {
      auto trial = ReadTrial(ordinal);
      if (trial) trials_.push_back(std::move(*trial));
      return trial.has_value();
    });
    // Without the table, assume the newest versions; the next tuning job sets the right ones.
    for (const Trial& t : trials_) {
      if (!versions_lost) break;
      int64_t& newest = meta_.templates[t.outcome.config.template_name];
      newest = std::max(newest, t.template_version);
    }
    // If the last trial's page is lost, its samples may tell the number of trials.
    expected_ = std::max({trials, trials_.empty() ? -1 : trials_.back().ordinal, Last("sample", "trial")}) + 1;
    DropTwinsOfTheLost();
    if (trials_.empty() && (trials < 0 || expected_ > 0)) return NothingLeft("no trial can be read any more");
    if (static_cast<int64_t>(trials_.size()) == expected_) return Status();
    // Closing rows (Closing) referred to the complete set of trials.
    std::erase_if(sessions_, [&](const auto& session) {
      return std::none_of(trials_.begin(), trials_.end(), [&](const Trial& t) { return t.session == session.first; });
    });
    return Status();
  }

  Result<SalvageCount> Write(const std::string& out) {
    // Copy session rows and trial rows unchanged: the store would lose their rounds.
    HONE_RETURN_IF_ERROR(Store::OpenForWriting(out, meta_).status());
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(out, OpenMode::kWrite));
    HONE_RETURN_IF_ERROR(db->Execute("PRAGMA foreign_keys = ON"));
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db.get()));
    std::map<int64_t, int64_t> ids;
    for (const auto& [id, session] : sessions_) {
      Session saved = session;
      saved.id = static_cast<int64_t>(ids.size()) + 1;
      ids[id] = saved.id;
      HONE_RETURN_IF_ERROR(InsertSession(db.get(), saved));
    }
    HONE_ASSIGN_OR_RETURN(TrialWriter writer, TrialWriter::Prepare(db.get()));
    for (size_t i = 0; i < trials_.size(); ++i) {
      const Trial& t = trials_[i];
      HONE_RETURN_IF_ERROR(
          writer.Write(static_cast<int64_t>(i), ids.at(t.session), t.template_version, t.outcome, t.rounds));
    }
    HONE_RETURN_IF_ERROR(transaction.Commit());
    const int64_t saved = static_cast<int64_t>(trials_.size());
    return SalvageCount{saved, expected_ - saved};
  }

 private:
  Status NothingLeft(const std::string& why) const {
    return Status::Corrupt("{}: {}: nothing can be saved; move it away to start the task again", db_->path(), why);
  }

  // The statement for one key, or nothing if its pages are unreadable.
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
    // Bypasses the index of its keys.
    auto scan = db_->Prepare("SELECT key, value FROM meta NOT INDEXED");
    while (scan.ok()) {
      auto row = scan->Step();
      if (!row.ok() || !*row) break;
      if (scan->Text(0) == key) return scan->Text(1);
    }
    return std::nullopt;
  }

  // The largest key; -1 if the path to it is damaged.
  int64_t Last(const std::string& table, const std::string& key) {
    auto last = db_->QueryInt(fmt::format("SELECT coalesce(max({}), -1) FROM {}", key, table));
    return last.ok() ? std::min(*last, kMostRows) : -1;
  }

  // Every key up to `last`; if that is unknown, until too many consecutive ones are missing.
  template <typename F>
  void ForEachKey(int64_t last, const F& read) {
    int64_t gap = 0;
    for (int64_t key = 0; key <= (last < 0 ? kMostRows : last); ++key) {
      gap = read(key) ? 0 : gap + 1;
      if (last < 0 && gap > kLongestGap) return;
    }
  }

  std::optional<Trial> ReadTrial(int64_t ordinal) {
    const auto row = Row(fmt::format("SELECT {}, config_digest, count, median IS NULL FROM trial WHERE ordinal = ?",
                                     TrialColumns(version_)),
                         ordinal);
    if (!row) return std::nullopt;
    Result<Trial> read = TrialOfRow(*row);
    if (!read.ok() || !sessions_.count(read->session)) return std::nullopt;
    Trial t = std::move(*read);
    if (version_ < 3) t.template_version = VersionIn(meta_.templates, t.outcome.config.template_name);
    const Outcome& o = t.outcome;
    const bool failed = o.state == TrialState::kFailed, without_median = row->Int(kTrialColumns + 2) != 0;
    if (o.config.ValueDigest().Hex() != row->Text(kTrialColumns)) return std::nullopt;
    if (failed != (o.error != TrialError::kNone) || failed != without_median) return std::nullopt;
    if (!Candidate::Parse(o.steps).ok() ||
        o.artifact_digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return std::nullopt;
    }
    if (!ReadSamples(db_, &t).ok() || !SamplesFit(t, row->Int(kTrialColumns + 1))) return std::nullopt;
    return t;
  }

  // Whether all samples are there and give the median.
  bool SamplesFit(const Trial& t, int64_t count) const {
    const std::vector<double>& samples = t.outcome.samples;
    if (std::any_of(samples.begin(), samples.end(), [](double seconds) { return !(seconds > 0); })) return false;
    if (static_cast<int64_t>(samples.size()) != count) return false;
    if (count == 0 || t.outcome.state == TrialState::kFailed) return true;
    return IsOfSamples(t.outcome.median, t, CountsTrimmedMeans(sessions_.at(t.session).fingerprint));
  }

  void DropTwinsOfTheLost() {
    std::set<std::pair<std::string, std::string>> timed;  // fingerprint and artifact
    std::erase_if(trials_, [&](const Trial& t) {
      const std::pair<std::string, std::string> key{sessions_.at(t.session).fingerprint, t.outcome.artifact_digest};
      if (!t.outcome.samples.empty()) timed.insert(key);
      return t.outcome.state != TrialState::kFailed && t.outcome.samples.empty() && !timed.count(key);
    });
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
  const Status read = salvager.ReadAll();
  // Without memory, sound rows look damaged.
  if (db->no_memory()) return Status::Io("{}: not enough memory to read it", path);
  HONE_RETURN_IF_ERROR(read);
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
