// A record file by somebody who knows SQLite: its schema must not run.
#include "record/foreign_store.h"
#include "record/sqlite.h"
#include "sample.h"

namespace hone::record {
namespace {

class HostileFile : public RecordTest {
 protected:
  HostileFile() { Append({Good(1, {1e-3})}); }
};

TEST_F(HostileFile, WhatHoneDoesNotMakeIsRefused) {
  const std::string whole = *ReadFile(path_);
  for (auto [sql, part] : {
           // An endless view in place of a table.
           std::pair("DROP VIEW best; DROP TABLE sample; CREATE VIEW sample AS WITH RECURSIVE n(i) AS (SELECT 1 UNION "
                     "ALL SELECT i + 1 FROM n) SELECT 0 AS trial, i AS sequence, 0 AS round, 1.0 AS seconds FROM n",
                     "table sample is missing"),
           {"DROP VIEW best; CREATE VIEW best AS SELECT '' AS fingerprint, -5 AS ordinal, '' AS config, 0 AS median",
            "view best is not as Hone makes it"},
           {"CREATE TRIGGER forget AFTER INSERT ON trial BEGIN DELETE FROM sample; END",
            "trigger forget does not belong to Hone"},
           {"PRAGMA user_version = -7", "no such record format: -7"},
       }) {
    ASSERT_TRUE(WriteFileAtomic(path_, whole).ok());
    Sql(sql);
    ExpectRefused(StatusKind::kCorrupt, part);
  }
}

TEST_F(HostileFile, StatisticsForSqliteAreFine) {
  Sql("ANALYZE");
  OpenToRead();
  Open();
}

TEST_F(HostileFile, OfOtherTunersToo) {
  const std::string path = Path("foreign.db");
  Must(ForeignStore::OpenForWriting(path));
  Must(ForeignStore::OpenForReading(path));
  Must(Must(Database::Open(path, OpenMode::kWrite))->Execute("CREATE VIEW more AS SELECT 1"));
  EXPECT_EQ(ForeignStore::OpenForReading(path).status().kind(), StatusKind::kCorrupt);
  EXPECT_EQ(ForeignStore::OpenForWriting(path).status().kind(), StatusKind::kCorrupt);
}

}  // namespace
}  // namespace hone::record
