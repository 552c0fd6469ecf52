// hone-report: the four files, and what it refuses.
#include <sys/stat.h>

#include "base/json.h"
#include "base/text.h"
#include "records_folder.h"
#include "report/bench_file.h"

namespace hone {
namespace {

constexpr const char* kFiles[] = {"report/net.cpu/report.md", "report/net.cpu/report.json", "report/net.cpu/junit.xml",
                                  "report/net.cpu/index.html"};

class ReportTool : public RecordsFolderTest {
 protected:
  void SetUp() override {
    RecordsFolderTest::SetUp();
    Record("a", kWorkloadA,
           {Ok(0, 4e-3), Failed(5, TrialError::kCompile, "too <big>"), Ok(1, 2e-3),
            Failed(6, TrialError::kCompile, "again")});
    Record("a", kWorkloadA, {Ok(7, 9e-3)}, "machine-0", 500);
    Record("a", kWorkloadA, {Pruned(8, 8e-3)}, "machine-1", 2000);
    WriteTaskList({{"a", kWorkloadA}, {"c", kWorkloadC}});
    EXPECT_EQ(PickBest({"--allow-missing"}).status.code, 0);
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
    return Run(HONE_REPORT, {"--bench", "bench/net.cpu.json", "--tasks", "tasks/net.cpu.tasks.json", "--best",
                             "best/net.cpu.json", "--records", "records", "--out", "report/net.cpu"});
  }

  report::BenchFile bench_;
};

TEST_F(ReportTool, WritesFourFilesOnceAndThenLeavesThemAlone) {
  const CommandResult result = Report();
  ASSERT_EQ(result.status.code, 0) << result.err;
  EXPECT_EQ(result.out + result.err, "");
  std::vector<std::pair<int64_t, int64_t>> times;
  const auto modified = [&](const char* name) {
    struct stat s{};
    EXPECT_EQ(stat(Path(name).c_str(), &s), 0) << name;
    return std::pair<int64_t, int64_t>{s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  };
  for (const char* name : kFiles) times.push_back(modified(name));
  ASSERT_EQ(Report().status.code, 0);
  for (size_t i = 0; i < std::size(kFiles); ++i) EXPECT_EQ(modified(kFiles[i]), times[i]) << kFiles[i];
}

TEST_F(ReportTool, CollectsTheFacts) {
  ASSERT_EQ(Report().status.code, 0);
  const Result<Json> json = ParseJson(Read("report/net.cpu/report.json"), "report.json");
  ASSERT_TRUE(json.ok()) << json.status().message();
  const Json& a = (*json)["tasks"][0];
  EXPECT_EQ((*json)["job"], "net.cpu");
  EXPECT_EQ(a["best"]["trial"], 2);
  EXPECT_EQ(a["best"]["flops"], 5e8);  // 1 MFLOP in 2 ms
  EXPECT_EQ(a["weight"], 2);
  // Four trials of the first session, one of the third; the second's machine is another.
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
  EXPECT_EQ((*json)["tasks"][1]["best"]["source"], "default");
  const std::string text = Read("report/net.cpu/report.md");
  EXPECT_EQ(text.find("# net.cpu: 11.0 ms, 2.00 times as fast as untuned\n"), 0u) << text;
  const std::string junit = Read("report/net.cpu/junit.xml");
  EXPECT_NE(junit.find("tests=\"3\" failures=\"1\""), std::string::npos) << junit;
}

TEST_F(ReportTool, WrongResultsAreReportedAndFail) {
  bench_.verification = {0.5, 1e-3, false};
  WriteBench();
  ExpectRefused(Report(),
                {"bench/net.cpu.json: the results of the tuned library are wrong", "report/net.cpu/report.md"});
  EXPECT_NE(Read("report/net.cpu/report.md").find("WRONG RESULTS"), std::string::npos);
}

TEST_F(ReportTool, EveryMissingInputIsNamedAndNothingIsWritten) {
  for (const char* name : {"bench/net.cpu.json", "tasks/net.cpu.tasks.json", "best/net.cpu.json", "records/a.db"}) {
    const std::string bytes = Read(name);
    ASSERT_TRUE(Remove(Path(name)).ok());
    ExpectRefused(Report(), {std::string(name) + ": "});
    Write(name, bytes);
  }
  EXPECT_FALSE(Exists(Path("report")));
  EXPECT_EQ(Report().status.code, 0);
}

TEST_F(ReportTool, DamagedInputsAreRefused) {
  const std::string good = Read("bench/net.cpu.json");
  Write("bench/net.cpu.json", good.substr(0, good.size() / 2));
  ExpectRefused(Report(), {"bench/net.cpu.json:"}, 2);
  Write("bench/net.cpu.json", ReplaceAll(good, "\"version\": 1", "\"version\": 2"));
  ExpectRefused(Report(),
                {"bench/net.cpu.json: /version: version 2 is newer than this Hone reads (1); use a newer Hone"}, 2);
  Write("bench/net.cpu.json", ReplaceAll(good, "\"threads\"", "\"treads\""));
  ExpectRefused(Report(), {"bench/net.cpu.json: ", "threads"}, 2);
  Write("bench/net.cpu.json", good);
  Write("records/a.db", Read("records/a.db").substr(0, 5000));
  ExpectRefused(Report(), {"records/a.db: the record file is cut short"});
}

TEST_F(ReportTool, InputsOfDifferentNetworksOrTasksAreRefused) {
  bench_.network = "other";
  WriteBench();
  ExpectRefused(Report(), {"bench/net.cpu.json: it is about other on "}, 2);
  bench_.network = "net";
  WriteBench();
  WriteTaskList({{"a", kWorkloadA}, {"c", kWorkloadC}, {"d", kWorkloadB}});
  ExpectRefused(Report(), {"best/net.cpu.json: nothing about task d"}, 2);
}

TEST_F(ReportTool, AnOutputFolderThatCannotBeMadeIsNamed) {
  Write("report", "a file");
  ExpectRefused(Report(), {"report/net.cpu"});
  EXPECT_EQ(Read("report"), "a file");
}

TEST_F(ReportTool, MisuseIsExplained) {
  const CommandResult result = Run(HONE_REPORT, {"--bnech", "x"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_EQ(result.err, "hone-report: unknown flag --bnech; did you mean --bench?\n");
  EXPECT_EQ(Run(HONE_REPORT, {"--abi"}).out, "report 3\n");
}

}  // namespace
}  // namespace hone
