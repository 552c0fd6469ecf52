// hone-records distill: its files are enough for hone-pick-best, which chooses the same from them.
#include "pipeline/best_file.h"
#include "record/store.h"
#include "records_folder.h"

namespace hone {
namespace {

class DistillTool : public RecordsFolder {
 protected:
  // The choice that hone-pick-best makes from this folder: configs and times of the finalists, the built one first.
  std::string Choice(const std::string& records, const Words& more = {}) {
    RunOk(Words{HONE_PICK_BEST, "--tasks", "tasks/net.cpu.tasks.json", "--records", records, "--out", "best.json"} +
          more);
    std::string text;
    const pipeline::BestFile best = Must(pipeline::ReadBestFile(Path("best.json")));
    for (const pipeline::BestEntry& entry : best.tasks) {
      for (const pipeline::Finalist& f : entry.finalists) {
        text += fmt::format("{} {} {} {}\n", entry.fingerprint, f.config.Text(), f.median, f.candidate->Text());
      }
    }
    return text;
  }
  int64_t Count(const std::string& file) {
    return Must(Must(record::Store::OpenForReading(Path(file)))->CountTrials());
  }
};

TEST_F(DistillTool, PickBestChoosesTheSameFromIt) {
  WriteTaskList({{"a", kWorkloadA}, {"c", kWorkloadC}});
  std::vector<Outcome> outcomes = {Failed(900, TrialError::kWrong, "x"), Pruned(901, 1e-4)};
  for (int i = 0; i < 100; ++i) outcomes.push_back(Ok(i, 1e-3 * (1 + (i * 37) % 100 / 100.0)));
  Outcome winograd = Ok(950, 1e-4), other = Ok(951, 1.2e-3);
  winograd.steps = "algorithm winograd(m=6)\nunroll out k\n";
  other.config.template_name = "another_template";
  outcomes.insert(outcomes.end(), {winograd, other});
  Record("a", kWorkloadA, outcomes, "machine-2", 500);
  Record("a", kWorkloadA, {Ok(990, 9e-3), Ok(991, 8e-3)});
  Record("c", kWorkloadC, {Ok(0, 4e-3), Ok(1, 2e-3)});
  const CommandResult result = Records({"distill", "records", "--out", "out"});
  ExpectOk(result);
  ExpectHas(result.err, {"of 106 trials kept", "c: 1 of 2 trials kept"});
  EXPECT_LT(Count("out/a.db"), 20);
  RecordsOk({"verify", "out"});
  EXPECT_EQ(Choice("out"), Choice("records"));
  ExpectHas(Choice("out"), {"machine-1"});
  // The older machine's stay as well: without the newer session, its best are chosen, whatever the limits.
  for (const char* folder : {"records", "out"}) {
    const std::string file = std::string(folder) + "/a.db";
    Sql(file,
        "DELETE FROM sample WHERE trial IN (SELECT ordinal FROM trial WHERE session = 2);"
        "DELETE FROM trial WHERE session = 2; DELETE FROM session WHERE id = 2");
  }
  EXPECT_EQ(Choice("out"), Choice("records"));
  ExpectHas(Choice("out"), {"machine-2", "winograd(m=6)"});
  EXPECT_EQ(Choice("out", {"--winograd", "off"}), Choice("records", {"--winograd", "off"}));
  ExpectHas(Choice("out", {"--winograd", "off"}), {"another_template"});
}

TEST_F(DistillTool, BestLimitsTheTrialsOfATask) {
  Record("a", kWorkloadA, {Ok(0, 1.2e-3), Ok(1, 1e-3), Ok(2, 1.1e-3)});
  RecordsOk({"distill", "records/a.db", "--out", "one", "--best", "1"});
  EXPECT_EQ(Count("one/a.db"), 1);
  RecordsOk({"distill", "records/a.db", "--out", "two", "--best=2"});
  EXPECT_EQ(Count("two/a.db"), 2);
  ExpectRefused(Records({"distill", "records/a.db", "--out", "none", "--best", "0"}), 2,
                {"--best: must be 1 or more, is 0"});
  EXPECT_FALSE(Has("none"));
}

TEST_F(DistillTool, RefusesToOverwriteAndDoesTheOtherTasks) {
  Record("a", kWorkloadA, {Ok(0, 1e-3), Ok(1, 2e-3)});
  Record("c", kWorkloadC, {Ok(0, 1e-3)});
  RecordsOk({"distill", "records/a.db", "--out", "out"});
  const std::string before = Read("out/a.db"), input = Read("records/a.db");
  const CommandResult again = Records({"distill", "records", "--out", "out"});
  EXPECT_EQ(again.status.code, 2);
  ExpectHas(again.err, {"out/a.db: is there already; name another folder", "c: 1 of 1 trial kept"});
  EXPECT_EQ(Read("out/a.db"), before);
  EXPECT_TRUE(Has("out/c.db"));
  EXPECT_EQ(Records({"distill", "records", "--out", "records"}).status.code, 2);
  EXPECT_EQ(Read("records/a.db"), input);
}

TEST_F(DistillTool, TasksWithoutACorrectTrialAreNamed) {
  Record("a", kWorkloadA, {Failed(0, TrialError::kCrash, "signal 11"), Pruned(1, 1e-3)});
  const CommandResult result = Records({"distill", "records", "--out", "out"});
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.err, {"warning: a: 2 trials: no trial was correct and timed: left out"});
  EXPECT_FALSE(Has("out/a.db"));
  ExpectRefused(Records({"distill", "gone", "--out", "out"}), 1, {"gone"});
}

}  // namespace
}  // namespace hone
