// hone-report: the four files, and what it rejects.
#include "base/json.h"
#include "base/text.h"
#include "records_folder.h"
#include "report/bench_file.h"

namespace hone {
namespace {

class ReportTool : public RecordsFolder {
 protected:
  void SetUp() override {
    Record("a", kWorkloadA,
           {Ok(0, 4e-3), Failed(5, TrialError::kCompile, "too <big>"), Ok(1, 2e-3),
            Failed(6, TrialError::kCompile, "again")});
    Record("a", kWorkloadA, {Ok(7, 9e-3)}, "machine-0", 500);
    Record("a", kWorkloadA, {Pruned(8, 8e-3)}, "machine-1", 2000);
    WriteTaskList({{"a", kWorkloadA}, {"c", kWorkloadC}});
    ExpectOk(PickBest({"--allow-missing"}));
    bench_.network = "net";
    bench_.target = kTarget;
    bench_.recorded = "2026-11-21T10:00:00Z";
    bench_.peak_flops = 1e9;
    bench_.verification = {1e-6, 1e-3, true};
    bench_.libraries = {{report::BenchRole::kTuned, "out/net.cpu", "net", "00", {{0.010, 0.011, 0.012}}, {}},
                        {report::BenchRole::kUntuned, "out/net.cpu.untuned", "net", "11", {{0.022}}, {}}};
    WriteBench();
  }

  void WriteBench() { Write("bench/net.cpu.json", report::BenchFileText(bench_)); }

  CommandResult Report() {
    return Run({HONE_REPORT, "--bench", "bench/net.cpu.json", "--tasks", "tasks/net.cpu.tasks.json", "--best",
                "best/net.cpu.json", "--records", "records", "--out", "report/net.cpu"});
  }

  report::BenchFile bench_;
};

TEST_F(ReportTool, WritesFourFilesOnceAndThenLeavesThemAlone) {
  const CommandResult result = Report();
  ExpectOk(result);
  EXPECT_EQ(result.out + result.err, "");
  const std::string before = Snapshot("report");
  ExpectHas(before, {"net.cpu/report.md: ", "net.cpu/report.json: ", "net.cpu/junit.xml: ", "net.cpu/index.html: "});
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 3);
  ExpectOk(Report());
  EXPECT_EQ(Snapshot("report"), before);
}

TEST_F(ReportTool, CollectsTheFacts) {
  ExpectOk(Report());
  Json json = ReadJson("report/net.cpu/report.json"), a = json["tasks"][0];
  EXPECT_EQ(json["job"], "net.cpu");
  EXPECT_EQ(a["best"]["trial"], 2);
  EXPECT_EQ(a["best"]["flops"], 5e8);  // 1 MFLOP in 2 ms
  EXPECT_EQ(a["weight"], 2);
  // Four trials of the first session, one of the third; the second session is from another machine.
  EXPECT_EQ(a["totals"]["trials"], 5);
  EXPECT_EQ(a["foreign_trials"], 1);
  EXPECT_EQ(a["totals"]["pruned"], 1);
  EXPECT_EQ(a["totals"]["wall_seconds"], 20);
  EXPECT_EQ(a["totals"]["compile_seconds"], 1.25);
  ASSERT_EQ(a["failures"].size(), 1u);
  EXPECT_EQ(a["failures"][0]["count"], 2);
  EXPECT_EQ(a["failures"][0]["message"], "too <big>");
  EXPECT_EQ(a["failures"][0]["explain"], "hone-tune --task tasks/a.task.json --db records/a.db --explain 1");
  EXPECT_EQ(a["failures"][0]["repeat"], "hone-tune --task tasks/a.task.json --trial 5");
  EXPECT_EQ(json["tasks"][1]["best"]["source"], "default");
  const std::string text = Read("report/net.cpu/report.md");
  EXPECT_TRUE(StartsWith(text, "# net.cpu: 11.0 ms, about 2.10 times as fast as untuned\n")) << text;
  ExpectHas(Read("report/net.cpu/junit.xml"), {"tests=\"3\" failures=\"1\""});
}

// The report names the tool that is in use and absolute paths, as the reader's shell is seldom in the work folder.
TEST_F(ReportTool, TheNextCommandWorksInAnyFolder) {
  ExpectOk(Report());
  const std::string text = Read("report/net.cpu/report.md"), name = "\n- next:      ";
  const size_t at = text.find(name);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string command = text.substr(at + name.size(), text.find('\n', at + 1) - at - name.size());
  ExpectHas(command, {"/hone-records explain /"});
  ExpectHas(RunOk({"sh", "-c", "cd / && " + command}), {"the fastest of its own records"});
  ExpectHas(text,
            {"- library:   " + Path("out/net.cpu/libnet.so"), "- page:      " + Path("report/net.cpu/index.html")});
}

TEST_F(ReportTool, SaysThatOtherProgramsUsedTheMachine) {
  ExpectOk(Report());
  ExpectHasNot(Read("report/net.cpu/report.md"), {"- disturbed:"});
  Outcome disturbed = Ok(9, 3e-3);
  disturbed.disturbed = 2;
  disturbed.retaken = 7;
  Record("a", kWorkloadA, {disturbed}, "machine-1", 3000);
  ExpectOk(Report());
  ExpectHas(
      Read("report/net.cpu/report.md"),
      {"- disturbed: other programs used the machine during tuning: 7 runs repeated, 1 trial marked as disturbed"});
}

TEST_F(ReportTool, WrongResultsAreReportedAndFail) {
  bench_.verification = {0.5, 1e-3, false};
  WriteBench();
  ExpectRefused(Report(), 1,
                {"bench/net.cpu.json: the results of the tuned library are wrong", "report/net.cpu/report.md"});
  ExpectHas(Read("report/net.cpu/report.md"), {"WRONG RESULTS"});
}

TEST_F(ReportTool, EveryMissingInputIsNamedAndNothingIsWritten) {
  for (const char* name : {"bench/net.cpu.json", "tasks/net.cpu.tasks.json", "best/net.cpu.json", "records/a.db"}) {
    const std::string bytes = Read(name);
    Delete(name);
    ExpectRefused(Report(), 1, {std::string(name) + ": "});
    Write(name, bytes);
  }
  EXPECT_FALSE(Has("report"));
  Write("report", "a file");
  ExpectRefused(Report(), 1, {"report/net.cpu"});
  EXPECT_EQ(Read("report"), "a file");
}

TEST_F(ReportTool, InputsOfDifferentNetworksOrTasksAreRefused) {
  bench_.network = "other";
  WriteBench();
  ExpectRefused(Report(), 2, {"bench/net.cpu.json: it is about other on "});
  bench_.network = "net";
  WriteBench();
  WriteTaskList({{"a", kWorkloadA}, {"c", kWorkloadC}, {"d", kWorkloadB}});
  ExpectRefused(Report(), 2, {"best/net.cpu.json: nothing about task d"});
  EXPECT_EQ(RunOk({HONE_REPORT, "--abi"}), "report 6\n");
}

}  // namespace
}  // namespace hone
