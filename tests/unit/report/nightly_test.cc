// The report of a night: its page and its JUnit file, and reading a work folder.
#include "base/file.h"
#include "common/expect.h"
#include "markup.h"
#include "nights.h"
#include "sample.h"

namespace hone::report {
namespace {

using namespace nightly;

TEST(Nightly, TheVerdictComesFirstAndNamesWhatIsSlower) {
  const std::string page = NightlyHtml(SampleNights());
  const Markup markup = ReadMarkup(page);
  EXPECT_EQ(markup.error, "");
  // Job 0 was made 5 % slower.
  EXPECT_TRUE(Has(page, "1 of 3 is slower than accepted.")) << page.substr(page.find("verdict"), 300);
  EXPECT_LT(page.find("1 of 3 is slower"), page.find("id=\"networks\""));
  EXPECT_LT(page.find("resnet18.cpu<small>"), page.find("mobilenet_v2.cpu<small>")) << "the worst first";
  EXPECT_TRUE(Has(page, "by me@bench-1: first reference</small>"));
  std::vector<std::string> order;
  for (const Element* h2 : markup.Find("h2")) order.push_back(h2->attributes.at("id"));
  EXPECT_EQ(order, (std::vector<std::string>{"networks", "trend", "kernels"}));
}

TEST(Nightly, ThePageNeedsNothingElseAndItsLinksLeadSomewhere) {
  NightlyData data = SampleNights();
  data.jobs[0].page = "../resnet18.cpu/index.html";
  data.problems = {"nights/one.cpu.jsonl, line 3: no JSON"};
  const Markup markup = ReadMarkup(NightlyHtml(data));
  EXPECT_EQ(CheckedLinks(markup, data.jobs[0].page), 4);
  EXPECT_TRUE(markup.Find("script").empty());
}

TEST(Nightly, TablesAndFiguresSayWhatTheyAre) {
  const Markup markup = ReadMarkup(NightlyHtml(SampleNights()));
  for (const Element* th : markup.Find("th")) EXPECT_EQ(th->attributes.count("scope"), 1u) << th->text;
  EXPECT_EQ(markup.Find("table").size(), 4u);
  EXPECT_EQ(markup.Find("caption").size(), 4u);
  const std::vector<const Element*> figures = markup.Find("svg");
  EXPECT_EQ(figures.size(), 6u) << "an interval and a trend each";
  for (const Element* figure : figures) EXPECT_FALSE(figure->attributes.at("aria-label").empty());
  // The machine changed after ten nights.
  const std::string trend = markup.Find("desc").at(0)->text;
  EXPECT_TRUE(Has(trend, "the machine changed (now cpu=A CPU; cores=2; governor=performance; kernel=6.2)")) << trend;
  EXPECT_TRUE(Has(trend, "accepted: first reference")) << trend;
}

TEST(Nightly, KernelsThatBecameSlowerComeFirst) {
  NightlyData data = SampleNights({1, 30, 12});
  data.jobs[0].nights.back().library.layers[7].seconds *= 4;
  const std::string page = NightlyHtml(data);
  const size_t kernels = page.find("kernels of resnet18.cpu"), slowed = page.find("layer2.1.conv2", kernels);
  EXPECT_LT(kernels, slowed);
  EXPECT_LT(slowed, page.find("layer1.0.conv1", kernels));
  EXPECT_TRUE(Has(page, " 12 kernels<")) << page.substr(kernels, 400);
}

TEST(Nightly, HostileNamesAreTextEverywhere) {
  const std::string hostile = std::string(kHostile) + std::string("\0", 1) + "\xE2\x80\xAE[x](javascript:y)";
  for (const std::string& text : {hostile, std::string(4000, 'n')}) {
    const NightlyData data = HostileNights(text);
    const Markup page = ReadMarkup(NightlyHtml(data)), xml = ReadMarkup(NightlyJunit(data));
    EXPECT_EQ(page.error, "");
    EXPECT_EQ(xml.error, "");
    EXPECT_TRUE(page.Find("script").empty());
    EXPECT_EQ(xml.Find("testcase").size(), 3u);
    for (const Markup* markup : {&page, &xml}) ExpectNothingInjected(*markup);
  }
}

TEST(Nightly, JunitTellsFailuresFromErrors) {
  NightlyData data = SampleNights();
  data.jobs.push_back({});
  data.jobs.back().job = "vgg16.cpu";  // accepted, and nothing of this night
  Conclude(&data);
  const Markup xml = ReadMarkup(NightlyJunit(data));
  const Element& suite = *xml.Find("testsuite").at(0);
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  EXPECT_EQ(suite.attributes.at("errors"), "1");
  EXPECT_EQ(suite.attributes.at("hostname"), "bench-1");
  EXPECT_TRUE(Has(xml.Find("failure").at(0)->attributes.at("message"), "confirmed"));
}

TEST(Nightly, NothingOneNightAndNightsWithoutFigures) {
  NightlyData nothing;
  Conclude(&nothing);
  EXPECT_EQ(nothing.verdict.ExitCode(), 3);
  EXPECT_EQ(ReadMarkup(NightlyJunit(nothing)).Find("error").size(), 1u);
  NightlyData failed = SampleNights({2, 1, 0});
  for (NightlyJob& job : failed.jobs) {
    nightly::Night& night = job.nights.back();
    night.failure = "it crashed";
    night.library.processes.clear();
    night.reference.processes.clear();
    night.canary.reset();
    night.repeat.reset();
  }
  Conclude(&failed);
  EXPECT_EQ(failed.verdict.ExitCode(), 3);
  const NightlyData one = SampleNights({1, 1, 1});
  for (const NightlyData* data : {&std::as_const(nothing), &std::as_const(failed), &one}) {
    const std::string page = NightlyHtml(*data);
    EXPECT_EQ(ReadMarkup(page).error, "");
    for (const char* odd : {"nan", " inf", "-inf"}) EXPECT_FALSE(Has(page, odd)) << odd;
  }
}

TEST(Nightly, OlderNightsAreLeftOutAndCounted) {
  NightlyData data = SampleNights({1, 130, 0});
  EXPECT_EQ(data.jobs[0].nights.size(), kNightsShown);
  EXPECT_EQ(data.older, 40u);
  EXPECT_TRUE(Has(NightlyHtml(data), "40 older nights"));
}

TEST(Nightly, NinetyNightsOfTenNetworksStayBelowTwoMebibytes) {
  EXPECT_LT(NightlyHtml(SampleNights({10, 90, 30})).size(), 2u << 20);
}

class NightsFolder : public testing::Test {
 protected:
  // Writes the files of a work folder after the nights of `data`.
  void Lay(const NightlyData& data, const std::string& nights = "nights/") {
    for (const NightlyJob& job : data.jobs) {
      std::string log, lines;
      for (const Acceptance& a : job.accepted) log += AcceptanceText(a);
      for (const nightly::Night& night : job.nights) lines += NightText(night);
      Put("accepted/" + job.job + ".jsonl", log);
      Put(nights + job.job + ".jsonl", lines);
    }
  }
  void Put(const std::string& name, const std::string& text) {
    Must(MakeDirs(DirName(dir_.Join(name))));
    Must(WriteFileIfChanged(dir_.Join(name), text));
  }

