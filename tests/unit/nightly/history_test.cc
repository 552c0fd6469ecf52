#include "nightly/history.h"

#include "base/file.h"
#include "common/expect.h"

namespace hone::nightly {
namespace {

Night SomeNight() {
  Night night;
  night.recorded = "2026-11-21T03:00:00Z";
  night.host = "node \"7\"\n";
  night.fingerprint = "f1";
  night.library = {"aa", {0.0101, 0.0102, 0.01}, {{"c1", 0.004}, {"c\"2", 0.006}}};
  night.night = "2026-11-21T02:50:00Z";
  night.tools = "hone 0.1.0";
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
  const auto history = Must(ParseHistory(NightText(SomeNight()) + NightText(plain), "n.jsonl"));
  ASSERT_EQ(history.nights.size(), 2u);
  EXPECT_TRUE(history.damaged.empty());
  EXPECT_EQ(NightText(history.nights[0]), NightText(SomeNight()));
  EXPECT_EQ(NightText(history.nights[1]), NightText(plain));
  EXPECT_EQ(history.nights[0].host, "node \"7\"\n");
  EXPECT_EQ(history.nights[0].library.layers.at(1).node, "c\"2");
  EXPECT_EQ(history.nights[0].night, "2026-11-21T02:50:00Z");
  EXPECT_THAT(history.nights[0].repeat->library, ElementsAre(0.011));
  EXPECT_EQ(history.nights[1].comparison.change, Change::kFaster);
  // Older versions of Hone also wrote quantiles.
  std::string older = NightText(plain);
  older.insert(older.find("\"processes\""), "\"min\":1,\"p10\":1,\"median\":1,\"p90\":1,\"p99\":1,");
  EXPECT_EQ(NightText(ParseHistory(older, "n.jsonl")->nights.at(0)), NightText(plain));
}

// A machine that dies while writing must not lose earlier nights; the next line cuts off the torn one.
TEST(History, ATornLastLineIsLeftOutAndTold) {
  const std::string line = NightText(SomeNight()), torn = line.substr(0, line.size() / 2);
  const auto history = Must(ParseHistory(line + torn, "n.jsonl"));
  EXPECT_EQ(history.nights.size(), 1u);
  EXPECT_THAT(history.damaged, ElementsAre("n.jsonl: the last line was cut off"));
  EXPECT_EQ(ParseHistory("", "n.jsonl")->nights.size(), 0u);
  const auto dir = Must(TempDir::Create());
  const std::string path = dir.Join("nights/a.cpu.jsonl");
  ASSERT_TRUE(AppendLine(path, line).ok());
  ASSERT_TRUE(WriteFileAtomic(path, line + torn).ok());
  ASSERT_TRUE(AppendLine(path, line).ok());
  EXPECT_EQ(*ReadFile(path), line + line);
  // Also if it was the only line, or longer than one read.
  ASSERT_TRUE(WriteFileAtomic(path, std::string(10000, 'x')).ok());
  ASSERT_TRUE(AppendLine(path, line).ok());
  EXPECT_EQ(*ReadFile(path), line);
  EXPECT_EQ(ReadHistory(path)->nights.size(), 1u);
  EXPECT_EQ(ReadHistory(dir.Join("none.jsonl"))->nights.size(), 0u);
}

TEST(History, ABadLineCostsItsOwnNightAndIsNamed) {
  const std::string line = NightText(SomeNight());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = line;
    return other.replace(other.find(from), from.size(), to);
  };
  const struct {
    std::string bad, why;
  } cases[] = {{"{]\n", "n.jsonl, line 2"},
               {"\n", "n.jsonl, line 2"},
               {with("\"slower\"", "\"slowed\""), "expected none, slower or faster, found `slowed`"},
               {with("0.0101", "-0.101"), "seconds must be above 0"}};
  for (const auto& c : cases) {
    const auto history = Must(ParseHistory(line + c.bad + line, "n.jsonl"));
    EXPECT_EQ(history.nights.size(), 2u) << c.bad;
    EXPECT_THAT(history.damaged, ElementsAre(HasSubstr(c.why)));
  }
  // Skipping a line of a newer version would mean judging by half the facts.
  const auto newer = ParseHistory(line + "{\"version\": 9}\n", "n.jsonl");
  EXPECT_EQ(newer.status().kind(), StatusKind::kUnsupported);
  EXPECT_THAT(newer.status().message(), HasSubstr("9"));
}

TEST(History, NightsThatSayNothingAreNoNoise) {
  std::vector<Night> nights(5, SomeNight());
  for (Night& night : nights) night.library.digest = night.reference.digest;
  nights[1].fingerprint = "f2";
  nights[2].environment = "moved";
  nights[3].failure = "crashed";
  nights[4].comparison.ratio = 0.98;
  EXPECT_THAT(NoiseRatios(nights, "f1"), ElementsAre(1.06, 0.98));
}

// If the reference is older than the library, no night compares equal ones, but the same pair is compared every night.
TEST(History, APairThatIsComparedAgainAndAgainTellsTheNoiseToo) {
  std::vector<Night> nights(5, SomeNight());
  for (size_t i = 0; i < nights.size(); ++i) nights[i].comparison.ratio = 0.8 + 0.01 * static_cast<double>(i);
  const std::vector<double> ratios = NoiseRatios(nights, "f1");
  ASSERT_EQ(ratios.size(), 5u);
  EXPECT_NEAR(ratios[0], 0.80 / 0.82, 1e-12);
  EXPECT_NEAR(ratios[4], 0.84 / 0.82, 1e-12);
  nights.resize(4);
  EXPECT_TRUE(NoiseRatios(nights, "f1").empty());
}

}  // namespace
}  // namespace hone::nightly
