#include "pipeline/shares.h"

#include "common/expect.h"

namespace hone::pipeline {
namespace {

int64_t Sum(const std::vector<int64_t>& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

// Plays all rounds with constant times; every task uses its budget, but no more than `limits`.
std::vector<int64_t> Play(std::vector<ShareTask> tasks, int64_t total, int rounds,
                          const std::vector<int64_t>& limits = {}) {
  std::vector<double> seconds;
  for (ShareTask& task : tasks) {
    seconds.push_back(task.seconds);
    task.seconds = 0;
  }
  std::vector<int64_t> budgets;
  for (int round = 1; round <= rounds; ++round) {
    budgets = ShareOut(tasks, total, round, rounds);
    for (size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_GE(budgets[i], tasks[i].given) << "round " << round;
      tasks[i].given = budgets[i];
      tasks[i].spent = limits.empty() ? budgets[i] : std::min(budgets[i], limits[i]);
      tasks[i].seconds = seconds[i];
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) budgets[i] = tasks[i].spent;
  return budgets;
}

// By hand: 100 trials in 4 rounds over two tasks. Round 1: 25, so 13 and 12. 75 left: 25 in round 2, split 3:1 is 18.75
// and 6.25, so 19 and 6; 50 left: 25 again, 19 and 6; then 25 again.
TEST(Shares, TheFirstRoundIsEqualAndTheOthersInProportion) {
  std::vector<ShareTask> tasks = {{1, 100}, {1, 100}};
  EXPECT_EQ(ShareOut(tasks, 100, 1, 4), (std::vector<int64_t>{13, 12}));
  tasks = {{1, 100, 13, 13, 3e-3}, {1, 100, 12, 12, 1e-3}};
  EXPECT_EQ(ShareOut(tasks, 100, 2, 4), (std::vector<int64_t>{32, 18}));
  tasks = {{1, 100, 51, 51, 3e-3}, {1, 100, 24, 24, 1e-3}};
  EXPECT_EQ(ShareOut(tasks, 100, 4, 4), (std::vector<int64_t>{70, 30}));
}

TEST(Shares, TheSumIsTheTotalAndSlowOrFrequentTasksGetMore) {
  const std::vector<ShareTask> tasks = {
      {1, 10, 0, 0, 1e-3}, {4, 10, 0, 0, 1e-3}, {1, 10, 0, 0, 5e-3}, {1, 10, 0, 0, 1e-5}};
  for (const int64_t total : {4, 5, 17, 100, 1001}) {
    const std::vector<int64_t> spent = Play(tasks, total, 4);
    EXPECT_EQ(Sum(spent), total);
    for (const int64_t s : spent) EXPECT_GE(s, 1);
    if (total < 100) continue;
    EXPECT_GT(spent[2], spent[1]);
    EXPECT_GT(spent[1], spent[0]);
    EXPECT_GT(spent[0], spent[3]);
  }
}

TEST(Shares, WhatATaskThatStopsLeavesOverGoesToTheOthers) {
  const std::vector<ShareTask> tasks = {{9, 10, 0, 0, 1e-3}, {1, 10, 0, 0, 1e-3}, {1, 10, 0, 0, 1e-3}};
  const std::vector<int64_t> spent = Play(tasks, 120, 4, {20, 1000, 1000});
  EXPECT_EQ(spent[0], 20);
  EXPECT_EQ(Sum(spent), 120);
  const std::vector<int64_t> all_stop = Play(tasks, 120, 4, {5, 6, 7});
  EXPECT_EQ(all_stop, (std::vector<int64_t>{5, 6, 7}));
}

TEST(Shares, ATaskThatNothingIsKnownOfIsTakenToBeAsSlowForItsWorkAsTheSlowest) {
  const std::vector<ShareTask> tasks = {{1, 100, 10, 10, 1e-3}, {1, 200, 10, 10, 0}};
  EXPECT_EQ(ShareOut(tasks, 50, 2, 2), (std::vector<int64_t>{20, 30}));
}

TEST(Shares, ReadsAStamp) {
  const auto state = Must(ParseStamp(
      R"({"version": 1, "task": "x", "budget": {"trials": 9, "seconds": 0}, "search": {"trials": 8, "seconds": 0.5}})",
      "s"));
  EXPECT_EQ(state.given, 9);
  EXPECT_EQ(state.spent, 8);
  EXPECT_EQ(state.seconds, 0.5);
  for (const char* text : {"", "{", "[]", "{}", R"({"budget": {"trials": 3}})", R"({"budget": {}, "search": {}})"}) {
    EXPECT_THAT(ParseStamp(text, "stamps/x.done").status().message(), StartsWith("stamps/x.done")) << text;
  }
}

}  // namespace
}  // namespace hone::pipeline
