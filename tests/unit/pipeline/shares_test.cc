#include "pipeline/shares.h"

#include <numeric>

#include "base/text.h"
#include "common/expect.h"
#include "pipeline/joint_total.h"

namespace hone::pipeline {
namespace {

using Numbers = std::vector<double>;

double Sum(const Numbers& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TuneSettings Total(int64_t trials, int64_t rounds = 4) {
  TuneSettings settings;
  settings.trials_total = trials;
  settings.rounds = rounds;
  settings.share = "time";
  return settings;
}

TuneSettings Settings(TuneSettings settings, int64_t trials) {
  settings.trials_total = trials;
  return settings;
}

ShareTask Task(int64_t uses, double seconds, double spent = 0, double given = -1) {
  SearchState search{.given = given < 0 ? spent : given, .spent = spent, .trials = static_cast<int64_t>(spent)};
  search.seconds = seconds;
  search.ended = search.spent < search.given;
  return {uses, 100, false, std::move(search)};
}

// Plays all rounds with constant times; every task uses its budget, but no more than `limits`.
Numbers Play(std::vector<ShareTask> tasks, const TuneSettings& settings, const Numbers& limits = {}) {
  const std::vector<ShareTask> first = tasks;
  for (ShareTask& task : tasks) task.search = {};
  Numbers budgets;
  for (int64_t round = 1; round <= settings.rounds; ++round) {
    budgets = ShareOut(tasks, settings, round);
    for (size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_GE(budgets[i], tasks[i].search.given) << "round " << round;
      const double spent = limits.empty() ? budgets[i] : std::min(budgets[i], limits[i]);
      tasks[i] = Task(first[i].uses, first[i].search.seconds, spent, budgets[i]);
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) budgets[i] = tasks[i].search.spent;
  return budgets;
}

// By hand: 100 trials in 4 rounds over two tasks. Round 1: 25, so 13 and 12. 75 left: 25 in round 2, split 3:1 is 18.75
// and 6.25, so 19 and 6; 50 left: 25 again, 19 and 6; then 25 again.
TEST(Shares, TheFirstRoundIsEqualAndTheOthersInProportion) {
  EXPECT_EQ(ShareOut({Task(1, 0), Task(1, 0)}, Total(100), 1), (Numbers{13, 12}));
  EXPECT_EQ(ShareOut({Task(1, 3e-3, 13), Task(1, 1e-3, 12)}, Total(100), 2), (Numbers{32, 18}));
  EXPECT_EQ(ShareOut({Task(1, 3e-3, 51), Task(1, 1e-3, 24)}, Total(100), 4), (Numbers{70, 30}));
}

TEST(Shares, TheSumIsTheTotalAndSlowOrFrequentTasksGetMore) {
  const std::vector<ShareTask> tasks = {Task(1, 1e-3), Task(4, 1e-3), Task(1, 5e-3), Task(1, 1e-5)};
  for (const int64_t rounds : {1, 2, 4, 9}) {
    for (const int64_t total : {4, 5, 17, 100, 1001}) {
      const Numbers spent = Play(tasks, Total(total, rounds));
      EXPECT_EQ(Sum(spent), total) << rounds;
      for (const double s : spent) EXPECT_GE(s, 1);
      if (total < 100 || rounds == 1) continue;
      EXPECT_GT(spent[2], spent[1]);
      EXPECT_GT(spent[1], spent[0]);
      EXPECT_GT(spent[0], spent[3]);
    }
  }
}

// In seconds, shares are not whole, and a task may spend a little more than it got.
TEST(Shares, ATotalOfSecondsIsSpentInThousandths) {
  TuneSettings settings;
  settings.share = "time";
  settings.seconds_total = 100;
  EXPECT_EQ(ShareOut({Task(1, 0), Task(1, 0), Task(1, 0)}, settings, 1), (Numbers{8.334, 8.333, 8.333}));
  // 80 s are left: 26.666 in this round, as 3:1, beyond what was spent.
  const Numbers budgets = ShareOut({Task(1, 3e-3, 11, 10), Task(1, 1e-3, 9, 9)}, settings, 2);
  EXPECT_NEAR(budgets[0], 11 + 20, 1e-3);
  EXPECT_NEAR(Sum(budgets), 20 + 26.666, 1e-9);
}

TEST(Shares, WhatATaskThatStopsLeavesOverGoesToTheOthers) {
  const std::vector<ShareTask> tasks = {Task(9, 1e-3), Task(1, 1e-3), Task(1, 1e-3)};
  const Numbers spent = Play(tasks, Total(120), {20, 1000, 1000});
  EXPECT_EQ(spent[0], 20);
  EXPECT_EQ(Sum(spent), 120);
  EXPECT_EQ(Play(tasks, Total(120), {5, 6, 7}), (Numbers{5, 6, 7}));
}

TEST(Shares, ATaskWithoutACorrectTrialCountsAsTheSlowestForItsWorkUntilItIsHopeless) {
  ShareTask unknown = Task(1, 0, 10);
  unknown.flop = 200;
  EXPECT_EQ(ShareOut({Task(1, 1e-3, 10), unknown}, Total(50, 2), 2), (Numbers{20, 30}));
  unknown = Task(1, 0, static_cast<double>(kHopeless));
  EXPECT_EQ(ShareOut({Task(1, 1e-3, 10), unknown}, Total(50, 2), 2), (Numbers{34, 16}));
}

// Two tasks alike, 16 trials each, whose tuner expects 1 % and 4 % of the next trial. Their curves did not move in the
// second half: 2 % / 16. The roots of the means, 0.5625 % and 2.0625 %, are as 1 to 1.915, so that budgets of 64 are
// 21.96 and 42.04.
TEST(Shares, ByGainTheBudgetGrowsWithTheRootOfWhatIsExpected) {
  std::vector<ShareTask> tasks = {Task(1, 1e-3, 16), Task(1, 1e-3, 16)};
  for (ShareTask& task : tasks) task.search.improvements = {{8, 1e-3}};
  TuneSettings settings = Total(64, 2);
  settings.share = "gain";
  EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{32, 32}));
  tasks[0].search.tuner_gain = 0.01, tasks[1].search.tuner_gain = 0.04;
  EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{22, 42}));
  // With little to give, the task that promises less gets nothing.
  EXPECT_EQ(ShareOut(tasks, Settings(settings, 38), 2), (Numbers{16, 22}));
  // Without a tuner that expects, from the curve: the second half took a quarter off the first task's time, and nothing
  // off the second's.
  for (ShareTask& task : tasks) task.search.tuner_gain = -1;
  tasks[0].search.improvements = {{8, 1.25e-3}, {16, 1e-3}};
  EXPECT_EQ(ShareOut(tasks, Settings(settings, 52), 2), (Numbers{36, 16}));
}

