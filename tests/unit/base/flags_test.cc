#include "base/flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace hone {
namespace {

struct Outcome {
  std::optional<int> code;
  std::string err;
  int trials;
};

Outcome Parse(std::vector<const char*> argv) {
  CLI::App app("Tunes a task.", "hone-tune");
  Outcome outcome{std::nullopt, "", 0};
  std::string task;
  app.add_option("--trials", outcome.trials, "how many");
  app.add_option("--task", task, "the task")->required();
  double share = 0;
  uint64_t index = 0;
  app.add_option("--share", share, "in a range")->check(CLI::Range(0.0, 1.0));
  app.add_option("--index", index, "of a point");
  argv.insert(argv.begin(), "path/to/hone-tune");
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  outcome.code = ParseFlags(&app, static_cast<int>(argv.size()), argv.data());
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

TEST(Flags, HelpIsNoMistake) { EXPECT_EQ(Parse({"--help"}).code, 0); }

TEST(Flags, UnknownFlagsAreSuggested) {
  Outcome outcome = Parse({"--task", "x", "--trails=5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "hone-tune: unknown flag --trails; did you mean --trials?\n");
  EXPECT_EQ(Parse({"--task", "x", "--colour"}).err, "hone-tune: unknown flag --colour; see --help\n");
}

TEST(Flags, OtherMistakesAreOneLine) {
  for (const Outcome& outcome :
       {Parse({"--task", "x", "--trials", "many"}), Parse({}), Parse({"--task", "x", "stray"})}) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.find("hone-tune: "), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
}

TEST(Flags, NumbersThatAreNoneAreNamed) {
  EXPECT_EQ(Parse({"--task", "x", "--trials", "many"}).err, "hone-tune: --trials: `many` is not a whole number\n");
  EXPECT_EQ(Parse({"--task", "x", "--trials", "1.5"}).err, "hone-tune: --trials: `1.5` is not a whole number\n");
  EXPECT_EQ(Parse({"--task", "x", "--trials", "99999999999999999999"}).err,
            "hone-tune: --trials: 99999999999999999999 is too large\n");
  EXPECT_EQ(Parse({"--task", "x", "--trials", "99999999999"}).err, "hone-tune: --trials: 99999999999 is too large\n");
  EXPECT_EQ(Parse({"--task", "x", "--trials", "-1"}).trials, -1);
  EXPECT_EQ(Parse({"--task", "x", "--share", "nan"}).err, "hone-tune: --share: `nan` is not a number\n");
  EXPECT_EQ(Parse({"--task", "x", "--share", "a"}).err, "hone-tune: --share: `a` is not a number\n");
  EXPECT_EQ(Parse({"--task", "x", "--share", "1e-3"}).code, std::nullopt);
  EXPECT_EQ(Parse({"--task", "x", "--index", "-1"}).err, "hone-tune: --index: `-1` is not a whole number from 0 up\n");
  EXPECT_EQ(Parse({"--task", "x", "--index", "18446744073709551615"}).code, std::nullopt) << "a seed may be that";
  EXPECT_EQ(Parse({"--task", "x", "--index", "99999999999999999999"}).err,
            "hone-tune: --index: 99999999999999999999 is too large\n");
}

TEST(Flags, AnEmptyValueIsRefusedByName) {
  EXPECT_EQ(Parse({"--task", ""}).err, "hone-tune: --task: its value is empty\n");
  EXPECT_EQ(Parse({"--task", ""}).code, 2);
  EXPECT_EQ(Parse({"--task="}).code, 2);
}

TEST(Flags, WhatIsQuotedIsPrintable) {
  EXPECT_EQ(Parse({"--task", "x", "--tri\nals\x1b[2J=5"}).err,
            "hone-tune: unknown flag --tri\\nals\\x1b[2J; see --help\n");
}

// A misspelt flag in place of a required one: the slip is what the user wants to hear about.
TEST(Flags, AMisspeltRequiredFlagIsSuggestedToo) {
  EXPECT_EQ(Parse({"--tsak", "x"}).err, "hone-tune: unknown flag --tsak; did you mean --task?\n");
}

std::string CommandMistake(std::vector<const char*> argv) {
  CLI::App app("Shows records.", "hone-records");
  app.require_subcommand(1);
  std::vector<std::string> files;
  int limit = 0;
  CLI::App* list = app.add_subcommand("list", "a line a trial");
  list->add_option("files", files, "record files")->required();
  list->add_option("--limit", limit, "so many");
  app.add_subcommand("verify", "checks")->add_option("files", files, "record files");
  argv.insert(argv.begin(), "path/to/hone-records");
  testing::internal::CaptureStderr();
  EXPECT_EQ(ParseFlags(&app, static_cast<int>(argv.size()), argv.data(), "records 1"), 2);
  return testing::internal::GetCapturedStderr();
}

TEST(Flags, UnknownCommandsAreSuggested) {
  EXPECT_EQ(CommandMistake({"lst", "a.db"}), "hone-records: unknown command `lst`; did you mean `list`?\n");
  EXPECT_EQ(CommandMistake({"frobnicate"}), "hone-records: unknown command `frobnicate`; known: list, verify\n");
  EXPECT_EQ(CommandMistake({}), "hone-records: a command is missing; known: list, verify\n");
}

TEST(Flags, UnknownFlagsOfACommandGetThatCommandsSuggestions) {
  EXPECT_EQ(CommandMistake({"list", "a.db", "--limt", "3"}),
            "hone-records: unknown flag --limt; did you mean --limit?\n");
  EXPECT_EQ(CommandMistake({"list", "--limt=3", "a.db"}), "hone-records: unknown flag --limt; did you mean --limit?\n");
  // The other command has no such flag.
  EXPECT_EQ(CommandMistake({"verify", "a.db", "--limit", "3"}),
            "hone-records: unknown flag --limit; see verify --help\n");
}

TEST(Flags, AnEmptyArgumentOfACommandIsRefused) {
  EXPECT_EQ(CommandMistake({"list", "a.db", ""}), "hone-records: files: its value is empty\n");
}

TEST(Flags, WhatACommandRequiresIsNamed) {
  const std::string mistake = CommandMistake({"list", "--limit", "3"});
  EXPECT_EQ(mistake.find("unknown"), std::string::npos) << mistake;
  EXPECT_NE(mistake.find("files"), std::string::npos) << mistake;
}

}  // namespace
}  // namespace hone
