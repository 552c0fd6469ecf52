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

class ForeignRecords : public RecordsFolder {
 protected:
  CommandResult Import(const std::string& log, const std::string& db, const std::string& format = "autotvm") {
    return Records({"import", "--format", format, log, "--db", db});
  }
  std::string Export(const std::string& db, const std::string& format = "autotvm") {
    return RecordsOk({"export", "--format", format, "--db", db});
  }
  // Imports a log with these lines.
  void ImportOk(const std::string& lines, const std::string& db) {
    Write(db + ".log", lines);
    ExpectOk(Import(db + ".log", db));
  }
};

TEST_F(ForeignRecords, ALogComesBackAsItWas) {
  const std::string log = Line("dense_small_batch.gpu", 1, "0.002") + Line("some.template", 7, "0.004") +
                          Line("dense_small_batch.gpu", 2, "1000000000.0", 4) + Line("dense_small_batch.gpu", 0, "NaN");
  Write("a.log", log);
  const CommandResult first = Import("a.log", "foreign/a.db");
  ExpectOk(first);
  EXPECT_EQ(first.err, "");
  EXPECT_EQ(
      first.out,
      "a.log: 4 lines: 4 records added (2 ok, 2 failed)\n"
      "  entities: 3 at their index, 0 at another, 0 outside of the space, 1 of a template without a space here\n");
  EXPECT_EQ(Export("foreign/a.db"), log);
  EXPECT_EQ(Import("a.log", "foreign/a.db").out, "a.log: 4 lines: 0 records added (0 ok, 0 failed), 4 there already\n");
  EXPECT_EQ(RecordsOk({"export", "foreign/a.db", "--format", "autotvm"}), log);
  EXPECT_EQ(RecordsOk({"verify", "foreign"}), "foreign/a.db: ok\n");
}

TEST_F(ForeignRecords, AreListedAndShown) {
  ImportOk(Line("dense_small_batch.gpu", 1, "0.002") + Line("dense_small_batch.gpu", 2, "0.001") +
               Line("some.template", 0, "1000000000.0", 6),
           "a.db");
  const Words lines = Split(Trim(RecordsOk({"list", "a.db"})), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "  foreign records: 2 tasks, 2 ok, 1 failed");
  EXPECT_EQ(SplitWords(lines[3])[0], "2");
  ExpectHas(lines[3], {"1.00 ms", "dense_small_batch.gpu  cuda -model=x"});
  ExpectHas(lines[4], {"some.template"});
  ExpectHas(RecordsOk({"show", "a.db", "--trial", "3"}), {"state     failed: build-timeout", "\"some.template\""});
  ExpectRefused(Records({"show", "a.db", "--trial", "4"}), 1, {"a.db: no record 4"});
}

TEST_F(ForeignRecords, AreComparedWhereBothHaveATime) {
  ImportOk(Line("t", 0, "0.002") + Line("only.a", 0, "0.001") + Line("u", 0, "0.001"), "a.db");
  ImportOk(Line("t", 1, "0.001") + Line("t", 2, "0.003") + Line("only.b", 0, "1000000000.0", 1) + Line("u", 0, "0.002"),
           "b.db");
  const Words lines = Split(Trim(RecordsOk({"compare", "a.db", "b.db"})), '\n');
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(SplitWords(lines[1])[0], "0.500");
  EXPECT_EQ(SplitWords(lines[2])[0], "2.000");
  EXPECT_EQ(SplitWords(lines[3])[0], "1.000");
  EXPECT_EQ(lines[4], "2 tasks in both, 1 in a alone, 0 in b alone");
  Record("own", kWorkloadA, {Ok(0, 1e-3)});
  ExpectRefused(Records({"compare", "a.db", "records/own.db"}), 2, {"records/own.db: no file of foreign records"});
}

