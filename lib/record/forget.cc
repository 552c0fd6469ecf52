#include "record/forget.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/file.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace hone::record {
namespace {

// When the next session on the session's machine started.
std::optional<double> StartOfNext(const Session& session, const std::vector<Session>& all) {
  std::optional<double> start;
  for (const Session& other : all) {
    const bool later =
        other.started > session.started && other.host == session.host && other.fingerprint == session.fingerprint;
    if (later) start = std::min(start.value_or(other.started), other.started);
  }
  return start;
}

// The latest time at which a trial of the session can have been recorded.
double EndOf(const Session& session, const std::vector<Session>& all, double written) {
  if (session.ended > 0 || session.killed_before > 0) return std::max(session.ended, session.killed_before);
  return std::max(std::min(written, StartOfNext(session, all).value_or(written)),
                  session.started + session.tuning_seconds);
}

Result<std::vector<Session>> SessionsOf(Database* db) {
  std::vector<Session> sessions;
  HONE_RETURN_IF_ERROR(db->Each(fmt::format("SELECT {} FROM session ORDER BY id", kSessionColumns),
                                [&](const Statement& row) { sessions.push_back(SessionOfRow(row)); }));
  return sessions;
}

using Artifact = std::pair<std::string, std::string>;  // fingerprint and digest

class Forgetter {
 public:
  // `written`: as of RemoveTrials.
  Forgetter(Database* db, double written) : db_(db), written_(written) {}

  Status Run(const std::vector<int64_t>& ordinals) {
    HONE_RETURN_IF_ERROR(
        db_->Execute("CREATE TEMP TABLE gone(ordinal INTEGER PRIMARY KEY);"
                     "CREATE TEMP TABLE place(old INTEGER PRIMARY KEY, new INTEGER NOT NULL)"));
    {
      HONE_ASSIGN_OR_RETURN(Statement insert, db_->Prepare("INSERT OR IGNORE INTO temp.gone(ordinal) VALUES (?)"));
      for (const int64_t ordinal : ordinals) HONE_RETURN_IF_ERROR(insert.Bind(ordinal).Run());
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<Session> before, SessionsOf(db_));
    HONE_RETURN_IF_ERROR(RemoveClosingRows());
    HONE_RETURN_IF_ERROR(ShortenSessions());
    HONE_RETURN_IF_ERROR(NoteEnds(before));
    HONE_RETURN_IF_ERROR(
        db_->Execute("DELETE FROM sample WHERE trial IN (SELECT ordinal FROM temp.gone);"
                     "DELETE FROM trial WHERE ordinal IN (SELECT ordinal FROM temp.gone)"));
    return CloseGaps();
  }

 private:
  Status RemoveClosingRows() {
    HONE_ASSIGN_OR_RETURN(
        Statement rows,
        db_->Prepare("SELECT id, settings FROM session WHERE fingerprint IN (SELECT s.fingerprint FROM trial t JOIN "
                     "session s ON s.id = t.session WHERE t.ordinal IN (SELECT ordinal FROM temp.gone)) AND id NOT IN "
                     "(SELECT session FROM trial)"));
    std::vector<int64_t> closing;
    HONE_RETURN_IF_ERROR(rows.Each([&](const Statement& row) {
      if (Closing::FromSettings(row.Text(1))) closing.push_back(row.Int(0));
    }));
    for (const int64_t id : closing) HONE_RETURN_IF_ERROR(db_->Run("DELETE FROM session WHERE id = ?", id));
    return Status();
  }

  // Trials compile side by side, so the sum of their costs is not the session's time: only their shares count. If no
  // cost is recorded, all trials have the same share.
  Status ShortenSessions() {
    struct Share {
      int64_t session, kept;
      double share;  // of the session's time that the kept trials took
    };
    std::vector<Share> shares;
    HONE_RETURN_IF_ERROR(db_->Each(
        "SELECT session, count(*), total(compile_seconds + measure_seconds), count(CASE WHEN kept THEN 1 END), "
        "total(CASE WHEN kept THEN compile_seconds + measure_seconds END) FROM (SELECT *, ordinal NOT IN (SELECT "
        "ordinal FROM temp.gone) AS kept FROM trial) GROUP BY session",
        [&](const Statement& row) {
          const int64_t trials = row.Int(1), kept = row.Int(3);
          const double cost = row.Real(2), kept_cost = row.Real(4);
          if (kept == trials) return;
          const bool costs = cost > 0 && kept_cost >= 0 && kept_cost <= cost;
          shares.push_back(
              {row.Int(0), kept, costs ? kept_cost / cost : static_cast<double>(kept) / static_cast<double>(trials)});
        }));
    for (const auto& [session, kept, share] : shares) {
      HONE_RETURN_IF_ERROR(
          kept > 0 ? db_->Run("UPDATE session SET tuning_seconds = tuning_seconds * ? WHERE id = ?", share, session)
                   : db_->Run("DELETE FROM session WHERE id = ?", session));
    }
    return Status();
  }

