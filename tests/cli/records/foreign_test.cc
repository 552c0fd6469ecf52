// hone-records on the logs of other tuners: import, list, show, compare, export, verify.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "records_folder.h"

namespace hone {
namespace {

std::string Line(const std::string& task, int index, const std::string& cost, int error = 0) {
  return fmt::format(R"({{"input": ["cuda -model=x", "{}", [["TENSOR", [1, 4], "float32"], ["TENSOR", [8, 4], )"
                     R"("float32"], null, "float32"], {{}}], "config": {{"index": {}, "code_hash": null, "entity": )"
                     R"([["tile_k", "sp", [-1, {}]]]}}, "result": [[{}], {}, 1.5, 1.6e9], "version": 0.2}})",
                     task, index, 1 << index, cost, error) +
         "\n";
}

class ForeignRecords : public RecordsFolderTest {
 protected:
  CommandResult Import(const std::string& log, const std::string& db) {
    return Records({"import", "--format", "autotvm", log, "--db", db});
  }
};

TEST_F(ForeignRecords, ALogComesBackAsItWas) {
  const std::string log = Line("dense_small_batch.gpu", 1, "0.002") + Line("some.template", 7, "0.004") +
                          Line("dense_small_batch.gpu", 2, "1000000000.0", 4) + Line("dense_small_batch.gpu", 0, "NaN");
  Write("a.log", log);
  const CommandResult first = Import("a.log", "foreign/a.db");
  EXPECT_EQ(first.status.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_EQ(
      first.out,
      "a.log: 4 lines: 4 records added (2 ok, 2 failed)\n"
      "  entities: 3 at their index, 0 at another, 0 outside of the space, 1 of a template without a space here\n");
  EXPECT_EQ(Records({"export", "--format", "autotvm", "--db", "foreign/a.db"}).out, log);
  EXPECT_EQ(Import("a.log", "foreign/a.db").out, "a.log: 4 lines: 0 records added (0 ok, 0 failed), 4 there already\n");
  EXPECT_EQ(Records({"export", "foreign/a.db", "--format", "autotvm"}).out, log);
  EXPECT_EQ(Records({"verify", "foreign"}).out, "foreign/a.db: ok\n");
}

TEST_F(ForeignRecords, AreListedAndShown) {
  Write("a.log", Line("dense_small_batch.gpu", 1, "0.002") + Line("dense_small_batch.gpu", 2, "0.001") +
                     Line("some.template", 0, "1000000000.0", 6));
  ASSERT_EQ(Import("a.log", "a.db").status.code, 0);
  const std::vector<std::string> lines = Split(Trim(Records({"list", "a.db"}).out), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "  foreign records: 2 tasks, 2 ok, 1 failed");
  EXPECT_EQ(SplitWords(lines[3])[0], "2");
  EXPECT_NE(lines[3].find("1.00 ms"), std::string::npos) << lines[3];
  EXPECT_NE(lines[3].find("dense_small_batch.gpu  cuda -model=x"), std::string::npos) << lines[3];
  EXPECT_NE(lines[4].find("some.template"), std::string::npos) << lines[4];
  const std::string shown = Records({"show", "a.db", "--trial", "3"}).out;
  EXPECT_NE(shown.find("state     failed: build-timeout"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\"some.template\""), std::string::npos) << shown;
  ExpectRefused(Records({"show", "a.db", "--trial", "4"}), {"a.db: no record 4"});
}

TEST_F(ForeignRecords, AreComparedWhereBothHaveATime) {
  Write("a.log", Line("t", 0, "0.002") + Line("only.a", 0, "0.001") + Line("u", 0, "0.001"));
  Write("b.log",
        Line("t", 1, "0.001") + Line("t", 2, "0.003") + Line("only.b", 0, "1000000000.0", 1) + Line("u", 0, "0.002"));
  ASSERT_EQ(Import("a.log", "a.db").status.code, 0);
  ASSERT_EQ(Import("b.log", "b.db").status.code, 0);
  const std::vector<std::string> lines = Split(Trim(Records({"compare", "a.db", "b.db"}).out), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(SplitWords(lines[1])[0], "0.500");
  EXPECT_EQ(SplitWords(lines[2])[0], "2.000");
  EXPECT_EQ(SplitWords(lines[3])[0], "1.000");
  EXPECT_EQ(lines[4], "2 tasks in both, 1 in a alone, 0 in b alone");
  Record("own", kWorkloadA, {Ok(0, 1e-3)});
  ExpectRefused(Records({"compare", "a.db", "records/own.db"}), {"records/own.db: no file of foreign records"}, 2);
}

TEST_F(ForeignRecords, WhatIsNoRecordIsNamedAndTheRestIsKept) {
  const std::string good = Line("t", 0, "0.002"), last = Line("t", 1, "0.001");
  Write("a.log", good + "{\"input\": [\n" + good.substr(0, 90) + "\n" + last + "{\"inp");
  const CommandResult result = Import("a.log", "a.db");
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(result.out.find("5 lines: 2 records added (2 ok, 0 failed), 2 skipped, the last one cut off"),
            std::string::npos)
      << result.out;
  for (const char* part : {"a.log:2: broken JSON", "a.log:3: broken JSON", "a.log:5: the last line is cut off"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  }
  EXPECT_EQ(Records({"export", "--format", "autotvm", "--db", "a.db"}).out, good + last);
  // A torn end alone, as a writer that is killed leaves it, is no failure.
  Write("b.log", good + last.substr(0, 50));
  EXPECT_EQ(Import("b.log", "b.db").status.code, 0);
}

TEST_F(ForeignRecords, ManyBrokenLinesAreCounted) {
  std::string log = Line("t", 0, "0.002");
  for (int i = 0; i < 150; ++i) log += "x\n";
  Write("a.log", log);
  const CommandResult result = Import("a.log", "a.db");
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(result.out.find("150 skipped"), std::string::npos) << result.out;
  EXPECT_EQ(Split(Trim(result.err), '\n').size(), 101u);
  EXPECT_NE(result.err.find("a.log: and 50 more"), std::string::npos);
}

TEST_F(ForeignRecords, OtherVersionsAndOtherFilesAreRefused) {
  Write("old.log", ReplaceAll(Line("t", 0, "0.002"), "0.2}", "0.9}"));
  const CommandResult old = Import("old.log", "a.db");
  EXPECT_EQ(old.status.code, 2);
  EXPECT_NE(old.err.find("old.log: none of its 1 lines is a record of AutoTVM's format 0.2"), std::string::npos)
      << old.err;
  EXPECT_NE(old.err.find("version 0.9"), std::string::npos) << old.err;
  ExpectRefused(Import("none.log", "a.db"), {"none.log: no such file"});
  ExpectRefused(Records({"import", "old.log", "--db", "a.db", "--format", "xml"}), {"`xml` cannot be imported"}, 2);
  Write("a.log", Line("t", 0, "0.002"));
  Record("own", kWorkloadA, {Ok(0, 1e-3)});
  ExpectRefused(Import("a.log", "records/own.db"), {"records/own.db: ", "a record file of Hone's own"}, 2);
  ASSERT_EQ(Import("a.log", "a.db").status.code, 0);
  ExpectRefused(Records({"export", "a.db"}), {"a.db: foreign records", "--format autotvm"}, 2);
}

TEST_F(ForeignRecords, HonesOwnTrialsCanBeExportedAndReadAgain) {
  Record("own", kWorkloadA, {Ok(0, 1e-3), Failed(1, TrialError::kCompile, "no"), Pruned(2, 2e-3)});
  Write("own.log", Records({"export", "--format", "autotvm", "--db", "records/own.db"}).out);
  const CommandResult result = Import("own.log", "again.db");
  EXPECT_EQ(result.status.code, 0) << result.err;
  EXPECT_NE(result.out.find("3 records added (1 ok, 2 failed)"), std::string::npos) << result.out;
  EXPECT_EQ(Records({"export", "--format", "autotvm", "--db", "again.db"}).out, Read("own.log"));
}

constexpr char kT4[] = R"({"schema_version": "1.0.0", "metadata": {"gpu": "x"}, "results": [
  {"timestamp": "t", "configuration": {"block": 32, "tile": 2}, "objectives": ["time"],
   "times": {"compilation_time": 10.5, "runtimes": [2.0, 4.0]}, "invalidity": "correct", "correctness": 1,
   "measurements": [{"name": "power", "value": 9, "unit": "W"}, {"name": "time", "value": 3.0, "unit": "ms"}]},
  {"configuration": {"block": 64, "tile": 2}, "times": {}, "invalidity": "compile", "correctness": 0},
  {"configuration": {"block": 16, "tile": 2}, "times": {}, "invalidity": "correct", "correctness": 1,
   "measurements": [{"name": "time", "value": 3.0, "unit": "furlongs"}]}]})";

TEST_F(ForeignRecords, AT4DocumentComesBackWithEqualContent) {
  Write("a.json", kT4);
  const CommandResult result = Records({"import", "--format", "t4", "a.json", "--db", "a.db"});
  EXPECT_EQ(result.status.code, 0) << result.err;
  EXPECT_EQ(result.out.find("a.json: 3 results: 3 records added (1 ok, 2 failed)\n"), 0u) << result.out;
  EXPECT_EQ(Json::parse(Records({"export", "--format", "t4", "--db", "a.db"}).out), Json::parse(kT4));
  EXPECT_NE(Records({"list", "a.db"}).out.find("3.00 ms"), std::string::npos);
  EXPECT_EQ(Records({"import", "--format", "t4", "a.json", "--db", "a.db"}).out,
            "a.json: 3 results: 0 records added (0 ok, 0 failed), 3 there already\n");
  Write("b.json", ReplaceAll(kT4, "\"gpu\": \"x\"", "\"gpu\": \"y\""));
  EXPECT_EQ(Records({"import", "--format", "t4", "b.json", "--db", "b.db"}).status.code, 0);
  EXPECT_EQ(Json::parse(Records({"export", "--format", "t4", "--db", "b.db"}).out)["metadata"]["gpu"], "y");
  // Another document's equal results are results of their own; one document cannot hold both.
  const CommandResult both = Records({"import", "--format", "t4", "b.json", "--db", "a.db"});
  EXPECT_NE(both.out.find("3 records added"), std::string::npos) << both.out;
  ExpectRefused(Records({"export", "--format", "t4", "--db", "a.db"}), {"a.db: its records come from several T4"}, 2);
}

TEST_F(ForeignRecords, BadT4IsRefusedAndBadResultsAreNamed) {
  const auto import = [&](const std::string& text) {
    Write("a.json", text);
    return Records({"import", "--format", "t4", "a.json", "--db", "a.db"});
  };
  ExpectRefused(import("{\"results\": ["), {"a.json:1:"}, 2);
  ExpectRefused(import("[]"), {"a.json: not a T4 document"}, 2);
  ExpectRefused(import(ReplaceAll(kT4, "1.0.0", "2.0.0")), {"a.json: version \"2.0.0\" of T4; only 1.0 is read"}, 2);
  const CommandResult result = import(ReplaceAll(kT4, "\"invalidity\": \"compile\", ", ""));
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(result.err.find("a.json: result 2: `invalidity` is missing"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("2 records added (1 ok, 1 failed), 1 skipped"), std::string::npos) << result.out;
}

TEST_F(ForeignRecords, HonesOwnTrialsAsT4) {
  Record("own", kWorkloadA, {Ok(0, 1e-3), Failed(1, TrialError::kWrong, "no"), Pruned(2, 2e-3)});
  Write("own.json", Records({"export", "--format", "t4", "--db", "records/own.db"}).out);
  const Json document = Json::parse(Read("own.json"));
  ASSERT_EQ(document["results"].size(), 3u);
  EXPECT_EQ(document["results"][0]["configuration"], Json::parse(R"({"template": "dense", "unroll": 0})"));
  EXPECT_EQ(document["results"][0]["times"]["compilation_time"], 250);
  EXPECT_EQ(document["results"][0]["measurements"][0]["value"], 1);
  EXPECT_EQ(document["results"][1]["invalidity"], "correctness");
  EXPECT_EQ(document["results"][1]["correctness"], 0);
  EXPECT_EQ(document["results"][2]["invalidity"], "timeout");
  const CommandResult again = Records({"import", "--format", "t4", "own.json", "--db", "again.db"});
  EXPECT_NE(again.out.find("3 records added (1 ok, 2 failed)"), std::string::npos) << again.out << again.err;
}

TEST_F(ForeignRecords, RecordsOfAnotherFormatAreLeftOutWithALine) {
  Write("a.json", kT4);
  ASSERT_EQ(Records({"import", "--format", "t4", "a.json", "--db", "a.db"}).status.code, 0);
  const CommandResult none = Records({"export", "--format", "autotvm", "--db", "a.db"});
  EXPECT_EQ(none.status.code, 0) << none.err;
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("a.db: 3 records are left out: they are of another format, --format t4"), std::string::npos)
      << none.err;
  Write("a.log", Line("t", 0, "0.002"));
  ASSERT_EQ(Import("a.log", "a.db").status.code, 0);
  const CommandResult both = Records({"export", "--format", "t4", "--db", "a.db"});
  EXPECT_EQ(both.status.code, 0) << both.err;
  EXPECT_EQ(Json::parse(both.out), Json::parse(kT4));
  EXPECT_NE(both.err.find("a.db: 1 records are left out"), std::string::npos) << both.err;
}

}  // namespace
}  // namespace hone
