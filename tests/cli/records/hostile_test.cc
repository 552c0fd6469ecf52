// hone-records on files whose words and numbers are meant to do harm.
#include <fmt/format.h>

#include "record/sqlite.h"
#include "records_folder.h"

namespace hone {
namespace {

class HostileRecords : public RecordsFolderTest {
 protected:
  void Sql(const std::string& sql) {
    auto db = record::Database::Open(Path("records/a.db"), record::OpenMode::kWrite);
    ASSERT_TRUE(db.ok()) << db.status().message();
    const Status status = (*db)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

TEST_F(HostileRecords, NothingInThemReachesATerminalAsACommand) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Failed(1, TrialError::kCompile, "\x1b[2Jgone\xc2\x9b")});
  const std::string evil = "char(27) || ']0;title' || char(7) || char(155)";  // char(155): U+009B, CSI
  Sql(fmt::format("UPDATE session SET host = {0}, device = {0}, fingerprint = {0}, tool_version = {0}", evil));
  Sql(fmt::format("UPDATE trial SET proposer = {0}, steps = {0}, artifact_digest = {0}", evil));
  Sql(fmt::format("UPDATE meta SET value = {0} WHERE key = 'workload'", evil));
  const std::vector<std::vector<std::string>> calls = {{"list", "records/a.db"},
                                                       {"show", "records/a.db"},
                                                       {"show", "records/a.db", "--trial", "1"},
                                                       {"verify", "records/a.db"}};
  for (const std::vector<std::string>& arguments : calls) {
    const CommandResult result = Records(arguments);
    const std::string all = result.out + result.err;
    EXPECT_NE(all, "");
    EXPECT_EQ(all.find('\x1b'), std::string::npos) << arguments[0];
    EXPECT_EQ(all.find('\x07'), std::string::npos) << arguments[0];
    EXPECT_EQ(all.find("\xc2\x9b"), std::string::npos) << arguments[0];
  }
  EXPECT_NE(Records({"show", "records/a.db"}).out.find("\\x1b]0;title\\x07\\xc2\\x9b"), std::string::npos)
      << "it is shown, not hidden";
}

TEST_F(HostileRecords, OrdinalsBelowZero) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 5e-3)});
  Sql("PRAGMA foreign_keys = OFF; UPDATE trial SET ordinal = -100000 WHERE ordinal = 0");
  const CommandResult best = Records({"show", "records/a.db"});
  EXPECT_EQ(best.status.code, 0) << best.err;
  EXPECT_NE(best.out.find("trial     -100000 "), std::string::npos) << best.out;
  EXPECT_EQ(Records({"list", "records/a.db"}).status.code, 0);
  EXPECT_EQ(Records({"show", "records/a.db", "--trial", "0"}).status.code, 1);
  EXPECT_EQ(Records({"verify", "records/a.db"}).status.code, 1);
}

TEST_F(HostileRecords, AProgressFile) {
  Write("records/a.progress.json",
        "{\"version\": 1, \"task\": \"\\u001b[2J\", \"state\": \"running\", \"host\": \"\\u009b\", \"updated\": \"now\", "
        "\"trials\": 1, \"budget\": 2}");
  const CommandResult result = Records({"status", "records"});
  const std::string all = result.out + result.err;
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
  EXPECT_EQ(all.find("\xc2\x9b"), std::string::npos);
}

}  // namespace
}  // namespace hone
