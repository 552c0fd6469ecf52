// Replays of tasks that learn from each other: who learns from whom, and what.
#include "perf/replay_donors.h"

#include "common/expect.h"
#include "session/tuner_context.h"
#include "task/workload.h"

namespace hone::session {
namespace {

using record::ReplaySpace;

// Two dense layers with the same times and machine, in the order of tuning: by their ids.
std::pair<ReplaySpace, ReplaySpace> TwoTasks() {
  const auto one = Must(LoadReplay("tests/replay/dense_768x1008.replay"));
  ReplaySpace other = one;
  other.workload = "dense(f32[1,640], f32[1008,640]) + bias";
  const auto id = [](const ReplaySpace& r) { return TaskId(*Workload::Parse(r.workload), r.target); };
  if (id(other) < id(one)) return {other, one};
  return {one, other};
}

std::vector<PointIndex> TriedWith(const ReplaySpace& replay, const std::vector<search::Donor>& donors,
                                  ReplayOptions options) {
  options.donors = donors;
  options.seed = 2;
  return Must(Replay(replay, replay.MakeSpace(), options)).tried;
}

TEST(ReplayDonors, TheSecondTaskLearnsFromWhatTheTunerDidOnTheFirst) {
  const auto [first, second] = TwoTasks();
  const search::TaskSpace first_space = first.MakeSpace(), second_space = second.MakeSpace();
  ReplayOptions options;
  options.trials = 40;
  // Given in reverse order: the ids decide.
  const auto runs = Must(ReplayWithDonors({{&second, &second_space, {}}, {&first, &first_space, {}}}, options, 2));
  ASSERT_EQ(runs.size(), 2U);
  ASSERT_EQ(runs[0].size(), 2U);
  const ReplayRun& of_first = runs[1][1];  // under seed 2
  EXPECT_EQ(of_first.tried, TriedWith(first, {}, options));
  ASSERT_EQ(of_first.trials.size(), of_first.tried.size());
  EXPECT_EQ(of_first.trials[7].config.index, of_first.tried[7]);
  const auto donor = MakeDonor(*Workload::Parse(first.workload), of_first.trials, {"dense_packed"});
  ASSERT_TRUE(donor);
  EXPECT_EQ(runs[0][1].tried, TriedWith(second, {*donor}, options));
  EXPECT_NE(runs[0][1].tried, TriedWith(second, {}, options)) << "a donor changes nothing";
}

TEST(ReplayDonors, TimesOfAnotherMachineAreNone) {
  auto [first, second] = TwoTasks();
  first.machine = "elsewhere";
  const search::TaskSpace first_space = first.MakeSpace(), second_space = second.MakeSpace();
  ReplayOptions options;
  options.trials = 40;
  const auto runs = Must(ReplayWithDonors({{&first, &first_space, {}}, {&second, &second_space, {}}}, options, 2));
  EXPECT_EQ(runs[1][1].tried, TriedWith(second, {}, options));
}

TEST(ReplayDonors, WithoutOrderEachLearnsFromTheOthersAlone) {
  const auto [first, second] = TwoTasks();
  const search::TaskSpace first_space = first.MakeSpace(), second_space = second.MakeSpace();
  ReplayOptions options;
  options.trials = 40;
  const auto runs = Must(ReplayUnseen({{&first, &first_space, {}}, {&second, &second_space, {}}}, options, 2));
  ASSERT_EQ(runs.size(), 2U);
  for (const auto& [task, other, run] :
       {std::tuple(first, second, runs[0][1]), std::tuple(second, first, runs[1][1])}) {
    options.seed = 2;
    const ReplayRun taught = Must(Replay(other, other.MakeSpace(), options));
    std::vector<double> seconds;
    for (const Outcome& trial : taught.trials) seconds.push_back(trial.state == TrialState::kOk ? trial.median : 0);
    search::Donor donor{*Workload::Parse(other.workload), {}};
    for (const size_t i : search::ChooseTrials(seconds, kMostOfTask)) donor.outcomes.push_back(taught.trials[i]);
    ASSERT_FALSE(donor.outcomes.empty());
    EXPECT_EQ(run.tried, TriedWith(task, {donor}, options));
    EXPECT_NE(run.tried, TriedWith(task, {}, options));
  }
}

TEST(ReplayDonors, AWorkloadThatIsNoneIsRefused) {
  auto [first, second] = TwoTasks();
  first.workload = "dense(";
  const search::TaskSpace space = first.MakeSpace();
  EXPECT_FALSE(ReplayWithDonors({{&first, &space, {}}}, {}, 1).ok());
}

}  // namespace
}  // namespace hone::session