  TempDir dir_ = *TempDir::Create();
  NightlyFolders folders_ = {dir_.Join("nights"), dir_.Join("accepted"), "main", dir_.Join("report/nightly")};
};

TEST_F(NightsFolder, TheReportIsAFunctionOfTheFiles) {
  Lay(SampleNights());
  Put("report/resnet18.cpu/index.html", "its own page");
  const NightlyData data = ReadNights(folders_);
  EXPECT_TRUE(data.problems.empty()) << data.problems[0];
  EXPECT_EQ(data.verdict.ExitCode(), 1);
  ASSERT_EQ(data.jobs.size(), 3u);
  // Jobs by name; resnet18.cpu is the slower one.
  EXPECT_EQ(data.jobs[1].verdict.state, JobState::kSlower);
  EXPECT_EQ(data.jobs[1].page, "../resnet18.cpu/index.html");
  EXPECT_EQ(data.jobs[0].page, "");
  ASSERT_TRUE(WriteNightlyReport(data, folders_.out).ok());
  EXPECT_EQ(*ReadFile(JoinPath(folders_.out, "index.html")), NightlyHtml(ReadNights(folders_)));
  EXPECT_EQ(*ReadFile(JoinPath(folders_.out, "junit.xml")), NightlyJunit(data));
}

TEST_F(NightsFolder, OfAnEmptyFolderNothingIsAccepted) {
  const NightlyData data = ReadNights(folders_);
  EXPECT_TRUE(data.unreadable.ok());
  EXPECT_EQ(data.verdict.ExitCode(), 3);
  EXPECT_TRUE(data.jobs.empty());
}

TEST_F(NightsFolder, ASeriesHasItsOwnNights) {
  Lay(SampleNights(), "nights/replay/");
  EXPECT_EQ(ReadNights(folders_).verdict.ExitCode(), 3);
  folders_.series = "replay";
  const NightlyData replay = ReadNights(folders_);
  EXPECT_EQ(replay.verdict.ExitCode(), 1);
  EXPECT_EQ(ReadMarkup(NightlyJunit(replay)).Find("testsuite").at(0)->attributes.at("name"), "nightly-replay");
}

TEST_F(NightsFolder, DamagedLinesAndFilesOfANewerVersionCostThemselvesAlone) {
  const NightlyData sample = SampleNights();
  Lay(sample);
  std::string nights = "{\"version\": 1, \"recorded\": 7}\nno JSON\n";
  for (const nightly::Night& night : sample.jobs[0].nights) nights += NightText(night);
  Put("nights/resnet18.cpu.jsonl", nights + "{\"version\": 1, \"reco");
  const NightlyData torn = ReadNights(folders_);
  EXPECT_EQ(torn.jobs[1].verdict.state, JobState::kSlower);
  EXPECT_EQ(torn.jobs[1].nights.size(), 30u);
  EXPECT_EQ(torn.problems.size(), 3u);
  EXPECT_TRUE(torn.unreadable.ok());
  // With an unreadable file there is still a page, but no verdict.
  Put("nights/mobilenet_v2.cpu.jsonl", "{\"version\": 99}\n");
  const NightlyData newer = ReadNights(folders_);
  EXPECT_EQ(newer.jobs[0].verdict.state, JobState::kMissing);
  EXPECT_EQ(newer.problems.size(), 4u);
  EXPECT_EQ(newer.unreadable.kind(), StatusKind::kUnsupported);
  EXPECT_TRUE(Has(NightlyHtml(newer), "Files that could not be read as a whole"));
}

}  // namespace
}  // namespace hone::report