TEST_F(ForeignRecords, WhatIsNoRecordIsNamedAndTheRestIsKept) {
  const std::string good = Line("t", 0, "0.002"), last = Line("t", 1, "0.001");
  Write("a.log", good + "{\"input\": [\n" + good.substr(0, 90) + "\n" + last + "{\"inp");
  const CommandResult result = Import("a.log", "a.db");
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.out, {"5 lines: 2 records added (2 ok, 0 failed), 2 skipped, the last one cut off"});
  ExpectHas(result.err, {"a.log:2: broken JSON", "a.log:3: broken JSON", "a.log:5: the last line is cut off"});
  EXPECT_EQ(Export("a.db"), good + last);
  // A torn last line, as a killed writer leaves it, is not a failure.
  ImportOk(good + last.substr(0, 50), "b.db");
  // Many errors are counted.
  std::string log = good;
  for (int i = 0; i < 150; ++i) log += "x\n";
  Write("c.log", log);
  const CommandResult many = Import("c.log", "c.db");
  EXPECT_EQ(many.status.code, 1);
  ExpectHas(many.out, {"150 skipped"});
  EXPECT_EQ(Split(Trim(many.err), '\n').size(), 101u);
  ExpectHas(many.err, {"c.log: and 50 more"});
}

TEST_F(ForeignRecords, OtherVersionsAndOtherFilesAreRefused) {
  const std::string line = Line("t", 0, "0.002");
  Write("old.log", ReplaceAll(line, "0.2}", "0.9}"));
  const CommandResult old = Import("old.log", "a.db");
  EXPECT_EQ(old.status.code, 2);
  ExpectHas(old.err, {"old.log: no record of AutoTVM's format 0.2 in 1 line", "version 0.9"});
  ExpectRefused(Import("none.log", "a.db"), 1, {"none.log: cannot open: No such file"});
  ExpectRefused(Import("old.log", "a.db", "xml"), 2, {"`xml` cannot be imported"});
  Write("a.log", line);
  Record("own", kWorkloadA, {Ok(0, 1e-3)});
  ExpectRefused(Import("a.log", "records/own.db"), 2, {"records/own.db: ", "a record file of Hone's own"});
  ImportOk(line, "a.db");
  ExpectRefused(Records({"export", "a.db"}), 2, {"a.db: foreign records", "--format autotvm"});
}

