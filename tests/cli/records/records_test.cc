// hone-records on whole, damaged, foreign and missing files.
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "record/store.h"
#include "records_folder.h"

namespace hone {
namespace {

class RecordsTool : public RecordsFolder {
 protected:
  void SetUp() override {
    Record("a", kWorkloadA,
           {Ok(0, 4e-3), Failed(1, TrialError::kCompile, "no registers\nleft"), Pruned(2, 1e-3), Ok(3, 2e-3),
            Failed(4, TrialError::kWrong, "element 0")});
  }

  // Its output, with nothing on stderr.
  std::string Out(const Words& arguments) {
    const CommandResult result = Records(arguments);
    ExpectOk(result);
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  Words Lines(const Words& arguments) { return Split(Trim(Out(arguments)), '\n'); }
};

TEST_F(RecordsTool, ListsALineATrialTheFastestFirst) {
  const Words lines = Lines({"list", "records/a.db"});
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], "a");
  EXPECT_EQ(lines[1], std::string("  ") + kWorkloadA);
  EXPECT_EQ(lines[3], "  5 trials: 2 ok, 1 pruned, 1 compile, 1 wrong");
  Words order;
  for (size_t i = 5; i < lines.size(); ++i) order.push_back(SplitWords(lines[i])[0]);
  // The pruned trial's time is only a bound, so it follows all known times, however small it is.
  EXPECT_EQ(order, (Words{"3", "0", "2", "1", "4"}));
  ExpectHas(lines[5], {"2.00 ms"});
  ExpectHas(lines[7], {"> 1.00 ms"});
  ExpectHas(lines[8], {"(no registers left)"});
  EXPECT_EQ(Lines({"list", "records/a.db", "--limit", "2"}).size(), 7u);
  EXPECT_EQ(Lines({"list", "records/a.db", "--limit=0"}).size(), 10u);
}

TEST_F(RecordsTool, ATimeWhoseRunsDisagreeIsMarked) {
  Outcome spread = Ok(0, 1.3e-3);
  spread.samples = {1e-3, 1e-3, 1.3e-3, 1.3e-3, 1.3e-3};
  Record("c", kWorkloadC, {spread});
  ExpectHas(Out({"list", "records/c.db"}), {"~1.30 ms"});
  ExpectHas(Out({"show", "records/c.db"}), {"spread    the runs disagree by more than 3 %: the time may be too long"});
}

TEST_F(RecordsTool, ListSaysWhyTuningEnded) {
  ExpectHasNot(Out({"list", "records/a.db"}), {"ended: "});  // it has not ended
  record::Closing closing;
  closing.reason = record::StopReason::kExpectedGain;
  closing.expected_gain = 0.02;
  Record("a", kWorkloadA, {});
  Sql("records/a.db", "UPDATE session SET settings = '" + closing.ToSettings() + "' WHERE id = 2");
  ExpectHas(Out({"list", "records/a.db"}), {"\n  ended: the tuner expects to gain less than 2 %\n"});
}

TEST_F(RecordsTool, AFolderStandsForItsRecordFiles) {
  Record("b", kWorkloadB, {Ok(0, 1e-3)});
  Write("records/notes.txt", "not a record file");
  ExpectHas("\n" + Out({"list", "records"}), {"\na\n", "\nb\n"});
  EXPECT_EQ(Out({"verify", "records"}), "records/a.db: ok\nrecords/b.db: ok\n");
  Write("empty/x", "");
  ExpectRefused(Records({"list", "empty"}), 1, {"empty: no record file (*.db) in this folder"});
  ExpectRefused(Records({"show", "records"}), 1, {"records: cannot open: it is a folder, not a file"});
  // Good files beside a bad one.
  Write("records/text.db", "this is no database\n");
  const CommandResult result = Records({"list", "records"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_TRUE(StartsWith(result.out, "a\n")) << result.out;
  ExpectHas(result.err, {"records/text.db"});
}

TEST_F(RecordsTool, ShowsTheBestOrTheTrialAskedFor) {
  ExpectHas(Out({"show", "records/a.db"}),
            {"trial     3 (proposed by random)", "state     ok", "2.00 ms", "unroll out k", "unroll=3",
             "1970-01-01T00:16:40Z on the-host (a device), seed 7", "machine-1"});
  ExpectHas(Out({"show", "records/a.db", "--trial", "4"}), {"failed: wrong: element 0"});
  ExpectRefused(Records({"show", "records/a.db", "--trial", "5"}), 1, {"records/a.db: no trial 5; it has 5"});
  Record("c", kWorkloadC, {Failed(0, TrialError::kCrash, "SIGSEGV")});
  ExpectRefused(Records({"show", "records/c.db"}), 1, {"no correct trial; name one with --trial"});
}

TEST_F(RecordsTool, ExportsJsonLinesOrATableOfSeveralFiles) {
  const Words lines = Lines({"export", "records/a.db"});
  ASSERT_EQ(lines.size(), 5u);
  const Json trial = Must(ParseJson(lines[3], "line 4"));
  EXPECT_EQ(trial["ordinal"], 3);
  EXPECT_EQ(trial["median"], 2e-3);
  EXPECT_EQ(trial["samples"], Json::parse("[0.002, 0.003, 0.001]"));
  EXPECT_EQ(trial["config"]["entity"], Json::parse("[[\"unroll\", \"ot\", 3]]"));
  EXPECT_EQ(Out({"export", "records/a.db", "--out", "all.jsonl"}), "");
  EXPECT_EQ(Read("all.jsonl"), Out({"export", "records/a.db"}));
  ExpectRefused(Records({"export", "records/a.db", "--format", "xml"}), 2,
                {"--format: `xml` is not known; known: jsonl, csv, autotvm, ansor, t4"});
  ExpectRefused(Records({"export", "records/a.db", "--out", "no/such/folder"}), 1, {"no/such"});

  Record("b", kWorkloadB, {Ok(0, 1e-3)});
  const Words table = Lines({"export", "records", "--format", "csv"});
  ASSERT_EQ(table.size(), 7u);
  EXPECT_TRUE(StartsWith(table[0], "task,ordinal,state")) << table[0];
  EXPECT_TRUE(StartsWith(table[1], "a,0,ok")) << table[1];
  EXPECT_TRUE(StartsWith(table[6], "b,0,ok")) << table[6];
}

// tests/error has the messages of unreadable files, unit/record the inconsistencies.
TEST_F(RecordsTool, VerifyFindsWhatDoesNotFitAndALockIsNamed) {
  Sql("records/a.db", "UPDATE trial SET median = 99 WHERE ordinal = 0");
  const CommandResult result = Records({"verify", "records/a.db"});
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.out, {"records/a.db: trial 0: its median is 99, but its 3 samples give"});
  const auto db = Must(record::Database::Open(Path("records/a.db"), record::OpenMode::kWrite));
  Must(db->Execute("BEGIN EXCLUSIVE"));
  ExpectRefused(Records({"list", "records/a.db"}), 1, {"records/a.db: ", "lock"});
}

TEST_F(RecordsTool, SalvageGoesOnInPlaceAndKeepsTheDamagedFile) {
  std::vector<Outcome> trials;
  for (int i = 0; i < 60; ++i) trials.push_back(Ok(i, 1e-3 + 1e-6 * i));
  Record("b", kWorkloadB, trials);
  std::string bytes = Read("records/b.db");
  std::fill(bytes.end() - 4096, bytes.end(), '\x33');  // the last page, which has rows or samples
  Write("records/b.db", bytes);
  EXPECT_EQ(Records({"verify", "records/b.db"}).status.code, 1);
  ExpectHas(RecordsOk({"salvage", "records/b.db"}), {"trials saved, "});
  RecordsOk({"verify", "records/b.db"});
  EXPECT_EQ(Read("records/b.db.damaged"), bytes);
  const std::string saved = Read("records/b.db");
  ExpectHas(RecordsOk({"salvage", "records/b.db"}), {"records/b.db: sound", "records/b.db.damaged"});
  EXPECT_EQ(Read("records/b.db"), saved);
  EXPECT_EQ(Read("records/b.db.damaged"), bytes);
  Write("records/b.db", bytes + " and again");
  ExpectRefused(Records({"salvage", "records/b.db"}), 2, {"records/b.db.damaged: exists"});
  ExpectRefused(Records({"salvage", "records/none.db"}), 1, {"records/none.db: no such record file"});
}

TEST_F(RecordsTool, WhoeverLosesTheLockWritesNothing) {
  const std::string bytes = Read("records/a.db");
  for (const Words& command : {Words{"salvage", "records/a.db"}, Words{"forget", "records/a.db", "--error", "wrong"}}) {
    const auto db = Must(record::Database::Open(Path("records/a.db"), record::OpenMode::kWrite));
    Must(db->Execute("BEGIN EXCLUSIVE"));  // the tool waits for it
    Subprocess process = Start(Words{HONE_RECORDS} + command);
    for (int i = 0; i < 60000 && !Has("records/a.db.lock"); ++i) RealClock()->SleepSeconds(0.001);
    Write("records/a.db.lock", "host another\n");  // a new file, as of a process that takes it over
    Must(db->Execute("ROLLBACK"));
    EXPECT_EQ(Must(process.Wait(60)).code, 1) << command[0];
    EXPECT_EQ(Read("records/a.db"), bytes) << command[0];
    EXPECT_FALSE(Has("records/a.db.damaged"));
    Delete("records/a.db.lock");
  }
}

TEST_F(RecordsTool, MisuseIsExplained) {
  ExpectRefused(Records({"lst", "records"}), 2, {"hone-records: unknown command `lst`; did you mean `list`?\n"});
  ExpectRefused(Records({"list", "records", "--limt=3"}), 2,
                {"hone-records: unknown flag --limt; did you mean --limit?\n"});
  ExpectRefused(Records({}), 2,
                {"known: list, show, explain, export, import, compare, status, merge, distill, learn, salvage, verify, forget"});
  ExpectRefused(Records({"list"}), 2, {"files"});
  ExpectRefused(Records({"export"}), 2, {"export takes record files or folders; see hone-records export --help\n"});
  EXPECT_EQ(Out({"export", "--help"}).find("REQUIRED"), std::string::npos) << "`files` and --db are one";
  EXPECT_EQ(Out({"--abi"}), "records 1\n");
  ExpectHas(Out({"--help"}), {"explain"});
}

}  // namespace
}  // namespace hone
