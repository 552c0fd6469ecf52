// hone-records on files with malicious text and numbers.
#include <fmt/format.h>

#include "records_folder.h"

namespace hone {
namespace {

class HostileRecords : public RecordsFolder {
 protected:
  static void ExpectHarmless(const CommandResult& result) {
    EXPECT_NE(result.out + result.err, "");
    ExpectHasNot(result.out + result.err, {"\x1b", "\x07", "\xc2\x9b"});
  }
};

TEST_F(HostileRecords, NothingInThemReachesATerminalAsACommand) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Failed(1, TrialError::kCompile, "\x1b[2Jgone\xc2\x9b")});
  const std::string evil = "char(27) || ']0;title' || char(7) || char(155)";  // char(155): U+009B, CSI
  Sql("records/a.db", fmt::format("UPDATE session SET host = {0}, device = {0}, fingerprint = {0}, tool_version = {0};"
                                  "UPDATE trial SET proposer = {0}, steps = {0}, artifact_digest = {0};"
                                  "UPDATE meta SET value = {0} WHERE key = 'workload'",
                                  evil));
  for (const char* command : {"list", "show", "verify"}) ExpectHarmless(Records({command, "records/a.db"}));
  ExpectHarmless(Records({"show", "records/a.db", "--trial", "1"}));
  ExpectHas(RecordsOk({"show", "records/a.db"}), {"\\x1b]0;title\\x07\\xc2\\x9b"});  // shown escaped, not hidden
  Write(
      "records/a.progress.json",
      "{\"version\": 1, \"task\": \"\\u001b[2J\", \"state\": \"running\", \"host\": \"\\u009b\", \"updated\": \"now\", "
      "\"trials\": 1, \"budget\": 2}");
  ExpectHarmless(Records({"status", "records"}));
}

TEST_F(HostileRecords, OrdinalsBelowZero) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 5e-3)});
  Sql("records/a.db", "PRAGMA foreign_keys = OFF; UPDATE trial SET ordinal = -100000 WHERE ordinal = 0");
  ExpectHas(RecordsOk({"show", "records/a.db"}), {"trial     -100000 "});
  RecordsOk({"list", "records/a.db"});
  EXPECT_EQ(Records({"show", "records/a.db", "--trial", "0"}).status.code, 1);
  EXPECT_EQ(Records({"verify", "records/a.db"}).status.code, 1);
}

}  // namespace
}  // namespace hone