// By hand, batches of at most 64 trials. 50 trials are fewer than three batches, so the past does not count: 0.8 x 3 ms
// a batch against 0.8 x 1 ms. The first task gets all.
TEST(Shares, ByGradientTheSteepestGetsTheNextBatch) {
  std::vector<ShareTask> tasks = {Task(3, 1e-3, 50), Task(1, 1e-3, 50)};
  tasks[1].search.improvements = {{1, 4e-3}, {50, 1e-3}};
  TuneSettings settings = Total(100, 2);
  settings.share = "gradient";
  settings.trials_total = 200;
  EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{150, 50}));
  // A longer history: 256 trials are four batches of 64, and three batches ago the second task took 49 ms. Its past
  // descent of 16 ms a batch x 0.2 is more than 0.8 x 3 ms / 4.
  tasks = {Task(3, 1e-3, 256), Task(1, 1e-3, 256)};
  tasks[1].search.improvements = {{64, 49e-3}, {200, 1e-3}};
  settings.trials_total = 512 + 64;
  EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{256, 320}));
}

TEST(Shares, AWeightCountsAsMoreUses) {
  TuneSettings settings = Total(100);
  settings.weights = {{"conv2d", 3}, {"dense", 0.5}, {"dense-1", 2}};
  EXPECT_EQ(WeightOf(settings, "conv2d-0"), 3);
  EXPECT_EQ(WeightOf(settings, "conv2d_max_pool2d-0"), 1);
  EXPECT_EQ(WeightOf(settings, "dense-0"), 0.5);
  EXPECT_EQ(WeightOf(settings, "dense-1"), 2);
  std::vector<ShareTask> tasks = {Task(1, 1e-3, 13), Task(1, 1e-3, 12)};
  tasks[0].weight = 3;
  EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{32, 18}));
  tasks[0].weight = 0;
  for (const char* share : {"time", "gain", "gradient"}) {
    settings.share = share;
    EXPECT_EQ(ShareOut(tasks, settings, 2), (Numbers{13, 37})) << share;
  }
}

// 3 x 1 ms + 1 x 2 ms is 5 ms; an alternative does not count.
TEST(Shares, ANetworkThatReachesItsTargetTakesNoMore) {
  JoinedNetwork network{{"a-0", "b-0", "c-0"}, {Task(3, 1e-3, 10), Task(1, 2e-3, 10), Task(1, 9e-3, 5)}};
  network.tasks[2].optional = true;
  EXPECT_NEAR(EstimatedTotal(network.tasks), 5e-3, 1e-12);
  const auto next = [&](const char* share = "gain") {
    TuneSettings settings = Total(100);
    settings.share = share;
    return ShareOut(JoinNetworks({network}, "sum").tasks, settings, 2);
  };
  network.target_ms = 5.01;
  for (const char* share : kShares) EXPECT_EQ(next(share), (Numbers{10, 10, 5})) << share;
  network.target_ms = 4.99;
  EXPECT_EQ(Sum(next()), 50);
  // A sum without a task is no estimate.
  network.target_ms = 5.01;
  network.tasks[1].search.seconds = 0;
  int64_t unknown = 0;
  EXPECT_NEAR(EstimatedTotal(network.tasks, &unknown), 3e-3, 1e-12);
  EXPECT_EQ(unknown, 1);
  EXPECT_EQ(Sum(next()), 50);
}

