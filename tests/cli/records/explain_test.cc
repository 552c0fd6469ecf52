// hone-records explain and merge.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "record/sqlite.h"
#include "records_folder.h"

namespace hone {
namespace {

class ExplainTool : public RecordsFolderTest {
 protected:
  std::string Out(const std::vector<std::string>& arguments) {
    const CommandResult result = Records(arguments);
    EXPECT_EQ(result.status.code, 0) << result.err;
    return result.out;
  }
  void Sql(const std::string& name, const std::string& sql) {
    auto db = record::Database::Open(Path(name), record::OpenMode::kWrite);
    ASSERT_TRUE(db.ok()) << db.status().message();
    ASSERT_TRUE((*db)->Execute(sql).ok());
  }
  // Task a: trial 1 is the fastest of the machine, 2 is nearly as fast, and another machine had it faster.
  void SetUp() override {
    RecordsFolderTest::SetUp();
    Record("a", kWorkloadA, {Ok(9, 1e-5)}, "machine-0", 500);
    Record("a", kWorkloadA, {Ok(1, 2e-3), Ok(2, 2.1e-3), Failed(3, TrialError::kWrong, "element 0"), Ok(4, 40e-3)});
    Record("b", kWorkloadB, {Ok(5, 1e-3)});
    WriteTaskList({{"a", kWorkloadA}, {"b", kWorkloadB}, {"c", kWorkloadC}});
    ASSERT_EQ(PickBest({"--allow-missing"}).status.code, 0);
  }
};

TEST_F(ExplainTool, SaysWhereAChoiceComesFromAndWhatItWonAgainst) {
  const std::string out = Out({"explain", "best/net.cpu.json", "--records", "records"});
  for (const char* part : {"net on cpu -features=avx2", "the fastest of its own records",
                           "trial 1 of 4 on this machine, 3 of them correct",
                           "measured on the-host in the session of 1970-01-01T00:16:40Z, fingerprint machine-1",
                           "rival: trial 2, 2.10 ms", "5.0 % slower, in doubt", "rival: trial 4, 40.0 ms",
                           "1900.0 % slower:", "no records with a correct trial: the template's default schedule",
                           "no rival", "no alternatives", "sums over their residual"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  }
  EXPECT_EQ(out.find("rival: trial 0"), std::string::npos) << "of another machine:\n" << out;
}

TEST_F(ExplainTool, TheSameAsJson) {
  const auto json = ParseJson(Out({"explain", "best/net.cpu.json", "--records", "records", "--json"}), "out");
  ASSERT_TRUE(json.ok()) << json.status().message();
  const Json& a = (*json)["tasks"][0];
  EXPECT_EQ((*json)["version"], 1);
  EXPECT_EQ(a["source"], "tuned");
  EXPECT_EQ(a["chosen"]["trial"], 1);
  EXPECT_EQ(a["chosen"]["median_seconds"], 2e-3);
  EXPECT_EQ(a["trials"], 4);
  ASSERT_EQ(a["rivals"].size(), 2u);
  EXPECT_EQ(a["rivals"][0]["trial"], 2);
  EXPECT_NEAR(a["rivals"][0]["slower_by"].get<double>(), 0.05, 1e-9);
  EXPECT_EQ(a["rivals"][0]["in_doubt"], true);
  EXPECT_EQ(a["rivals"][1]["in_doubt"], false);
  EXPECT_EQ((*json)["tasks"][2]["source"], "default");
  EXPECT_TRUE((*json)["alternatives"].is_array());
  EXPECT_EQ((*json)["share"]["slices"], true);
}

TEST_F(ExplainTool, WithoutRecordsTheBestFileSpeaks) {
  const std::string out = Out({"explain", "best/net.cpu.json", "--records", "nowhere"});
  EXPECT_NE(out.find("rival: trial 2"), std::string::npos) << out;
  EXPECT_NE(out.find("nowhere/a.db: no such record file"), std::string::npos) << out;
  Write("best/bad.json", "{\"version\": 1, \"network\": \"n\", \"target\": \"t\", \"task\": []}");
  ExpectRefused(Records({"explain", "best/bad.json"}), {"best/bad.json: /tasks: missing"}, 2);
  ExpectRefused(Records({"explain", "best/none.json"}), {"best/none.json: "});
}

TEST_F(ExplainTool, RecordsOfAnotherVersionAreNamedAsThat) {
  const auto explain = [&] { return Out({"explain", "best/net.cpu.json", "--records", "records"}); };
  const std::string other = "by hone-tune 1.2.3, code generator , measuring protocol ; this is Hone ";
  EXPECT_NE(explain().find(other + kVersion + "\n"), std::string::npos) << explain();
  Sql("records/a.db", fmt::format("UPDATE session SET tool_version = '{}', codegen_version = '4'", kVersion));
  EXPECT_NE(explain().find(fmt::format("by hone-tune {}, code generator 4, measuring protocol \n", kVersion)),
            std::string::npos)
      << explain();
  // A file that a newer Hone wrote is not read: what the best file says stays.
  Sql("records/a.db", "PRAGMA user_version = 7");
  const std::string newer = explain();
  EXPECT_NE(newer.find("  only what the best file knows: "), std::string::npos) << newer;
  EXPECT_NE(newer.find("records/a.db: record format 7 is newer than this program's 3"), std::string::npos) << newer;
  EXPECT_NE(newer.find("rival: trial 2, 2.10 ms"), std::string::npos) << newer;
  EXPECT_NE(newer.find("trial 0 of 1 on this machine"), std::string::npos) << "the other task's are read:\n" << newer;
  const auto json = ParseJson(Out({"explain", "best/net.cpu.json", "--records", "records", "--json"}), "out");
  ASSERT_TRUE(json.ok());
  EXPECT_NE((*json)["tasks"][0]["note"].get<std::string>().find("record format 7"), std::string::npos);
  EXPECT_FALSE((*json)["tasks"][0].contains("tool"));
  // Nor is a best file of one.
  Write("best/newer.json", ReplaceAll(Read("best/net.cpu.json"), "\"version\": 3", "\"version\": 4"));
  ExpectRefused(Records({"explain", "best/newer.json", "--records", "records"}), {"best/newer.json", "newer"}, 2);
}

TEST_F(ExplainTool, AMissingDatabaseOrTrialIsNamed) {
  ASSERT_TRUE(Rename(Path("records/a.db"), Path("records/a.db.dense=1")).ok());
  const std::string gone = Out({"explain", "best/net.cpu.json", "--records", "records"});
  EXPECT_NE(gone.find("  only what the best file knows: records/a.db: no such record file; has its task been tuned?\n"),
            std::string::npos)
      << gone;
  EXPECT_NE(gone.find("fingerprint machine-1"), std::string::npos) << gone;
  EXPECT_NE(gone.find("rival: trial 2"), std::string::npos) << gone;
  // Tuned anew since: a trial of this number, and another configuration.
  Record("a", kWorkloadA, {Ok(7, 3e-3), Ok(8, 4e-3)});
  const std::string anew = Out({"explain", "best/net.cpu.json", "--records", "records"});
  EXPECT_NE(anew.find("records/a.db no longer has this trial"), std::string::npos) << anew;
}

TEST_F(ExplainTool, MergesFoldersAndLeavesOutWhatDoesNotFit) {
  const CommandResult first = Records({"merge", "records", "--out", "merged"});
  EXPECT_EQ(first.status.code, 0) << first.err;
  EXPECT_NE(first.err.find("a: 1 files: 5 trials added"), std::string::npos) << first.err;
  EXPECT_EQ(Out({"verify", "merged"}), "merged/a.db: ok\nmerged/b.db: ok\n");
  EXPECT_EQ(Out({"export", "merged"}), Out({"export", "records"}));
  const CommandResult again = Records({"merge", "merged", "records", "--out", "merged"});
  EXPECT_EQ(again.status.code, 0) << again.err;
  EXPECT_NE(again.err.find("0 trials added, 0 replaced by ones with more samples, 10 known"), std::string::npos)
      << again.err;
  // Another task in the place of this one: refused, and the others are merged.
  ASSERT_TRUE(Remove(Path("records/a.db")).ok());
  {
    auto store = record::Store::OpenForWriting(Path("records/a.db"), {"a", kWorkloadB, kTarget, {}});
    ASSERT_TRUE(store.ok());
  }
  const CommandResult refused = Records({"merge", "records", "--out", "merged"});
  EXPECT_EQ(refused.status.code, 2);
  EXPECT_NE(refused.err.find("records/a.db: its workload is"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("b: 1 files"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace hone