constexpr char kAnsor[] =
    R"({"i": [["[\"mm\", 8, 8]", "llvm", [2, 64, 64, 0, 0, 0, 0, 0], "", 1, []], [[], [["SP", 2, 0, 8, [4], 1], )"
    R"(["AN", 2, 1, 2]]]], "r": [[0.002], 0, 0.1, 1700000000], "v": "v0.6"})"
    "\n";

TEST_F(ForeignRecords, ALogOfAnsorComesBackAsItWasAndIsToldInWords) {
  const std::string other = ReplaceAll(ReplaceAll(kAnsor, "0.002", "0.001"), "[4]", "[2]");
  Write("a.json", kAnsor + other + std::string(kAnsor).substr(0, 80));
  const CommandResult result = Import("a.json", "a.db", "ansor");
  ExpectOk(result);
  EXPECT_EQ(result.out, "a.json: 3 lines: 2 records added (2 ok, 0 failed), the last one cut off\n");
  ExpectHas(result.err, {"a.json:3: the last line is cut off"});
  EXPECT_EQ(Export("a.db", "ansor"), kAnsor + other);
  ExpectHas(RecordsOk({"list", "a.db"}), {"1.00 ms", "mm  llvm  [8,8]"});
  ExpectHas(RecordsOk({"show", "a.db"}), {"record    2 (ansor)", "time      1.00 ms (mean)",
                                          "steps\n  stage 2: split loop 0 of 8 iterations, inner parts [2]\n"
                                          "  stage 2: loop 1 becomes vectorized\n",
                                          other});
  Write("old.json", ReplaceAll(kAnsor, "v0.6", "v0.4"));
  const CommandResult old = Import("old.json", "b.db", "ansor");
  EXPECT_EQ(old.status.code, 2);
  ExpectHas(old.err, {"old.json: no record of Ansor's format v0.6 in 1 line"});
  Record("own", kWorkloadA, {Ok(0, 1e-3)});
  ExpectRefused(Records({"export", "--format", "ansor", "records/own.db"}), 2, {"records/own.db: Hone's own trials"});
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
  ExpectHas(ExpectOk(Import("a.json", "a.db", "t4")).out, {"a.json: 3 results: 3 records added (1 ok, 2 failed)\n"});
  EXPECT_EQ(Json::parse(Export("a.db", "t4")), Json::parse(kT4));
  ExpectHas(RecordsOk({"list", "a.db"}), {"3.00 ms"});
  EXPECT_EQ(Import("a.json", "a.db", "t4").out,
            "a.json: 3 results: 0 records added (0 ok, 0 failed), 3 there already\n");
  // Equal results of another document are separate results; one document cannot hold both.
  Write("b.json", ReplaceAll(kT4, "\"gpu\": \"x\"", "\"gpu\": \"y\""));
  ExpectOk(Import("b.json", "b.db", "t4"));
  EXPECT_EQ(Json::parse(Export("b.db", "t4"))["metadata"]["gpu"], "y");
  ExpectHas(Import("b.json", "a.db", "t4").out, {"3 records added"});
  ExpectRefused(Records({"export", "--format", "t4", "--db", "a.db"}), 2, {"a.db: its records come from several T4"});
}

TEST_F(ForeignRecords, BadT4IsRefusedAndBadResultsAreNamed) {
  const auto import = [&](const std::string& text) {
    Write("a.json", text);
    return Import("a.json", "a.db", "t4");
  };
  ExpectRefused(import("{\"results\": ["), 2, {"a.json:1:"});
  ExpectRefused(import("[]"), 2, {"a.json: not a T4 document"});
  ExpectRefused(import(ReplaceAll(kT4, "1.0.0", "2.0.0")), 2, {"a.json: version \"2.0.0\" of T4; only 1.0 is read"});
  const CommandResult result = import(ReplaceAll(kT4, "\"invalidity\": \"compile\", ", ""));
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.err, {"a.json: result 2: `invalidity` is missing"});
  ExpectHas(result.out, {"2 records added (1 ok, 1 failed), 1 skipped"});
}

TEST_F(ForeignRecords, HonesOwnTrialsCanBeExportedAndReadAgain) {
  Record("own", kWorkloadA, {Ok(0, 1e-3), Failed(1, TrialError::kWrong, "no"), Pruned(2, 2e-3)});
  for (const char* format : {"autotvm", "t4"}) {
    Write("own.txt", Export("records/own.db", format));
    ExpectHas(ExpectOk(Import("own.txt", std::string(format) + ".db", format)).out,
              {"3 records added (1 ok, 2 failed)"});
    EXPECT_EQ(Export(std::string(format) + ".db", format), Read("own.txt"));
  }
  Json results = Json::parse(Read("own.txt"))["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["configuration"], Json::parse(R"({"template": "dense", "unroll": 0})"));
  EXPECT_EQ(results[0]["times"]["compilation_time"], 250);
  EXPECT_EQ(results[0]["measurements"][0]["value"], 1);
  EXPECT_EQ(results[1]["invalidity"], "correctness");
  EXPECT_EQ(results[1]["correctness"], 0);
  EXPECT_EQ(results[2]["invalidity"], "timeout");
}

TEST_F(ForeignRecords, RecordsOfAnotherFormatAreLeftOutWithALine) {
  Write("a.json", kT4);
  ExpectOk(Import("a.json", "a.db", "t4"));
  const CommandResult none = Records({"export", "--format", "autotvm", "--db", "a.db"});
  ExpectOk(none);
  EXPECT_EQ(none.out, "");
  ExpectHas(none.err, {"a.db: 3 records left out, of another format: --format t4"});
  ImportOk(Line("t", 0, "0.002"), "a.db");
  const CommandResult both = Records({"export", "--format", "t4", "--db", "a.db"});
  ExpectOk(both);
  EXPECT_EQ(Json::parse(both.out), Json::parse(kT4));
  ExpectHas(both.err, {"a.db: 1 record left out"});
}

}  // namespace
}  // namespace hone
