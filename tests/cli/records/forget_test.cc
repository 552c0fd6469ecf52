// hone-records forget, and the warnings of verify that lead to it.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "record/foreign_store.h"
#include "records_folder.h"

namespace hone {
namespace {

constexpr char kDb[] = "work/records/cpu/a.db";
constexpr double kDay = 86400;

class ForgetTool : public RecordsFolder {
 protected:
  // Two sessions, on 1970-01-11 and 1970-01-21, which ended ten seconds later.
  void SetUp() override {
    Record("a", kWorkloadA, {Ok(0, 4e-3), Full(1), Full(2), Failed(3, TrialError::kWrong, "element 0")}, "machine-1",
           10 * kDay);
    Record("a", kWorkloadA, {Full(4), Ok(5, 2e-3), Full(6)}, "machine-1", 20 * kDay);
    Write(kDb, Read("records/a.db"));
  }
  static Outcome Full(int64_t unroll) {
    Outcome outcome = Failed(unroll, TrialError::kCompile, fmt::format("/tmp/hone.{}: no space left", unroll));
    outcome.artifact_digest = outcome.steps = "";
    return outcome;
  }
  // The numbers of the configs that are left, in order.
  std::vector<uint64_t> Left(const std::string& db = kDb) const {
    std::vector<uint64_t> left;
    const auto trials = Must(Must(record::Store::OpenForReading(Path(db)))->Trials());
    for (const record::Trial& trial : trials) left.push_back(trial.outcome.config.index);
    return left;
  }
  using Numbers = std::vector<uint64_t>;
};

TEST_F(ForgetTool, RemovesTheTrialsAndTheStamps) {
  for (const char* stamp : {"a.cpu.done", "a.cpu.winograd-2.done", "b.cpu.done"}) {
    Write(std::string("work/stamps/") + stamp, "{}");
  }
  const std::string bytes = Read(kDb);
  const std::string dry = RecordsOk({"forget", kDb, "--error", "compile", "--since", "1970-01-21", "--dry-run"});
  ExpectHas(dry, {std::string(kDb) + ": 2 trials would be removed\n", "  4  compile  dense unroll=4  ",
                  "  6  compile  dense unroll=6  (/tmp/hone.6: no space left)\n"});
  EXPECT_EQ(Read(kDb), bytes);
  EXPECT_TRUE(Has("work/stamps/a.cpu.done"));

  EXPECT_EQ(RecordsOk({"forget", kDb, "--error", "compile", "--since", "1970-01-21"}),
            std::string(kDb) + ": 2 trials removed, and 2 stamps\n");
  EXPECT_EQ(Left(), (Numbers{0, 1, 2, 3, 5}));
  for (const char* stamp : {"a.cpu.done", "a.cpu.winograd-2.done"}) {
    EXPECT_FALSE(Has(std::string("work/stamps/") + stamp)) << stamp;
  }
  EXPECT_TRUE(Has("work/stamps/b.cpu.done"));
  EXPECT_FALSE(Has(std::string(kDb) + ".lock"));

  // Nothing more: the file and its stamps stay.
  Write("work/stamps/a.cpu.done", "{}");
  const std::string rest = Read(kDb);
  EXPECT_EQ(RecordsOk({"forget", kDb, "--error=compile", "--since=2h"}), std::string(kDb) + ": 0 trials removed\n");
  EXPECT_EQ(Read(kDb), rest);
  EXPECT_TRUE(Has("work/stamps/a.cpu.done"));
  EXPECT_EQ(RecordsOk({"forget", kDb, "--error", "wrong"}), std::string(kDb) + ": 1 trial removed, and 1 stamp\n");
  EXPECT_EQ(RecordsOk({"forget", kDb, "--error", "compile"}), std::string(kDb) + ": 2 trials removed\n");
  EXPECT_EQ(Left(), (Numbers{0, 5}));
  RecordsOk({"verify", kDb});
}

TEST_F(ForgetTool, AFolderStandsForItsFilesAndOneThatIsHeldHoldsUpNoOther) {
  Record("b", kWorkloadB, {Full(0), Ok(1, 1e-3)});
  Record("c", kWorkloadC, {Full(0), Ok(1, 1e-3)});
  const auto held = Must(FileLock::Acquire(Path("records/b.db.lock")));
  const CommandResult result = Records({"forget", "records", "--error", "compile"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.out, "records/a.db: 4 trials removed\nrecords/c.db: 1 trial removed\n");
  ExpectHas(result.err, {"records/b.db.lock", std::to_string(getpid())});
  EXPECT_EQ(Left("records/b.db").size(), 2u);
  // Looking is possible meanwhile.
  ExpectHas(RecordsOk({"forget", "records/b.db", "--error", "compile", "--dry-run"}), {": 1 trial would be removed\n"});
}

TEST_F(ForgetTool, MistakesAreNamedAndChangeNothing) {
  const std::string bytes = Read(kDb);
  ExpectRefused(Records({"forget", kDb, "--error", "compil"}), 2, {"--error: ", "`compil`; did you mean `compile`?"});
  ExpectRefused(Records({"forget", kDb, "--error", "ok"}), 2, {"`ok`; known: invalid, compile, timeout, crash, "});
  ExpectRefused(Records({"forget", kDb, "--error", ""}), 2, {"--error"});
  ExpectRefused(Records({"forget", kDb}), 2, {"--error"});
  ExpectRefused(Records({"forget", "--error", "compile"}), 2, {"files"});
  ExpectRefused(Records({"forget", kDb, "--error", "compile", "--since", "yesterday"}), 2,
                {"--since: `yesterday` is not a time; give one in UTC, such as 2026-11-26"});
  ExpectRefused(Records({"forget", kDb, "--error", "compile", "--since", "2026-02-30"}), 2, {"`2026-02-30`"});
  ExpectRefused(Records({"forget", "records/none.db", "--error", "compile"}), 1,
                {"records/none.db: no such record file"});
  EXPECT_FALSE(Has("records/none.db.lock"));
  const auto db = Must(record::Database::Open(Path(kDb), record::OpenMode::kWrite));
  Must(db->Execute("BEGIN EXCLUSIVE"));
  ExpectRefused(Records({"forget", kDb, "--error", "compile"}), 1, {kDb, "lock"});
  Must(db->Execute("ROLLBACK"));
  EXPECT_EQ(Read(kDb), bytes);
}

TEST_F(ForgetTool, DamagedAndForeignFilesAreLeftAlone) {
  for (const auto& [text, part] : {std::pair(Read(kDb).substr(0, 5000), "cut short"),
                                   {std::string("this is no database\n"), "not a record file"}}) {
    Write("bad/t.db", text);
    ExpectRefused(Records({"forget", "bad", "--error", "compile"}), 1, {"bad/t.db", part});
    EXPECT_EQ(Read("bad/t.db"), text);
    EXPECT_FALSE(Has("bad/t.db.lock"));
  }
  Must(record::ForeignStore::OpenForWriting(Path("bad/t.db.foreign")));
  ExpectRefused(Records({"forget", "bad/t.db.foreign", "--error", "compile"}), 2, {"records of another tuner"});
  Sql(kDb, "UPDATE trial SET median = 99 WHERE ordinal = 0");
  Write("work/stamps/a.cpu.done", "{}");
  ExpectRefused(Records({"forget", kDb, "--error", "compile"}), 1, {kDb, "trial 0: its median is 99", "salvage"});
  EXPECT_EQ(Left().size(), 7u);
  EXPECT_TRUE(Has("work/stamps/a.cpu.done"));
}

TEST_F(ForgetTool, AFileThatCannotBeWrittenIsNamed) {
  // SQLite only reads files of a later write version (byte 18 of the header), also for root, who may write everything.
  std::string bytes = Read(kDb);
  bytes[18] = 3;
  Write(kDb, bytes);
  Write("work/stamps/a.cpu.done", "{}");
  ExpectRefused(Records({"forget", kDb, "--error", "compile"}), 1,
                {std::string(kDb) + ": cannot be written", "check the permissions of the file and its folder"});
  EXPECT_EQ(Read(kDb), bytes);
  EXPECT_TRUE(Has("work/stamps/a.cpu.done"));
  EXPECT_FALSE(Has(std::string(kDb) + ".lock"));
}

TEST_F(ForgetTool, StampsThatCannotBeListedAreNamedAndNothingIsRemoved) {
  Write("work/stamps", "not a folder");
  const std::string bytes = Read(kDb);
  ExpectRefused(Records({"forget", kDb, "--error", "compile"}), 1, {"work/stamps: cannot list"});
  EXPECT_EQ(Read(kDb), bytes);
}

TEST_F(ForgetTool, AnInterruptStopsItBetweenTwoFiles) {
  Record("b", kWorkloadB, {Full(0), Ok(1, 1e-3)});
  const auto db = Must(record::Database::Open(Path("records/a.db"), record::OpenMode::kWrite));
  Must(db->Execute("BEGIN EXCLUSIVE"));
  Subprocess process = Start({HONE_RECORDS, "forget", "records", "--error", "compile"});
  for (int i = 0; i < 60000 && !Has("records/a.db.lock"); ++i) RealClock()->SleepSeconds(0.001);
  process.Kill(SIGTERM);  // it waits for the transaction
  Must(db->Execute("ROLLBACK"));
  EXPECT_EQ(Must(process.Wait(60)).code, 75);
  EXPECT_EQ(Left("records/a.db"), (Numbers{0, 3, 5}));
  EXPECT_EQ(Left("records/b.db"), (Numbers{0, 1}));
  EXPECT_FALSE(Has("records/a.db.lock"));
  EXPECT_EQ(RecordsOk({"forget", "records", "--error", "compile"}),
            "records/a.db: 0 trials removed\nrecords/b.db: 1 trial removed\n");
}

TEST_F(ForgetTool, VerifyPointsAtWhatItWouldRemove) {
  EXPECT_EQ(RecordsOk({"verify", kDb}), std::string(kDb) + ": ok\n");
  std::vector<Outcome> trials;
  for (int64_t i = 10; i < 30; ++i) trials.push_back(i < 22 ? Full(i) : Ok(i, 1e-3 + 1e-6 * static_cast<double>(i)));
  Record("it's a", kWorkloadA, trials, "machine-1", 30 * kDay);
  const std::string out = RecordsOk({"verify", "records/it's a.db"});
  ExpectHas(out,
            {"records/it's a.db: warning: trials 0 to 11: 12 of the 20 that a session tried failed alike: compile: "
             "/tmp/hone.10: no space left; if this machine was at fault, remove them: hone-records forget "
             "'records/it'\\''s a.db' --error compile --since 1970-01-31T00:00:00Z\n",
             "records/it's a.db: ok\n"});
  // The command, as a person would copy it.
  const std::string command =
      out.substr(out.find("hone-records forget"), out.find('\n') - out.find("hone-records forget"));
  const std::string arguments = command.substr(std::string("hone-records").size());
  EXPECT_EQ(RunOk({"sh", "-c", std::string(HONE_RECORDS) + arguments}), "records/it's a.db: 12 trials removed\n");
  EXPECT_EQ(RecordsOk({"verify", "records/it's a.db"}), "records/it's a.db: ok\n");

  std::vector<Outcome> row;
  for (int64_t i = 0; i < 8; ++i) row.push_back(Failed(i, TrialError::kWrong, fmt::format("element {}\x1b[2J", i)));
  for (size_t i = 0; i < row.size(); ++i) row[i].artifact_digest = fmt::format("{:x}", i);
  Record("c", kWorkloadC, row, "machine-1", 30 * kDay);
  const std::string warned = RecordsOk({"verify", "records/c.db"});
  ExpectHas(warned,
            {"warning: trials 0 to 7: 8 failures in a row: wrong: element 0\\x1b[2J; if ", "records/c.db: ok\n"});
}

}  // namespace
}  // namespace hone
