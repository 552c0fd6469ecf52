#include "record/merge.h"

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "record/sqlite.h"
#include "record/store.h"

namespace hone::record {
namespace {

// The columns of a table in the source: a file of an older format lacks the newest ones, which have defaults.
Result<std::vector<std::string>> Columns(Database* db, const std::string& table) {
  HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("SELECT name FROM pragma_table_info(?, 'source')"));
  std::vector<std::string> names;
  HONE_RETURN_IF_ERROR(s.Bind(table).Each([&](const Statement& row) { names.push_back(row.Text(0)); }));
  return names;
}

class Merger {
 public:
  explicit Merger(Database* db) : db_(db) {}

  // `templates` are the versions in the source, which apply to trials without a version of their own.
  Status Add(const std::string& path, const TemplateVersions& templates) {
    HONE_RETURN_IF_ERROR(db_->Run("ATTACH ? AS source", path));
    const Status copied = Copy(templates);
    const Status detached = db_->Execute("DETACH source");
    HONE_RETURN_IF_ERROR(copied.WithContext(path));
    ++count_.files;
    return detached;
  }

  MergeCount& count() { return count_; }

 private:
  Status Copy(const TemplateVersions& templates) {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_));
    HONE_RETURN_IF_ERROR(NameVersions(templates));
    HONE_RETURN_IF_ERROR(CopySessions());
    HONE_RETURN_IF_ERROR(FindTrials());
    HONE_RETURN_IF_ERROR(CopyTrials());
    return transaction.Commit();
  }

  // Sets the SQL expressions for a trial's template and version. Before schema 3, the config names the template, and
  // the versions are in the file's metadata.
  Status NameVersions(const TemplateVersions& templates) {
    HONE_ASSIGN_OR_RETURN(columns_, Columns(db_, "trial"));
    template_ = "t.template", version_ = "t.template_version";
    if (std::find(columns_.begin(), columns_.end(), "template_version") != columns_.end()) return Status();
    template_ = "json_extract(t.config, '$.template')";
    version_ = "coalesce((SELECT version FROM temp.versions WHERE name = " + template_ + "), 0)";
    HONE_RETURN_IF_ERROR(db_->Execute("DELETE FROM temp.versions"));
    HONE_ASSIGN_OR_RETURN(Statement insert, db_->Prepare("INSERT INTO temp.versions(name, version) VALUES (?, ?)"));
    for (const auto& [name, version] : templates) HONE_RETURN_IF_ERROR(insert.Bind(name, version).Run());
    columns_.insert(columns_.end(), {"template", "template_version"});
    return Status();
  }

  // Equal sessions count as one: copies of a work folder share the earlier ones.
  Status CopySessions() {
    HONE_ASSIGN_OR_RETURN(const int64_t last, db_->QueryInt("SELECT coalesce(max(id), 0) FROM session"));
    HONE_RETURN_IF_ERROR(db_->Execute(fmt::format(
        "DELETE FROM temp.sessions;"
        "INSERT INTO temp.sessions(theirs, ours) SELECT s.id, coalesce((SELECT m.id FROM main.session m WHERE "
        "m.started = s.started AND m.host = s.host AND m.fingerprint = s.fingerprint AND m.seed = s.seed AND "
        "m.settings = s.settings), {} + row_number() OVER (ORDER BY s.id)) FROM source.session s",
        last)));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> columns, Columns(db_, "session"));
    std::vector<std::string> values;
    for (const std::string& column : columns) values.push_back(column == "id" ? "n.ours" : "s." + column);
    return db_->Execute(fmt::format(
        "INSERT INTO main.session({}) SELECT {} FROM source.session s JOIN temp.sessions n ON n.theirs = s.id WHERE "
        "n.ours > {}",
        Join(columns, ", "), Join(values, ", "), last));
  }

  // Decides which trials to take, and their numbers.
  Status FindTrials() {
    HONE_ASSIGN_OR_RETURN(const int64_t next, db_->QueryInt("SELECT coalesce(max(ordinal) + 1, 0) FROM main.trial"));
    const std::string known = fmt::format(
        "(SELECT m.ordinal FROM main.trial m JOIN main.session ms ON ms.id = m.session WHERE m.config_digest = "
        "t.config_digest AND m.template_version = {} AND ms.fingerprint = ts.fingerprint)",
        version_);
    HONE_RETURN_IF_ERROR(db_->Execute(fmt::format(
        "DELETE FROM temp.trials; INSERT INTO temp.trials(theirs, ours) SELECT t.ordinal, {} FROM source.trial t JOIN "
        "source.session ts ON ts.id = t.session ORDER BY t.ordinal",
        next == 0 ? "NULL" : known)));
    HONE_ASSIGN_OR_RETURN(const int64_t all, db_->QueryInt("SELECT count(*) FROM temp.trials"));
    HONE_ASSIGN_OR_RETURN(const int64_t fresh, db_->QueryInt("SELECT count(*) FROM temp.trials WHERE ours IS NULL"));
    if (fresh < all) {
      HONE_RETURN_IF_ERROR(
          db_->Execute("DELETE FROM temp.trials WHERE ours IS NOT NULL AND (SELECT count FROM main.trial WHERE ordinal "
                       "= ours) >= (SELECT count FROM source.trial WHERE ordinal = theirs)"));
    }
    HONE_ASSIGN_OR_RETURN(const int64_t kept, db_->QueryInt("SELECT count(*) FROM temp.trials"));
    replaces_ = kept > fresh;
    count_.added += fresh;
    count_.replaced += kept - fresh;
    count_.known += all - kept;
    if (fresh == 0) return Status();
    return db_->Execute(
        fmt::format("UPDATE temp.trials SET ours = {} + (SELECT n FROM (SELECT theirs AS t, row_number() OVER (ORDER "
                    "BY theirs) - 1 AS n FROM temp.trials WHERE ours IS NULL) WHERE t = theirs) WHERE ours IS NULL",
                    next));
  }

  Status CopyTrials() {
    if (replaces_) {
      HONE_RETURN_IF_ERROR(db_->Execute("DELETE FROM main.sample WHERE trial IN (SELECT ours FROM temp.trials)"));
      HONE_RETURN_IF_ERROR(db_->Execute("DELETE FROM main.trial WHERE ordinal IN (SELECT ours FROM temp.trials)"));
    }
    std::vector<std::string> values;
    for (const std::string& column : columns_) {
      values.push_back(column == "ordinal"            ? "n.ours"
                       : column == "session"          ? "s.ours"
                       : column == "template"         ? template_
                       : column == "template_version" ? version_
                                                      : "t." + column);
    }
    HONE_RETURN_IF_ERROR(db_->Execute(fmt::format(
        "INSERT INTO main.trial({}) SELECT {} FROM temp.trials n JOIN source.trial t ON t.ordinal = n.theirs JOIN "
        "temp.sessions s ON s.theirs = t.session ORDER BY n.theirs",
        Join(columns_, ", "), Join(values, ", "))));
    return db_->Execute(
        "INSERT INTO main.sample(trial, sequence, round, seconds) SELECT n.ours, p.sequence, p.round, p.seconds FROM "
        "temp.trials n JOIN source.sample p ON p.trial = n.theirs ORDER BY n.theirs, p.sequence");
  }

  Database* db_;
  std::vector<std::string> columns_;  // of table trial, copied from the source
  std::string template_, version_;    // SQL expressions for a trial
  bool replaces_ = false;
  MergeCount count_;
};

