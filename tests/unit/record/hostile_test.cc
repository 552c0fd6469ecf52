// A record file by somebody who knows SQLite: its schema must not run.
#include "base/file.h"
#include "common/expect.h"
#include "record/foreign_store.h"
#include "record/sqlite.h"
#include "sample.h"

namespace hone::record {
namespace {

class HostileFile : public ::testing::Test {
 protected:
  HostileFile() : dir_(*TempDir::Create()), path_(dir_.Join("t.db")) {
    auto store = Must(Store::OpenForWriting(path_, SampleMeta()));
    const int64_t session = *store->BeginSession(SampleSession());
    EXPECT_TRUE(store->Append(session, {Good(1, {1e-3})}).ok());
  }
  void Sql(const std::string& sql) {
    auto db = Must(Database::Open(path_, OpenMode::kWrite));
    Must(db->Execute(sql));
  }
  // Expects that it is neither read nor written, with `part` in a one-line message.
  void ExpectRefused(const std::string& part) {
    for (const Status& status :
         {Store::OpenForReading(path_).status(), Store::OpenForWriting(path_, SampleMeta()).status()}) {
      EXPECT_EQ(status.kind(), StatusKind::kCorrupt) << status.message();
      EXPECT_THAT(status.message(), HasSubstr(part));
      EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
    }
  }

  TempDir dir_;
  const std::string path_;
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
    ExpectRefused(part);
  }
}

TEST_F(HostileFile, StatisticsForSqliteAreFine) {
  Sql("ANALYZE");
  EXPECT_TRUE(Store::OpenForReading(path_).ok());
  EXPECT_TRUE(Store::OpenForWriting(path_, SampleMeta()).ok());
}

TEST_F(HostileFile, OfOtherTunersToo) {
  const std::string path = dir_.Join("foreign.db");
  ASSERT_TRUE(ForeignStore::OpenForWriting(path).ok());
  EXPECT_TRUE(ForeignStore::OpenForReading(path).ok());
  {
    auto db = Database::Open(path, OpenMode::kWrite);
    ASSERT_TRUE(db.ok() && (*db)->Execute("CREATE VIEW more AS SELECT 1").ok());
  }
  EXPECT_EQ(ForeignStore::OpenForReading(path).status().kind(), StatusKind::kCorrupt);
  EXPECT_EQ(ForeignStore::OpenForWriting(path).status().kind(), StatusKind::kCorrupt);
}

}  // namespace
}  // namespace hone::record
