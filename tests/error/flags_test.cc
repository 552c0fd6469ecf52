// Flags: unknown, without a value, required and missing. cli/records has those of hone-records.
#include "error_folder.h"

namespace hone {
namespace {

class FlagErrors : public ErrorFolder {};

const char* const kTools[] = {"hone-plan",    "hone-extract", "hone-tune",   "hone-pick-best", "hone-build",
                              "hone-confirm", "hone-bench",   "hone-report", "hone-quantise"};

TEST_F(FlagErrors, AMisspeltFlagIsNamedWithTheRightOne) {
  for (const char* tool : kTools) {
    Words argv = Good(tool);
    for (size_t i = 1; i < argv.size(); i += 2) {
      const std::string flag = std::exchange(argv[i], argv[i] + "x");
      ExpectRefused(argv, {argv[i], "did you mean " + flag + "?"});
      argv[i] = flag;
    }
  }
}

TEST_F(FlagErrors, AFlagWithoutItsValueAndAStrayWordAreNamed) {
  for (const char* tool : kTools) {
    Words argv = Good(tool);
    argv.pop_back();
    ExpectRefused(argv, {argv.back()});
    ExpectRefused(Good(tool) + Words{"stray-word"}, {"stray-word"});
    ExpectRefused({tool, "--nothing-like-it"}, {"--nothing-like-it"});
  }
}

TEST_F(FlagErrors, WhatIsRequiredIsNamed) {
  for (const std::string tool : kTools) {
    if (tool != "hone-plan") ExpectRefused({tool}, {"--", "required"});
  }
}

TEST_F(FlagErrors, WhatIsMissingComesWithWhatToDo) {
  ExpectRefused(With("hone-plan", "--pipelines", "none"), {"none: cannot list", "--pipelines"});
  ExpectRefused({"hone-plan", "--tools", "bin", "--why", "what"}, {"unknown target 'what'", "-t targets all"});
  ExpectRefused({"hone-report", "accept", "--work", "pipelines", "--reason", "x", "one.cpu"}, {"tune a network first"});
}

TEST_F(FlagErrors, ValuesOutOfRangeAreNamed) {
  ExpectRefused(With("hone-extract", "--batch", "many"), {"--batch"});
  ExpectRefused(With("hone-tune", "--trial", "-1"), {"--trial"});
  ExpectRefused(With("hone-tune", "--trial", "999999999999"), {"999999999999"});
  ExpectRefused(With("hone-tune", "--explain", "x"), {"--explain"});
  ExpectRefused(With("hone-build", "--jobs", "-2"), {"--jobs"});
  ExpectRefused(With("hone-bench", "--lib", "pipelines"), {"pipelines", "hone-build"});
}

// An output that cannot be created is named, and not left incomplete.
TEST_F(FlagErrors, OutputsThatCannotBeWrittenAreNamed) {
  Write("file", "a file where a folder is wanted\n");
  for (const auto& [tool, flag] :
       {std::pair("hone-plan", "--work"), std::pair("hone-extract", "--graph"), std::pair("hone-tune", "--db"),
        std::pair("hone-pick-best", "--out"), std::pair("hone-build", "--out"), std::pair("hone-report", "--out")}) {
    ExpectRefused(With(tool, flag, "file/out"), {"file"});
  }
  // Not after minutes of measuring.
  for (const auto& [tool, flag] :
       {std::pair("hone-bench", "--out"), std::pair("hone-confirm", "--out"), std::pair("hone-confirm", "--choice")}) {
    ExpectRefused(With(tool, flag, "work"), {std::string(flag) + ": work: cannot open: it is a folder"});
  }
}

}  // namespace
}  // namespace hone