  // The file is written now, and the next session may be gone: neither bounds a killed session any more. Closing rows
  // count only if their session ended well.
  Status NoteEnds(const std::vector<Session>& before) {
    HONE_ASSIGN_OR_RETURN(const std::vector<Session> after, SessionsOf(db_));
    for (const Session& session : before) {
      if (session.ended > 0 || session.killed_before > 0 || Closing::FromSettings(session.settings)) continue;
      const auto next = StartOfNext(session, after);
      if (next && next == StartOfNext(session, before)) continue;
      HONE_RETURN_IF_ERROR(
          db_->Run("UPDATE session SET ended = ? WHERE id = ?", -EndOf(session, before, written_), session.id));
    }
    return Status();
  }

  // By way of negative numbers, since each number may be in use when a row gets it.
  Status CloseGaps() {
    HONE_RETURN_IF_ERROR(
        db_->Execute("INSERT INTO temp.place(old, new) SELECT * FROM (SELECT ordinal AS old, row_number() OVER (ORDER "
                     "BY ordinal) - 1 AS new FROM trial) WHERE old <> new"));
    for (const auto& [table, key] : {std::pair("trial", "ordinal"), std::pair("sample", "trial")}) {
      HONE_RETURN_IF_ERROR(db_->Execute(fmt::format(
          "UPDATE {0} SET {1} = -1 - (SELECT new FROM temp.place WHERE old = {0}.{1}) WHERE {1} IN (SELECT old FROM "
          "temp.place); UPDATE {0} SET {1} = -1 - {1} WHERE {1} < 0",
          table, key)));
    }
    return Status();
  }

  Database* const db_;
  const double written_;
};

}  // namespace

Result<std::vector<Trial>> FindForgettable(const std::string& path, TrialError error, double since) {
  const double written = ModifiedSeconds(path);  // before it is opened, which may roll back a transaction
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store->Sessions());
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store->AllTrials());
  std::map<int64_t, std::pair<std::string, double>> of;  // fingerprint and end of each session
  for (const Session& session : sessions) {
    of[session.id] = {session.fingerprint, EndOf(session, sessions, written)};
  }
  std::map<Artifact, bool> verdicts;  // whether the verdict on it goes
  std::set<int64_t> gone;
  for (const Trial& trial : trials) {
    const Outcome& outcome = trial.outcome;
    if (outcome.state != TrialState::kFailed || outcome.error != error) continue;
    const auto& [fingerprint, end] = of[trial.session];
    bool goes = end >= since;
    // Failures of the device are not copied.
    if (!outcome.artifact_digest.empty() && error != TrialError::kDevice) {
      goes = verdicts.try_emplace({fingerprint, outcome.artifact_digest}, goes).first->second;
    }
    if (goes) gone.insert(trial.ordinal);
  }
  // A finalist may have failed when it was measured again, and another trial may have the time of its first samples.
  std::set<Artifact> timed, lost;
  for (const Trial& trial : trials) {
    const Artifact artifact{of[trial.session].first, trial.outcome.artifact_digest};
    const bool samples = !trial.outcome.samples.empty();
    if (gone.contains(trial.ordinal)) {
      if (samples) lost.insert(artifact);
    } else if (samples) {
      timed.insert(artifact);
    } else if (trial.outcome.state != TrialState::kFailed && lost.contains(artifact) && !timed.contains(artifact)) {
      gone.insert(trial.ordinal);
    }
  }
  std::vector<Trial> found;
  for (const Trial& trial : trials) {
    if (gone.contains(trial.ordinal)) found.push_back(trial);
  }
  return found;
}

Status RemoveTrials(const std::string& path, const std::vector<int64_t>& ordinals,
                    const std::function<Status()>& before_commit, std::optional<double> written) {
  if (!Exists(path)) return Status::NotFound(path + ": no such record file");
  if (!written) written = ModifiedSeconds(path);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> db, Database::Open(path, OpenMode::kWrite));
  HONE_RETURN_IF_ERROR(Migrate(db.get(), [&] { return Status::Corrupt("{}: an empty record file", path); }));
  // Trials and their samples get new numbers one after the other; VerifyRecords looks for broken references.
  HONE_RETURN_IF_ERROR(db->Execute("PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY"));
  HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db.get()));
  HONE_RETURN_IF_ERROR(Forgetter(db.get(), *written).Run(ordinals));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> findings, VerifyRecords(db.get(), kSchemaVersion));
  if (!findings.empty()) {
    return Status::Corrupt("{}: {}; nothing was removed; save what is whole with `hone-records salvage` first", path,
                           findings[0]);
  }
  if (before_commit) HONE_RETURN_IF_ERROR(before_commit());
  return transaction.Commit();
}

}  // namespace hone::record