TEST(Shares, SeveralNetworksShareATotal) {
  const JoinedNetwork one{{"a-0", "b-0"}, {Task(3, 1e-3, 10), Task(1, 2e-3, 10)}};
  JoinedNetwork two{{"b-0", "c-0"}, {Task(2, 2e-3, 10), Task(1, 46e-3, 10)}};  // 50 ms, ten times as slow
  two.tasks[0].weight = 5;
  const JoinedTasks sum = JoinNetworks({one, two}, "sum");
  EXPECT_EQ(sum.ids, (std::vector<std::string>{"a-0", "b-0", "c-0"}));
  EXPECT_EQ(sum.tasks[0].Weight(), 3);
  EXPECT_EQ(sum.tasks[1].Weight(), 1 + 2 * 5) << "both need it";
  EXPECT_EQ(sum.tasks[2].Weight(), 1);
  // By the geometric mean, a millisecond of the network of 5 ms counts ten times as much as one of that of 50 ms.
  const JoinedTasks mean = JoinNetworks({one, two}, "geomean");
  EXPECT_NEAR(mean.tasks[0].Weight() / mean.tasks[2].Weight(), 3 * 10, 1e-9);
  EXPECT_NEAR(mean.tasks[1].Weight() / mean.tasks[2].Weight(), 1 * 10 + 2 * 5, 1e-9);
  // The target of one stops its own tasks; those of the other go on.
  two.target_ms = 51;
  const JoinedTasks left = JoinNetworks({one, two}, "sum");
  EXPECT_EQ(left.tasks[1].Weight(), 1);
  EXPECT_EQ(left.tasks[2].Weight(), 0);
  for (const char* share : kShares) {
    TuneSettings settings = Total(100);
    settings.share = share;
    const Numbers next = ShareOut(left.tasks, settings, 2);
    EXPECT_EQ(next[2], 10) << share;
    EXPECT_GT(next[0], 10) << share;
  }
}

TEST(Shares, ATaskIsAnAlternativeIfAllItsNetworksSaySo) {
  JoinedNetwork one{{"a-0"}, {Task(1, 1e-3, 10)}}, two = one;
  one.tasks[0].optional = true;
  EXPECT_TRUE(JoinNetworks({one}, "sum").tasks[0].optional);
  EXPECT_FALSE(JoinNetworks({one, two}, "sum").tasks[0].optional);
}

TEST(Shares, ATotalThatIsTooSmallNamesItsKey) {
  EXPECT_EQ(BudgetProblem(Total(3), 3), "");
  EXPECT_THAT(BudgetProblem(Total(3), 4), StartsWith("trials_total is 3, fewer than the tasks (4)"));
  TuneSettings settings;
  settings.seconds_total = 3.5;
  EXPECT_EQ(BudgetProblem(settings, 3), "");
  EXPECT_THAT(BudgetProblem(settings, 4), StartsWith("seconds_total is 3.5, fewer than the tasks (4)"));
}

TEST(Shares, ReadsAStamp) {
  const std::string text =
      R"({"version": 1, "task": "x", "met_by": "REASON", "budget": {"trials": 9, "seconds": 7.5}, "search":
          {"trials": 8, "seconds": 0.5, "tuning_seconds": 6.5, "trial_seconds": 9, "tuner_gain": 0.25, "improvements": [[1, 2], [4, 0.5]]}})";
  const SearchState trials = Must(ParseStamp(text, "s", /*by_time=*/false));
  EXPECT_EQ(trials.given, 9);
  EXPECT_EQ(trials.spent, 8);
  EXPECT_TRUE(trials.ended);
  EXPECT_EQ(trials.seconds, 0.5);
  EXPECT_EQ(trials.trial_seconds, 9);
  EXPECT_EQ(trials.tuner_gain, 0.25);
  EXPECT_EQ(trials.BestAt(0), 0);
  EXPECT_EQ(trials.BestAt(3), 2);
  EXPECT_EQ(trials.BestAt(4), 0.5);
  const SearchState seconds = Must(ParseStamp(text, "s", /*by_time=*/true));
  EXPECT_EQ(seconds.given, 7.5);
  EXPECT_EQ(seconds.spent, 6.5);
  EXPECT_TRUE(seconds.ended);
  EXPECT_FALSE(Must(ParseStamp(ReplaceAll(text, "REASON", "seconds"), "s", true)).ended);
  // From an older version.
  const SearchState old =
      Must(ParseStamp(R"({"budget": {"trials": 9}, "search": {"trials": 9, "seconds": 0.5}})", "s", false));
  EXPECT_FALSE(old.ended);
  EXPECT_LT(old.tuner_gain, 0);
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"budget": {"trials": 3}})", R"({"budget": {}, "search": {}})",
        R"({"budget": {"trials": 3}, "search": {"trials": 3, "seconds": 1, "improvements": [[1]]}})"}) {
    EXPECT_THAT(ParseStamp(bad, "stamps/x.done", false).status().message(), StartsWith("stamps/x.done")) << bad;
  }
}

}  // namespace
}  // namespace hone::pipeline
