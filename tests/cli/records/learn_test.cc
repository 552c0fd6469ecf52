// hone-records learn: the model file of some records, and what is refused.
#include "pipeline/model_file.h"
#include "records_folder.h"

namespace hone {
namespace {

using LearnTool = RecordsFolder;

TEST_F(LearnTool, WritesAModelOfAllTasks) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 2e-3), Failed(2, TrialError::kWrong, "x")});
  Record("c", kWorkloadC, {Ok(0, 4e-3), Pruned(1, 1e-2)});
  const CommandResult result = Records({"learn", "records", "--out", "m.model"});
  ExpectOk(result);
  ExpectHas(result.out, {"m.model: 3 of 5 trials from 2 tasks on `machine-1`"});
  const std::string text = Must(ReadFile(Path("m.model")));
  const pipeline::SavedModel model = Must(pipeline::ParseSavedModel(text, "m.model"));
  ASSERT_EQ(model.tasks.size(), 2U);
  EXPECT_EQ(model.tasks[0].workload.Text(), kWorkloadA);
  EXPECT_EQ(model.tasks[0].trials.at(0).seconds, 2e-3);
  RecordsOk({"learn", "records/c.db", "records/a.db", "--out", "again.model"});
  EXPECT_EQ(Must(ReadFile(Path("again.model"))), text);
}

TEST_F(LearnTool, SaysWhatItLeavesOutAndWhatIsWrong) {
  Record("a", kWorkloadA, {Ok(0, 4e-3), Ok(1, 2e-3)});
  Record("a", kWorkloadA, {Ok(2, 4e-3)}, "machine-2");
  const CommandResult result = Records({"learn", "records", "--out", "m.model"});
  ExpectOk(result);
  ExpectHas(result.err, {"1 trial of other devices than `machine-1`"});
  Record("bad", kWorkloadC, {Failed(0, TrialError::kWrong, "x")});
  for (const auto& [words, part] : std::vector<std::pair<Words, std::string>>{
           {{"learn", "records/bad.db", "--out", "n.model"}, "no correct trial in these files: tune first"},
           {{"learn", "missing.db", "--out", "n.model"}, "missing.db"},
           {{"learn", "records", "--out", "records"}, "records"}}) {
    const CommandResult wrong = Records(words);
    EXPECT_FALSE(wrong.status.ok());
    ExpectHas(wrong.err, {part});
    EXPECT_EQ(std::ranges::count(wrong.err, '\n'), 1) << wrong.err;
  }
  EXPECT_FALSE(Exists(Path("n.model")));
}

}  // namespace
}  // namespace hone
