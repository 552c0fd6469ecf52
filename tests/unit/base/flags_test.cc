#include "base/flags.h"

#include "common/expect.h"

namespace hone {
namespace {

struct Outcome {
  std::optional<int> code;
  std::string err;
  int trials;
};

Outcome Parse(std::vector<const char*> argv) {
  Flags flags("hone-tune", "Tunes a task.");
  Outcome outcome{std::nullopt, "", 0};
  std::string task;
  flags.Add("--trials", &outcome.trials, "how many");
  flags.Add("--task", &task, "the task").Required();
  double share = 0;
  uint64_t index = 0;
  flags.Add("--share", &share, "in a range").Within(0.0, 1.0);
  flags.Add("--index", &index, "of a point");
  argv.insert(argv.begin(), "path/to/hone-tune");
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  outcome.code = flags.Parse(static_cast<int>(argv.size()), argv.data());
  testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Flags, GoodLine) {
  Outcome outcome = Parse({"--trials=5", "--task", "x"});
  EXPECT_EQ(outcome.code, std::nullopt);
  EXPECT_EQ(outcome.trials, 5);
  EXPECT_EQ(outcome.err, "");
}

TEST(Flags, HelpAndVersionAreNoMistakes) {
  EXPECT_EQ(Parse({"--help"}).code, 0);
  EXPECT_EQ(Parse({"--version"}).code, 0);
}

TEST(Flags, AMistakeIsOneLineThatNamesIt) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"--task", "x", "--trails=5"}, "unknown flag --trails; did you mean --trials?"},
      {{"--task", "x", "--colour"}, "unknown flag --colour; see hone-tune --help"},
      {{"--task", "x", "--tri\nals\x1b[2J=5"}, "unknown flag --tri\\nals\\x1b[2J; see hone-tune --help"},
      // A misspelt flag in place of a required one: report the misspelling.
      {{"--tsak", "x"}, "unknown flag --tsak; did you mean --task?"},
      {{"--task", "x", "--trials", "many"}, "--trials: `many` is not a whole number"},
      {{"--task", "x", "--trials", "1.5"}, "--trials: `1.5` is not a whole number"},
      {{"--task", "x", "--trials", "99999999999999999999"}, "--trials: 99999999999999999999 is too large"},
      {{"--task", "x", "--trials", "99999999999"}, "--trials: 99999999999 is too large"},
      {{"--task", "x", "--share", "nan"}, "--share: `nan` is not a number"},
      {{"--task", "x", "--share", "a"}, "--share: `a` is not a number"},
      {{"--task", "x", "--index", "-1"}, "--index: `-1` is not a whole number from 0 up"},
      {{"--task", "x", "--index", "99999999999999999999"}, "--index: 99999999999999999999 is too large"},
      {{"--task", ""}, "--task: its value is empty"},
      {{"--task="}, ""},
      {{"--task", "x", "--share", "1.5"}, "--share: 1.5 is not in the range from 0 to 1\n"},
      {{}, "--task is required; see hone-tune --help\n"},
      {{"--task", "x", "stray"}, "`stray` is not expected; see hone-tune --help\n"},
  };
  for (const auto& [argv, message] : cases) {
    const Outcome outcome = Parse(argv);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, StartsWith(std::string("hone-tune: ") + message));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
}

TEST(Flags, NumbersAtTheirLimitsAreTaken) {
  EXPECT_EQ(Parse({"--task", "x", "--trials", "-1"}).trials, -1);
  EXPECT_EQ(Parse({"--task", "x", "--share", "1e-3"}).code, std::nullopt);
  EXPECT_EQ(Parse({"--task", "x", "--index", "18446744073709551615"}).code, std::nullopt) << "a seed may be that";
}

std::string CommandMistake(std::vector<const char*> argv) {
  Flags flags("hone-records", "Shows records.");
  flags.RequireCommand();
  std::vector<std::string> files;
  int limit = 0;
  Flags& list = flags.AddCommand("list", "a line a trial");
  list.Add("files", &files, "record files").Required();
  list.Add("--limit", &limit, "so many");
  flags.AddCommand("verify", "checks").Add("files", &files, "record files");
  argv.insert(argv.begin(), "path/to/hone-records");
  testing::internal::CaptureStderr();
  EXPECT_EQ(flags.Parse(static_cast<int>(argv.size()), argv.data(), "records 1"), 2);
  return testing::internal::GetCapturedStderr();
}

TEST(Flags, MistakesInCommands) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"lst", "a.db"}, "unknown command `lst`; did you mean `list`?"},
      {{"frobnicate"}, "unknown command `frobnicate`; known: list, verify"},
      {{}, "a command is missing; known: list, verify"},
      {{"list", "a.db", "--limt", "3"}, "unknown flag --limt; did you mean --limit?"},
      {{"list", "--limt=3", "a.db"}, "unknown flag --limt; did you mean --limit?"},
      {{"verify", "a.db", "--limit", "3"},
       "unknown flag --limit; see hone-records verify --help"},  // only `list` has it
      {{"list", "a.db", ""}, "files: its value is empty"},
  };
  for (const auto& [argv, message] : cases) {
    EXPECT_EQ(CommandMistake(argv), std::string("hone-records: ") + message + "\n");
  }
}

TEST(Flags, WhatACommandRequiresIsNamed) {
  EXPECT_EQ(CommandMistake({"list", "--limit", "3"}),
            "hone-records: files is required; see hone-records list --help\n");
}

}  // namespace
}  // namespace hone