struct Source {
  std::string path;
  TemplateVersions templates;
};

// `there`: the first source is the previous output, whose trials do not count as merged.
Result<MergeCount> Merge(const std::string& made, const Meta& meta, const std::vector<Source>& sources, bool there) {
  HONE_RETURN_IF_ERROR(Store::OpenForWriting(made, meta).status());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> db, Database::Open(made, OpenMode::kWrite));
  // Nothing uses the file before the rename: a kill costs only this merge.
  HONE_RETURN_IF_ERROR(
      db->Execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -131072;"
                  "PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;"
                  "CREATE TEMP TABLE sessions(theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL);"
                  "CREATE TEMP TABLE trials(theirs INTEGER PRIMARY KEY, ours INTEGER);"
                  "CREATE TEMP TABLE versions(name TEXT PRIMARY KEY, version INTEGER NOT NULL)"));
  Merger merger(db.get());
  for (size_t i = 0; i < sources.size(); ++i) {
    HONE_RETURN_IF_ERROR(merger.Add(sources[i].path, sources[i].templates));
    if (i == 0 && there) merger.count() = MergeCount();
  }
  // The next write that waits for the disk also syncs the earlier ones. An UPDATE to equal values would write nothing.
  HONE_RETURN_IF_ERROR(db->Execute(fmt::format("PRAGMA synchronous = FULL; PRAGMA user_version = {}", kSchemaVersion)));
  return merger.count();
}

}  // namespace

Result<MergeCount> MergeRecords(const std::string& out, const std::vector<std::string>& files,
                                const std::function<Status()>& still_ours) {
  std::vector<Source> sources;
  const bool there = Exists(out);
  if (there) sources.push_back({out, {}});
  for (const std::string& file : files) sources.push_back({file, {}});
  if (sources.empty()) return Status::Invalid("no record files to merge");
  Meta meta;
  for (size_t i = 0; i < sources.size(); ++i) {
    // Open it once by itself: that reports damage, and rolls back a killed writer's transaction.
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(sources[i].path));
    if (i == 0) meta = store->meta();
    const Meta& m = store->meta();
    sources[i].templates = m.templates;
    for (const auto& [name, version] : m.templates) {
      int64_t& newest = meta.templates[name];
      newest = std::max(newest, version);
    }
    for (const auto& [what, ours, theirs] :
         {std::tuple("task", &meta.task_id, &m.task_id), std::tuple("workload", &meta.workload, &m.workload),
          std::tuple("target", &meta.target, &m.target)}) {
      if (*ours == *theirs) continue;
      return Status::Invalid("{}: its {} is `{}`, that of {} is `{}`: such records are not merged", sources[i].path,
                             what, *theirs, sources[0].path, *ours);
    }
  }
  const std::string made = out + ".merging";  // one that a killed process left is replaced
  HONE_RETURN_IF_ERROR(Remove(made));
  const Result<MergeCount> count = Merge(made, meta, sources, there);
  Status done = count.status();
  if (done.ok() && still_ours) done = still_ours();
  if (done.ok()) done = Rename(made, out);
  if (!done.ok()) {
    (void)Remove(made);
    return done;
  }
  return count;
}

}  // namespace hone::record
