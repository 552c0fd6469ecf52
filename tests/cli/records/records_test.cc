// hone-records on whole, damaged, foreign and missing files.
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/text.h"
#include "pipeline/best_file.h"
#include "record/closing.h"
#include "record/sqlite.h"
#include "records_folder.h"

namespace hone {
namespace {

using Lines = std::vector<std::string>;

class RecordsTool : public RecordsFolderTest {
 protected:
  void SetUp() override {
    RecordsFolderTest::SetUp();
    Record("a", kWorkloadA,
           {Ok(0, 4e-3), Failed(1, TrialError::kCompile, "no registers\nleft"), Pruned(2, 1e-3), Ok(3, 2e-3),
            Failed(4, TrialError::kWrong, "element 0")});
  }

  // A program of another kind, on the same database.
  void Sql(const std::string& name, const std::string& sql) {
    auto db = record::Database::Open(Path(name), record::OpenMode::kWrite);
    ASSERT_TRUE(db.ok()) << db.status().message();
    const Status status = (*db)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::string Out(const Lines& arguments) {
    const CommandResult result = Records(arguments);
    EXPECT_EQ(result.status.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
};

TEST_F(RecordsTool, ListsALineATrialTheFastestFirst) {
  const Lines lines = Split(Trim(Out({"list", "records/a.db"})), '\n');
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], "a");
  EXPECT_EQ(lines[1], std::string("  ") + kWorkloadA);
  EXPECT_EQ(lines[3], "  5 trials: 2 ok, 1 pruned, 1 compile, 1 wrong");
  Lines order;
  for (size_t i = 5; i < lines.size(); ++i) order.push_back(SplitWords(lines[i])[0]);
  // The pruned one's time is only a bound: it comes after all that are known, however small.
  EXPECT_EQ(order, (Lines{"3", "0", "2", "1", "4"}));
  EXPECT_NE(lines[5].find("2.00 ms"), std::string::npos) << lines[5];
  EXPECT_NE(lines[7].find("> 1.00 ms"), std::string::npos) << lines[7];
  EXPECT_NE(lines[8].find("(no registers left)"), std::string::npos) << lines[8];
}

TEST_F(RecordsTool, ListSaysWhyTuningEnded) {
  EXPECT_EQ(Out({"list", "records/a.db"}).find("ended: "), std::string::npos) << "it has not";
  const std::string path = Path("records/a.db");
  const record::Meta meta = (*record::Store::OpenForReading(path))->meta();
  {
    auto store = record::Store::OpenForWriting(path, meta);
    ASSERT_TRUE(store.ok()) << store.status().message();
    record::Closing closing;
    closing.reason = record::StopReason::kExpectedGain;
    closing.expected_gain = 0.02;
    record::Session session;
    session.fingerprint = "machine-1";
    session.settings = closing.ToSettings();
    const Result<int64_t> id = (*store)->BeginSession(session);
    ASSERT_TRUE(id.ok() && (*store)->EndSession(*id, 2000).ok());
  }
  EXPECT_NE(Out({"list", "records/a.db"}).find("\n  ended: the tuner expects to gain less than 2 %\n"),
            std::string::npos);
}

TEST_F(RecordsTool, ListStopsAtTheLimit) {
  EXPECT_EQ(Split(Trim(Out({"list", "records/a.db", "--limit", "2"})), '\n').size(), 7u);
  EXPECT_EQ(Split(Trim(Out({"list", "records/a.db", "--limit=0"})), '\n').size(), 10u);
}

TEST_F(RecordsTool, AFolderStandsForItsRecordFiles) {
  Record("b", kWorkloadB, {Ok(0, 1e-3)});
  Write("records/notes.txt", "not a record file");
  const std::string out = Out({"list", "records"});
  EXPECT_EQ(out.find("a\n"), 0u);
  EXPECT_NE(out.find("\nb\n"), std::string::npos) << out;
  EXPECT_EQ(Out({"verify", "records"}), "records/a.db: ok\nrecords/b.db: ok\n");
  Write("empty/x", "");
  ExpectRefused(Records({"list", "empty"}), {"empty: no record file (*.db) in this folder"});
  ExpectRefused(Records({"show", "records"}), {"records: this is a folder, not a record file"});
}

TEST_F(RecordsTool, ShowsTheBestOrTheTrialAskedFor) {
  const std::string best = Out({"show", "records/a.db"});
  for (const char* part : {"trial     3 (proposed by random)", "state     ok", "2.00 ms", "unroll out k", "unroll=3",
                           "1970-01-01T00:16:40Z on the-host (a device), seed 7", "machine-1"}) {
    EXPECT_NE(best.find(part), std::string::npos) << part << "\n" << best;
  }
  const std::string failed = Out({"show", "records/a.db", "--trial", "4"});
  EXPECT_NE(failed.find("failed: wrong: element 0"), std::string::npos) << failed;
  ExpectRefused(Records({"show", "records/a.db", "--trial", "5"}), {"records/a.db: no trial 5; it has 5"});
  Record("c", kWorkloadC, {Failed(0, TrialError::kCrash, "SIGSEGV")});
  ExpectRefused(Records({"show", "records/c.db"}), {"no correct trial; name one with --trial"});
}

TEST_F(RecordsTool, ExportsJsonLines) {
  const Lines lines = Split(Trim(Out({"export", "records/a.db"})), '\n');
  ASSERT_EQ(lines.size(), 5u);
  const Result<Json> trial = ParseJson(lines[3], "line 4");
  ASSERT_TRUE(trial.ok());
  EXPECT_EQ((*trial)["ordinal"], 3);
  EXPECT_EQ((*trial)["median"], 2e-3);
  EXPECT_EQ((*trial)["samples"], Json::parse("[0.002, 0.003, 0.001]"));
  EXPECT_EQ((*trial)["config"]["entity"], Json::parse("[[\"unroll\", \"ot\", 3]]"));
}

TEST_F(RecordsTool, ExportsSeveralFilesAsOneTable) {
  Record("b", kWorkloadB, {Ok(0, 1e-3)});
  const Lines lines = Split(Trim(Out({"export", "records", "--format", "csv"})), '\n');
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0].find("task,ordinal,state"), 0u) << lines[0];
  EXPECT_EQ(lines[1].find("a,0,ok"), 0u) << lines[1];
  EXPECT_EQ(lines[6].find("b,0,ok"), 0u) << lines[6];
}

TEST_F(RecordsTool, ExportsToAFile) {
  EXPECT_EQ(Out({"export", "records/a.db", "--out", "all.jsonl"}), "");
  EXPECT_EQ(Read("all.jsonl"), Out({"export", "records/a.db"}));
  ExpectRefused(Records({"export", "records/a.db", "--format", "xml"}),
                {"--format: `xml` is not known; known: jsonl, csv, autotvm, t4"}, 2);
  ExpectRefused(Records({"export", "records/a.db", "--out", "no/such/folder"}), {"no/such"});
}

TEST_F(RecordsTool, VerifyFindsWhatDoesNotFit) {
  Sql("records/a.db",
      "UPDATE trial SET median = 99 WHERE ordinal = 0; DELETE FROM sample WHERE trial = 3 AND sequence = 0;"
      "UPDATE trial SET config = replace(config, '[[\"unroll\",\"ot\",1]]', '[[\"unroll\",\"ot\",8]]') WHERE ordinal = "
      "1");
  const CommandResult result = Records({"verify", "records/a.db"});
  EXPECT_EQ(result.status.code, 1);
  for (const char* part :
       {"records/a.db: trial 0: its median is 99, but its 3 samples give", "trial 3: 2 samples, its count says 3",
        "trial 1: its config does not have the digest stored beside it"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
}

TEST_F(RecordsTool, EveryBadFileHasItsOwnMessage) {
  const std::string whole = Read("records/a.db");
  Write("records/cut.db", whole.substr(0, whole.size() / 2));
  Write("records/text.db", "this is no database, but a text of some length\n");
  Write("records/empty.db", "");
  Write("records/newer.db", whole);
  Sql("records/newer.db", "PRAGMA user_version = 7");
  Write("records/other.db", "");
  Sql("records/other.db", "CREATE TABLE t(x)");
  for (const char* command : {"list", "show", "export", "verify"}) {
    ExpectRefused(Records({command, "records/none.db"}), {"records/none.db: no such record file"});
    ExpectRefused(Records({command, "records/cut.db"}), {"records/cut.db: the record file is cut short"});
    ExpectRefused(Records({command, "records/text.db"}), {"records/text.db: not a record file"});
    ExpectRefused(Records({command, "records/empty.db"}), {"records/empty.db: an empty record file"});
    ExpectRefused(Records({command, "records/newer.db"}),
                  {"records/newer.db: record format 7 is newer than this program's 3"}, 2);
    ExpectRefused(Records({command, "records/other.db"}), {"records/other.db: a database of another program"}, 2);
  }
  EXPECT_EQ(Read("records/cut.db").size(), whole.size() / 2);  // a look changes nothing
  EXPECT_EQ(Read("records/empty.db"), "");
}

TEST_F(RecordsTool, ListsTheGoodFilesBesideABadOne) {
  Write("records/text.db", "this is no database\n");
  const CommandResult result = Records({"list", "records"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.out.find("a\n"), 0u) << result.out;
  EXPECT_NE(result.err.find("records/text.db"), std::string::npos) << result.err;
}

TEST_F(RecordsTool, DamageInsideAFileIsFound) {
  std::string bytes = Read("records/a.db");
  std::fill(bytes.begin() + 4096, bytes.end(), '\x55');
  Write("records/hurt.db", bytes);
  const CommandResult result = Records({"verify", "records/hurt.db"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE((result.out + result.err).find("records/hurt.db"), std::string::npos);
  ExpectRefused(Records({"list", "records/hurt.db"}), {"records/hurt.db"});
}

TEST_F(RecordsTool, StatusIsALineAJob) {
  EXPECT_EQ(Records({"status", "records"}).out, "no job has run here\n");
  Write("records/a.progress.json",
        R"({"version": 1, "task": "a", "state": "running", "host": "h", "pid": 1, "updated": "2026-01-02T03:04:05Z",
            "trials": 34, "budget": 64, "elapsed_seconds": 3, "workload": "w", "best": {"trial": 3, "seconds": 4e-4}})");
  const CommandResult result = Records({"status", "records"});
  EXPECT_EQ(result.status.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "a  gone  34/64 trials, best 400 us  (on h, 2026-01-02T03:04:05Z)\n"
            "1 gone; gone jobs were killed: run the same command again\n")
      << "it says that it runs, but nobody holds its lock";
  Write("records/0.progress.json", "{");
  const CommandResult hurt = Records({"status", "records"});
  EXPECT_EQ(hurt.status.code, 1);
  EXPECT_EQ(hurt.err, "");
  EXPECT_TRUE(StartsWith(hurt.out, "cannot be read: records/0.progress.json:1:")) << hurt.out;
  EXPECT_TRUE(EndsWith(hurt.out, "\n" + result.out)) << hurt.out << "the others are listed";
  ExpectRefused(Records({"status", "none"}), {"none"});
}

TEST_F(RecordsTool, ALockedFileSaysSo) {
  auto db = record::Database::Open(Path("records/a.db"), record::OpenMode::kWrite);
  ASSERT_TRUE(db.ok());
  ASSERT_TRUE((*db)->Execute("BEGIN EXCLUSIVE").ok());
  ExpectRefused(Records({"list", "records/a.db"}), {"records/a.db: ", "lock"});
}

TEST_F(RecordsTool, MisuseIsExplained) {
  const auto misuse = [&](const Lines& arguments) {
    const CommandResult result = Records(arguments);
    EXPECT_EQ(result.status.code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_EQ(misuse({"lst", "records"}), "hone-records: unknown command `lst`; did you mean `list`?\n");
  EXPECT_EQ(misuse({"list", "records", "--limt=3"}), "hone-records: unknown flag --limt; did you mean --limit?\n");
  EXPECT_NE(misuse({}).find("known: list, show, explain, export, import, compare, status, merge, salvage, verify"), std::string::npos);
  EXPECT_NE(misuse({"list"}).find("files"), std::string::npos);
  EXPECT_EQ(Out({"--abi"}), "records 1\n");
  EXPECT_NE(Out({"--help"}).find("explain"), std::string::npos);
}

}  // namespace
}  // namespace hone
