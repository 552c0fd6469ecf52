#include "nightly/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nightly/verdict.h"

namespace hone::nightly {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two tasks, three seeds; the second is used twice.
QualityNight Found(const std::string& id, double scale = 1) {
  QualityNight night;
  night.night = id;
  night.fingerprint = "f1";
  night.trials = 24;
  night.canary_digest = "cc";
  night.canary_seconds = 0.5;
  night.tasks = {
      {"t1", 1, 0.9, {{1, 1 * scale, 24, {2 * scale, 1 * scale}}, {2, 3 * scale, 24, {}}, {3, 2 * scale, 24, {}}}},
      {"t2", 2, 0, {{1, 5 * scale, 24, {}}, {2, 4 * scale, 24, {}}, {3, 6 * scale, 24, {}}}}};
  return night;
}

TEST(Quality, TheLevelIsWeightedAndOfTheMiddleSeed) {
  EXPECT_DOUBLE_EQ(Found("n").LevelSeconds(), 2 + 2 * 5);
  QualityNight nothing = Found("n");
  for (QualityRun& run : nothing.tasks[1].runs) run.seconds = 0;
  EXPECT_EQ(nothing.LevelSeconds(), 0);
  QualityNight one = Found("n");
  one.tasks[1].runs[0].seconds = 0;  // a seed that found nothing right
  EXPECT_DOUBLE_EQ(one.LevelSeconds(), 2 + 2 * 5);
}

TEST(Quality, WhatIsWrittenIsRead) {
  QualityNight failed = Found("n2");
  failed.failure = "t1 exited 1";
  const std::string text = QualityText(Found("n1")) + QualityText(failed);
  const auto history = ParseQuality(text + "{}\n{", "q.jsonl");
  ASSERT_TRUE(history.ok()) << history.status().message();
  ASSERT_EQ(history->nights.size(), 2u);
  EXPECT_EQ(QualityText(history->nights[0]) + QualityText(history->nights[1]), text);
  EXPECT_THAT(history->nights[0].tasks.at(0).runs.at(0).curve, ElementsAre(2, 1));
  EXPECT_EQ(history->damaged.size(), 2u);
  EXPECT_EQ(history->nights[1].LevelSeconds(), 0);
}

TEST(Quality, NightsAreDividedByTheMachineAndOnlyEqualQuestionsAreCompared) {
  std::vector<QualityNight> nights = {Found("n1"), Found("n2", 2), Found("n3"), Found("n4")};
  nights[1].canary_seconds = 1;  // the machine was half as fast: nothing changed
  nights[2].trials = 48;
  EXPECT_THAT(QualityValues(nights), ElementsAre(DoubleEq(24), DoubleEq(24), 0, DoubleEq(24)));
}

TEST(Quality, TheVerdictIsNoGate) {
  const Verdict verdict = JudgeQuality({{"a.cpu", {Found("n1"), Found("n2"), Found("n3", 1.5)}}});
  EXPECT_EQ(verdict.ExitCode(), 0);
  EXPECT_THAT(verdict.jobs.at(0).words, HasSubstr("+50.0 % against 2 nights before"));
  QualityNight failed = Found("n4");
  failed.failure = "no hone-tune";
  EXPECT_EQ(JudgeQuality({{"a.cpu", {failed}}}).ExitCode(), 3);
  EXPECT_EQ(JudgeQuality({{"a.cpu", {}}}).ExitCode(), 3);
}

}  // namespace
}  // namespace hone::nightly
