// The pages of a night from the files of a work folder, whole and damaged ones.
#include "command/nightly/nightly_report.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "nights.h"

namespace hone::command {
namespace {

class NightlyReport : public testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> dir = TempDir::Create();
    ASSERT_TRUE(dir.ok());
    dir_.emplace(std::move(*dir));
    options_.nights = dir_->Join("nights");
    options_.accepted = dir_->Join("accepted");
    options_.best = dir_->Join("best");
    options_.out = dir_->Join("report/nightly");
  }

  // As a work folder has it after `data`'s nights.
  void Lay(const nightly::NightlyData& data) {
    for (const nightly::NightlyJob& job : data.jobs) {
      std::string log, nights, replay;
      for (const nightly::Acceptance& a : job.accepted) log += nightly::AcceptanceText(a);
      for (const nightly::Night& night : job.series.nights) nights += nightly::NightText(night);
      for (const nightly::Night& night : job.replay.nights) replay += nightly::NightText(night);
      Put("accepted/" + job.job + ".jsonl", log);
      Put("nights/" + job.job + ".jsonl", nights);
      if (!replay.empty()) Put("nights/replay/" + job.job + ".jsonl", replay);
    }
  }

  void Put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirs(DirName(dir_->Join(name))).ok());
    ASSERT_TRUE(WriteFileIfChanged(dir_->Join(name), text).ok());
  }

  Json Report() {
    const Status written = WriteNightlyReport(options_);
    EXPECT_TRUE(written.ok()) << written.message();
    for (const char* name : {"index.html", "junit.xml", "report.md"}) EXPECT_TRUE(Exists(JoinPath(options_.out, name)));
    return *ReadJsonFile(JoinPath(options_.out, "report.json"));
  }

  std::optional<TempDir> dir_;
  NightlyReportOptions options_;
};

TEST_F(NightlyReport, TellsWhatTheFilesHold) {
  Lay(report::SampleNights());
  const Json json = Report();
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["jobs"].size(), 3u);
  EXPECT_EQ(json["problems"].size(), 0u) << json["problems"].dump();
  for (const Json& job : json["jobs"]) EXPECT_EQ(job["problems"].size(), 0u) << job["problems"].dump();
  // Jobs by name; resnet18.cpu is the one that was made slower.
  EXPECT_EQ(json["jobs"][1]["job"], "resnet18.cpu");
  EXPECT_EQ(json["jobs"][1]["series"]["state"], "slower");
}

TEST_F(NightlyReport, IsAFunctionOfTheFiles) {
  Lay(report::SampleNights());
  Report();
  const std::string page = *ReadFile(JoinPath(options_.out, "index.html"));
  Report();
  EXPECT_EQ(*ReadFile(JoinPath(options_.out, "index.html")), page);
}

TEST_F(NightlyReport, OfAnEmptyFolderSaysThatNothingIsAccepted) {
  const Json json = Report();
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["jobs"].size(), 0u);
}

TEST_F(NightlyReport, DamagedLinesAndFilesOfANewerVersionCostThemselvesAlone) {
  const nightly::NightlyData data = report::SampleNights();
  Lay(data);
  std::string nights = "{\"version\": 1, \"recorded\": 7}\nno JSON\n";
  for (const nightly::Night& night : data.jobs[0].series.nights) nights += nightly::NightText(night);
  Put("nights/resnet18.cpu.jsonl", nights + "{\"version\": 1, \"reco");
  Put("nights/mobilenet_v2.cpu.jsonl", "{\"version\": 99}\n");
  const Json json = Report();
  const Json& newer = json["jobs"][0];
  EXPECT_EQ(newer["job"], "mobilenet_v2.cpu");
  EXPECT_EQ(newer["series"]["state"], "missing");
  EXPECT_EQ(newer["problems"].size(), 1u) << newer["problems"].dump();
  const Json& torn = json["jobs"][1];
  EXPECT_EQ(torn["series"]["state"], "slower");
  EXPECT_EQ(torn["series"]["nights"].size(), 30u);
  EXPECT_EQ(torn["problems"].size(), 3u) << torn["problems"].dump();
}

TEST_F(NightlyReport, ChoicesThatDifferFromTheReferencesAreShown) {
  const nightly::NightlyData data = report::SampleNights();
  Lay(data);
  const auto choice = [](int unroll, const char* more) {
    return std::string(R"({"version": 3, "network": "n", "target": "cpu", "tasks": [{"id": "conv2d-1",)") +
           R"("workload": "w", "source": "tuned", "steps_digest": "00", "config": {"template": "t", "index": 1,)" +
           R"("entity": [["unroll", "ot", )" + std::to_string(unroll) + "]]}" + more + "}]}";
  };
  const std::string digest = data.jobs[0].accepted.back().digest;
  Put("accepted/resnet18.cpu/" + digest + "/choice.json", choice(2, ""));
  Put("best/resnet18.cpu.choice.json", choice(4, ""));
  const Json json = Report();
  const Json& records = json["jobs"][1]["records"];
  ASSERT_EQ(records.size(), 1u) << json["jobs"][1]["problems"].dump();
  EXPECT_EQ(records[0]["was"], "t unroll=2");
  EXPECT_EQ(records[0]["now"], "t unroll=4");
}

TEST_F(NightlyReport, ASeriesByItself) {
  Lay(report::SampleNights());
  options_.series = "replay";
  const Json json = Report();
  EXPECT_EQ(json["jobs"][1]["series"]["nights"].size(), 30u);
  EXPECT_FALSE(json["jobs"][1].contains("replay"));
}

}  // namespace
}  // namespace hone::command
