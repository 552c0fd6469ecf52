#include "nightly/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Night SomeNight() {
  Night night;
  night.recorded = "2026-11-21T03:00:00Z";
  night.host = "node \"7\"\n";
  night.fingerprint = "f1";
  night.library = {"aa", {0.0101, 0.0102, 0.01}};
  night.reference = {"bb", {0.01, 0.0101, 0.0099}};
  night.canary = Subject{"cc", {0.002, 0.0021}};
  night.comparison = {Change::kSlower, 1.06, 1.04, 1.08, 0.0006, 0.02, "+6.0 % is more than 2.0 %, p = 0.0006"};
  night.repeat = Repeat{{0.011}, {0.01}, Change::kSlower};
  return night;
}

TEST(History, WhatIsWrittenIsRead) {
  Night plain = SomeNight();
  plain.canary.reset();
  plain.repeat.reset();
  plain.environment = "another kernel";
  plain.comparison.change = Change::kFaster;
  const auto history = ParseHistory(NightText(SomeNight()) + NightText(plain), "n.jsonl");
  ASSERT_TRUE(history.ok()) << history.status().message();
  ASSERT_EQ(history->nights.size(), 2u);
  EXPECT_EQ(history->torn, 0);
  EXPECT_EQ(NightText(history->nights[0]), NightText(SomeNight()));
  EXPECT_EQ(NightText(history->nights[1]), NightText(plain));
  EXPECT_EQ(history->nights[0].host, "node \"7\"\n");
  EXPECT_THAT(history->nights[0].repeat->library, ElementsAre(0.011));
  EXPECT_EQ(history->nights[1].comparison.change, Change::kFaster);
}

// A machine that died while it wrote must not cost the nights before.
TEST(History, ATornLastLineIsLeftOutAndTold) {
  const std::string line = NightText(SomeNight());
  const auto history = ParseHistory(line + line.substr(0, line.size() / 2), "n.jsonl");
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->nights.size(), 1u);
  EXPECT_EQ(history->torn, 1);
  EXPECT_EQ(ParseHistory("", "n.jsonl")->nights.size(), 0u);
}

TEST(History, BadLinesAreNamed) {
  const std::string line = NightText(SomeNight());
  auto message = [&](const std::string& text) {
    const auto history = ParseHistory(text, "n.jsonl");
    return history.ok() ? "" : history.status().message();
  };
  EXPECT_THAT(message(line + "{]\n"), HasSubstr("n.jsonl, line 2"));
  EXPECT_THAT(message("{\"version\": 9}\n"), HasSubstr("9"));
  std::string other = line;
  other.replace(other.find("\"slower\""), 8, "\"slowed\"");
  EXPECT_THAT(message(other), HasSubstr("expected none, slower or faster, found `slowed`"));
  other = line;
  other.replace(other.find("0.0101"), 6, "-0.101");
  EXPECT_THAT(message(other), HasSubstr("seconds must be above 0"));
}

TEST(History, EqualLibrariesOfTheSameEnvironmentTellTheNoise) {
  std::vector<Night> nights(4, SomeNight());
  nights[0].library.digest = nights[0].reference.digest;
  nights[1].library.digest = nights[1].reference.digest;
  nights[1].fingerprint = "f2";
  nights[2].library.digest = nights[2].reference.digest;
  nights[2].environment = "moved";
  EXPECT_THAT(EqualRatios(nights, "f1"), ElementsAre(1.06));
}

TEST(History, ACanaryThatMovesIsTheMachine) {
  std::vector<Night> nights(6, SomeNight());
  for (size_t i = 0; i < nights.size(); ++i) nights[i].canary->processes = {0.002 + 1e-6 * static_cast<double>(i)};
  Night tonight = SomeNight();
  tonight.canary->processes = {0.00205};
  EXPECT_THAT(EnvironmentMoved(nights, tonight), HasSubstr("+2.4 %"));
  tonight.canary->processes = {0.00202};
  EXPECT_EQ(EnvironmentMoved(nights, tonight), "");
  tonight.canary->processes = {0.003};
  tonight.canary->digest = "another canary";
  EXPECT_EQ(EnvironmentMoved(nights, tonight), "");
  tonight = SomeNight();
  tonight.canary->processes = {0.003};
  nights.resize(4);
  EXPECT_EQ(EnvironmentMoved(nights, tonight), "");
}

}  // namespace
}  // namespace hone::nightly
