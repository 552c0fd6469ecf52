// Flags: unknown, without a value, required and missing.
#include "error_folder.h"

namespace hone {
namespace {

class FlagErrors : public ErrorFolder {};

const char* const kTools[] = {"hone-plan",  "hone-extract", "hone-tune",  "hone-pick-best",
                              "hone-build", "hone-bench",   "hone-report"};

TEST_F(FlagErrors, AMisspeltFlagIsNamedWithTheRightOne) {
  for (const char* tool : kTools) {
    const std::vector<std::string> good = Good(tool);
    for (size_t i = 1; i < good.size(); i += 2) {
      std::vector<std::string> argv = good;
      argv[i] += "x";
      ExpectRefused(argv, {argv[i], "did you mean " + good[i] + "?"});
    }
  }
}

TEST_F(FlagErrors, AFlagWithoutItsValueAndAStrayWordAreNamed) {
  for (const char* tool : kTools) {
    std::vector<std::string> argv = Good(tool);
    const std::string last = argv[argv.size() - 2];
    argv.pop_back();
    ExpectRefused(argv, {last});
    argv = Good(tool);
    argv.push_back("stray-word");
    ExpectRefused(argv, {"stray-word"});
    ExpectRefused({tool, "--nothing-like-it"}, {"--nothing-like-it"});
  }
}

TEST_F(FlagErrors, WhatIsRequiredIsNamed) {
  for (const char* tool : {"hone-extract", "hone-tune", "hone-pick-best", "hone-build", "hone-bench", "hone-report"}) {
    ExpectRefused({tool}, {"--", "required"});
  }
  ExpectRefused({"hone-records"}, {"list", "verify"});
  ExpectRefused({"hone-records", "lst"}, {"lst", "did you mean `list`?"});
  ExpectRefused({"hone-records", "list", "--limt", "3", "x"}, {"--limt", "--limit"});
}

TEST_F(FlagErrors, ValuesOutOfRangeAreNamed) {
  const std::string task = project_->Tasks("one").at(0);
  ExpectRefused(With("hone-extract", "--batch", "many"), {"--batch"});
  ExpectRefused(With("hone-tune", "--trial", "-1"), {"--trial"});
  ExpectRefused(With("hone-tune", "--trial", "999999999999"), {"999999999999"});
  ExpectRefused(With("hone-tune", "--explain", "x"), {"--explain"});
  ExpectRefused(With("hone-build", "--name", "a/b"), {"--name", "a/b"});
  ExpectRefused(With("hone-build", "--jobs", "-2"), {"--jobs"});
  ExpectRefused(With("hone-bench", "--slowest", "x"), {"--slowest"});
  ExpectRefused(With("hone-bench", "--lib", "pipelines"), {"pipelines", "hone-build"});
  ExpectRefused({"hone-records", "show", "work/records/cpu/" + task + ".db", "--trial", "99"}, {"no trial 99"});
  ExpectRefused({"hone-records", "export", "work/records/cpu", "--format", "xml"}, {"xml", "jsonl, csv"});
}

// An output that cannot be made is named, not left half.
TEST_F(FlagErrors, OutputsThatCannotBeWrittenAreNamed) {
  project_->Write("file", "a file where a folder is wanted\n");
  ExpectRefused(With("hone-plan", "--work", "file/work"), {"file"});
  ExpectRefused(With("hone-extract", "--graph", "file/g.json"), {"file"});
  ExpectRefused(With("hone-tune", "--db", "file/t.db"), {"file"});
  ExpectRefused(With("hone-pick-best", "--out", "file/best.json"), {"file"});
  ExpectRefused(With("hone-build", "--out", "file/out"), {"file"});
  ExpectRefused(With("hone-report", "--out", "file/report"), {"file"});
}

}  // namespace
}  // namespace hone
