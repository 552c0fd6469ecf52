#include "pipeline/settings.h"

#include <fmt/format.h>

#include <variant>

#include "base/fields.h"
#include "base/file.h"
#include "common/expect.h"

namespace hone::pipeline {
namespace {

TEST(Settings, WhatIsWrittenIsReadBack) {
  const TuneSettings tune{"grid",
                          7,
                          1.25,
                          3,
                          9,
                          {0.5, 2, 0, 5, 6, 7.5, 0.25},
                          4,
                          0.01,
                          "autotvm",
                          "sketches",
                          4,
                          true,
                          {{"a.sketch", "sketch a\nparallel out i\n"}},
                          {"a.model", "0f"},
                          99};
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(tune), "t.json")), tune);
  const BenchSettings bench{2, 3, 0, 5};
  EXPECT_EQ(Must(ParseBenchSettings(BenchSettingsText(bench), "b.json")), bench);
}

// A row of doc/reference/pipelines.md: | `[tune] trials` | 128 | ..
std::string DefaultOnThePage(const std::string& page, const std::string& table, const std::string& key) {
  size_t at = page.find("| `[" + table + "] " + key + "`");
  if (at == std::string::npos) at = page.find(", `" + key + "` | ", page.find("| `[" + table + "] "));
  if (at == std::string::npos) return "no row";
  const size_t begin = page.find(" | ", at) + 3;
  return page.substr(begin, page.find(" | ", begin) - begin);
}

TEST(Settings, ThePageHasEveryFieldAndItsDefault) {
  const std::string page = *ReadFile(HONE_SOURCE_DIR "/doc/reference/pipelines.md");
  std::string table;
  int fields = 0;
  Fields list([&](const std::string& key, Fields::Place place) {
    ++fields;
    const std::string found = DefaultOnThePage(page, table, key);
    std::string expected;
    if (const auto text = std::get_if<std::string*>(&place))
      expected = (*text)->empty() ? "none" : "`\"" + **text + "\"`";
    if (const auto whole = std::get_if<int64_t*>(&place)) expected = fmt::format("{}", **whole);
    if (const auto number = std::get_if<double*>(&place)) expected = fmt::format("{}", **number);
    const bool zero = expected == "0" && (found == "none" || found == "adaptive");
    EXPECT_TRUE(found == expected || zero) << "[" << table << "] " << key << ": " << found << ", not " << expected;
    return Status();
  });
  TuneSettings tune;
  BenchSettings bench;
  table = "tune";
  ListTuneKeys(&list, &tune);
  table = "measure";
  ListMeasureKeys(&list, &tune);
  table = "bench";
  ListFields(&list, &bench);
  EXPECT_GE(fields, 20);
}

TEST(Settings, Tf32StandsThereOnlyIfItIsOn) {
  TuneSettings settings;
  EXPECT_THAT(TuneSettingsText(settings), Not(HasSubstr("tf32"))) << "settings of before stay what they were";
  settings.tf32 = true;
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(settings), "t.json")), settings);
}

TEST(Settings, TheModeStandsThereOnlyIfItIsNotBoth) {
  TuneSettings settings;
  EXPECT_THAT(TuneSettingsText(settings), Not(HasSubstr("mode"))) << "settings of before stay what they were";
  settings.mode = "sketches";
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(settings), "t.json")), settings);
}

TEST(Settings, AMissingKeyHasItsDefault) {
  const TuneSettings tune = Must(ParseTuneSettings(R"({"version": 1, "trials": 3})", "t.json"));
  EXPECT_EQ(tune.trials, 3);
  EXPECT_EQ(tune.tuner, "auto");
}

TEST(Settings, LikeAnsorNamesTheTuner) {
  EXPECT_EQ(TuneSettings().TunerName(), "auto");
  for (const char* tuner : {"", R"("tuner": "auto", )", R"("tuner": "ansor", )"}) {
    const std::string text = fmt::format(R"({{"version": 1, {}"like": "ansor"}})", tuner);
    EXPECT_EQ(Must(ParseTuneSettings(text, "t.json")).TunerName(), "ansor");
  }
  EXPECT_EQ((TuneSettings{.tuner = "xgb", .like = "autotvm"}.TunerName()), "xgb");
}

TEST(Settings, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"version": 1, "trails": 3})", "trials"},
      {R"({"version": 2})", "newer"},
      {R"({"trials": 3})", "version"},
      {R"({"version": 1, "trials": 0})", "trials: must be at least 1"},
      {R"({"version": 1, "seed": -4})", "seed"},
      {R"({"version": 1, "measure": {"finalist": 4}})", "finalists"},
      {R"({"version": 1, "measure": 4})", "measure"},
      {R"({"version": 1, "measure": {"number": 4}})", "repeat: must be at least 1"},
      {R"({"version": 1, "numerics": {"winograd": 3}})", "winograd: must be \"off\", 2, 4 or 6, is 3"},
      {R"({"version": 1, "numerics": {"winogard": 4}})", "winograd"},
      {R"({"version": 1, "numerics": {"tf32": 1}})", "tf32"},
      {R"({"version": 1, "like": "anzor"})", "like: knows no `anzor`; did you mean `ansor`?"},
      {R"({"version": 1, "like": "ansor", "tuner": "xgb"})",
       "like: \"ansor\" names the tuner, which cannot be `xgb` then; leave one out"},
      {R"({"version": 1, "mode": "sketch"})", "mode: knows no `sketch`; did you mean `sketches`?"},
      {R"({"version": 1, "expected_gain": -1})", "expected_gain"},
      {R"({"version": 1,)", "t.json:1:"},
  };
  for (const auto& [text, part] : cases) {
    const std::string message = ParseTuneSettings(text, "t.json").status().message();
    EXPECT_THAT(message, StartsWith("t.json")) << text;
    EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(Settings, NumericsAreFlagsWhereTheyAreNotTheDefault) {
  EXPECT_EQ(NumericsFlags(6, false), "");
  EXPECT_EQ(NumericsFlags(0, false), "--winograd off");
  EXPECT_EQ(NumericsFlags(6, true), "--tf32");
  EXPECT_EQ(NumericsFlags(4, true), "--winograd 4 --tf32");
}

TEST(Settings, TheLargerBudgetHasMoreTrialsThenMoreSecondsThenMorePatience) {
  const auto budget = [](int64_t trials, double seconds, int64_t early_stop) {
    return TuneSettings{.trials = trials, .seconds = seconds, .early_stop = early_stop};
  };
  EXPECT_TRUE(LargerBudget(budget(64, 1, 0), budget(32, 0, 0)));
  EXPECT_TRUE(LargerBudget(budget(64, 0, 0), budget(64, 9, 0)));  // 0: no limit
  EXPECT_TRUE(LargerBudget(budget(64, 9, 0), budget(64, 9, 5)));
  EXPECT_FALSE(LargerBudget(budget(64, 9, 5), budget(64, 9, 5)));
  EXPECT_FALSE(LargerBudget(budget(32, 0, 0), budget(64, 1, 0)));
}

}  // namespace
}  // namespace hone::pipeline
