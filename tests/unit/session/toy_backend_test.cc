// A back end needs only its own classes and one line per table: HACKING.md, "Adding a back end".
#include "base/file.h"
#include "base/interrupt.h"
#include "common/expect.h"
#include "fake/toy/backend.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "record/store.h"
#include "session/child_builder.h"
#include "session/tune_job.h"
#include "task/workload.h"

namespace hone::session {
namespace {

TEST(ToyBackend, IsTunedAndVerifiedInARealSession) {
  toy::AddToyBackend();
  const TempDir dir = *TempDir::Create();
  const Target target = *Target::Parse("toy");
  EXPECT_EQ(target.Text(), "toy");
  const Workload workload = *op::ParseChecked("dense(f32[2,6], f32[9,6]) + bias + relu");
  const std::string id = TaskId(workload, target.Text());
  const pipeline::TaskFile task{id, workload, target, 216, "", "", ""};
  ASSERT_TRUE(WriteFileAtomic(dir.Join("t.task.json"), pipeline::TaskFileText(task)).ok());
  pipeline::TuneSettings settings{.trials = 4};
  ASSERT_TRUE(WriteFileAtomic(dir.Join("t.tune.json"), pipeline::TuneSettingsText(settings)).ok());
  TuneJobOptions options;
  options.task_path = dir.Join("t.task.json");
  options.settings_path = dir.Join("t.tune.json");
  options.db_path = dir.Join("t.db");
  options.stamp_path = dir.Join("t.done");
  options.worker_program = HONE_TOY_WORKER;
  ASSERT_EQ(RunTuneJob(options), kDone);

  const auto store = Must(record::Store::OpenForReading(options.db_path));
  const auto trials = Must(store->Trials());
  ASSERT_GE(trials.size(), 4U);
  // A candidate that is clearly slower than the best so far is not fully measured.
  int whole = 0;
  for (const record::Trial& trial : trials) {
    if (trial.outcome.state == TrialState::kPruned) continue;
    ++whole;
    EXPECT_EQ(trial.outcome.state, TrialState::kOk) << trial.outcome.error_text;
    EXPECT_GT(trial.outcome.median, 0);
  }
  EXPECT_GE(whole, 1);
  EXPECT_THAT(Must(ReadFile(options.stamp_path)), HasSubstr("toy=a toy; id=1; driver=0.1; codegen="));

  // A driver that also names its release goes on with records that lack it.
  settings.trials = 6;
  ASSERT_TRUE(WriteFileAtomic(options.settings_path, pipeline::TuneSettingsText(settings)).ok());
  setenv("TOY_RELEASE", "0.1.7", 1);
  EXPECT_EQ(RunTuneJob(options), kDone);
  EXPECT_EQ(Must(Must(record::Store::OpenForReading(options.db_path))->CountTrials()), 6);
  // Another task has no records yet.
  options.db_path = dir.Join("u.db");
  options.stamp_path = dir.Join("u.done");
  EXPECT_EQ(RunTuneJob(options), kDone);
  EXPECT_THAT(Must(ReadFile(options.stamp_path)), HasSubstr("toy=a toy; id=1; driver=0.1; release=0.1.7; codegen="));
  unsetenv("TOY_RELEASE");

  // A kernel that was built before is not built again.
  const auto builder = Must(ChildBuilder::Create(HONE_TOY_WORKER, workload, target, 1));
  const auto build = [&](size_t trial) { return Must(builder->Build({trials[trial].outcome.config}))[0].kernel; };
  const measure::BuiltKernel first = build(0), second = build(1), again = build(0);
  EXPECT_NE(second.path, first.path);
  EXPECT_EQ(again.path, first.path);
  EXPECT_EQ(again.artifact_digest, first.artifact_digest);
  EXPECT_TRUE(Exists(first.path));
}

}  // namespace
}  // namespace hone::session
