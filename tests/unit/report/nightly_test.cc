#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "markup.h"
#include "nightly/report_outputs.h"
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
  EXPECT_TRUE(Has(page, "1 of 3 is slower than accepted: resnet18.cpu +5.")) << page.substr(page.find("verdict"), 300);
  EXPECT_LT(page.find("1 of 3 is slower"), page.find("id=\"changes\""));
  std::vector<std::string> order;
  for (const Element* h2 : markup.Find("h2")) order.push_back(h2->attributes.at("id"));
  EXPECT_EQ(order, (std::vector<std::string>{"changes", "networks", "environment", "trend", "kernels", "replay",
                                             "records", "commands"}));
}

TEST(Nightly, ThePageNeedsNothingElseAndItsLinksLeadSomewhere) {
  NightlyData data = SampleNights();
  data.jobs[0].page = "../resnet18.cpu/index.html";
  const Markup markup = ReadMarkup(NightlyHtml(data));
  int links = 0;
  for (const Element& element : markup.elements) {
    EXPECT_EQ(element.attributes.count("src"), 0u) << element.tag;
    const auto link = element.attributes.find("href");
    if (link == element.attributes.end() || link->second == data.jobs[0].page) continue;
    ++links;
    EXPECT_TRUE(std::any_of(markup.elements.begin(), markup.elements.end(), [&](const Element& target) {
      const auto id = target.attributes.find("id");
      return id != target.attributes.end() && "#" + id->second == link->second;
    })) << link->second;
  }
  EXPECT_EQ(links, 8);
  EXPECT_EQ(markup.Find("script").size(), 1u);
}

TEST(Nightly, TablesAndFiguresSayWhatTheyAre) {
  const Markup markup = ReadMarkup(NightlyHtml(SampleNights()));
  for (const Element* th : markup.Find("th")) EXPECT_EQ(th->attributes.count("scope"), 1u) << th->text;
  EXPECT_EQ(markup.Find("table").size(), markup.Find("caption").size());
  size_t figures = 0, named = 0;
  for (const Element& element : markup.elements) {
    if (element.tag != "svg" || element.attributes.count("aria-hidden")) continue;
    ++figures;
    const auto label = element.attributes.find("aria-label");
    named += label != element.attributes.end() && !label->second.empty();
  }
  EXPECT_GT(figures, 20u);
  EXPECT_EQ(named, figures);
}

TEST(Nightly, HostileNamesAreTextEverywhere) {
  const std::string hostile = std::string(kHostile) + std::string("\0", 1) + "\xE2\x80\xAE[x](javascript:y)";
  for (const std::string& text : {hostile, std::string(4000, 'n')}) {
    const NightlyData data = HostileNights(text);
    const Markup page = ReadMarkup(NightlyHtml(data)), xml = ReadMarkup(NightlyJunit(data));
    EXPECT_EQ(page.error, "");
    EXPECT_EQ(xml.error, "");
    EXPECT_TRUE(page.Find("img").empty());
    EXPECT_EQ(page.Find("script").size(), 1u);
    EXPECT_EQ(xml.Find("testcase").size(), 6u);
    for (const Markup* markup : {&page, &xml}) {
      for (const Element& element : markup->elements) {
        for (const auto& [name, value] : element.attributes) EXPECT_NE(name.substr(0, 2), "on") << element.tag;
      }
    }
    const std::string json = NightlyJson(data);
    EXPECT_FALSE(Has(json, "<"));
    EXPECT_TRUE(ParseJson(json, "report.json").ok());
    const std::string words = NightlyMarkdown(data);
    for (const std::string& line : Split(words, '\n')) {
      const auto starts = [](char c) { return (c & 0xC0) != 0x80; };
      EXPECT_LE(std::count_if(line.begin(), line.end(), starts), 120) << line;
    }
    for (const char* markup : {"<img", "](", "\x1b", "\xE2\x80\xAE"}) EXPECT_FALSE(Has(words, markup)) << markup;
    EXPECT_EQ(words.find('\0'), std::string::npos);
  }
}

TEST(Nightly, JsonHoldsTheFactsAndIsTheIsland) {
  const NightlyData data = SampleNights();
  const std::string text = NightlyJson(data);
  EXPECT_EQ(ReadMarkup(NightlyHtml(data)).Find("script").at(0)->text, text);
  const Json json = *ParseJson(text, "report.json");
  EXPECT_EQ(json["version"], kNightlyVersion);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["counts"]["slower"], 1);
  EXPECT_EQ(json["counts"]["faster"], 1);
  const Json& series = json["jobs"][0]["series"];
  EXPECT_EQ(series["state"], "slower");
  EXPECT_EQ(series["nights"].size(), 30u);
  EXPECT_NEAR(series["nights"][29]["ratio"].get<double>(), 1.05, 0.01);
  EXPECT_EQ(series["nights"][29]["library"]["processes"].size(), 7u);
  EXPECT_EQ(series["machines"].size(), 2u);
  // The level rose with the eighth night from the end.
  ASSERT_EQ(series["changes"].size(), 1u);
  EXPECT_EQ(series["changes"][0]["night"], 22);
  EXPECT_EQ(series["kernels"].size(), 12u);
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
  EXPECT_TRUE(Has(xml.Find("failure").at(0)->attributes.at("message"), "confirmed"));
}

TEST(Nightly, MarkdownHasARowAJob) {
  const std::string text = NightlyMarkdown(SampleNights());
  EXPECT_TRUE(Has(text, ": 1 of 3 is slower than accepted\n")) << text;
  EXPECT_LT(text.find("| resnet18.cpu "), text.find("| mobilenet_v2.cpu ")) << "the worst first";
  EXPECT_TRUE(Has(text, "ninja nightly-resnet18.cpu")) << text;
}

TEST(Nightly, NothingOneNightAndNightsWithoutFigures) {
  NightlyData nothing;
  Conclude(&nothing);
  EXPECT_EQ(nothing.verdict.ExitCode(), 3);
  EXPECT_EQ(ReadMarkup(NightlyJunit(nothing)).Find("error").size(), 1u);
  NightlyData failed = SampleNights({2, 1, 0});
  for (NightlyJob& job : failed.jobs) {
    nightly::Night& night = job.series.nights.back();
    night.failure = "it crashed";
    night.library.processes.clear();
    night.reference.processes.clear();
    night.canary.reset();
    night.repeat.reset();
    job.replay.nights.clear();
  }
  Conclude(&failed);
  EXPECT_EQ(failed.verdict.ExitCode(), 3);
  const NightlyData one = SampleNights({1, 1, 1});
  for (const NightlyData* data : {&std::as_const(nothing), &std::as_const(failed), &one}) {
    const std::string page = NightlyHtml(*data);
    EXPECT_EQ(ReadMarkup(page).error, "");
    EXPECT_TRUE(ParseJson(NightlyJson(*data), "report.json").ok());
    for (const std::string& text : {page, NightlyMarkdown(*data)}) {
      for (const char* odd : {"nan", " inf", "-inf"}) EXPECT_FALSE(Has(text, odd)) << odd;
    }
  }
}

TEST(Nightly, OlderNightsAreLeftOutAndCounted) {
  NightlyData data = SampleNights({1, 130, 0});
  EXPECT_EQ(data.jobs[0].series.nights.size(), kNightsTold);
  EXPECT_EQ(data.older, 40);
  ASSERT_FALSE(data.jobs[0].series.trend.changes.empty());
  EXPECT_EQ(data.jobs[0].series.trend.changes.back().index, 82u) << "of the nights that stay";
  EXPECT_TRUE(Has(NightlyHtml(data), "40 older nights"));
}

TEST(Nightly, NinetyNightsOfTenNetworksStayBelowTwoMebibytes) {
  EXPECT_LT(NightlyHtml(SampleNights({10, 90, 30})).size(), 2u << 20);
}

TEST(Nightly, KernelsAreOfTheLastProfile) {
  const NightlyData data = SampleNights();
  const std::vector<KernelHistory> kernels = KernelsOf(data.jobs[0].series);
  ASSERT_EQ(kernels.size(), 12u);
  EXPECT_TRUE(
      std::is_sorted(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.now > b.now; }));
  EXPECT_EQ(kernels[0].seconds.size(), 30u);
  EXPECT_EQ(kernels[0].seconds.back(), kernels[0].now);
  EXPECT_NEAR(kernels[0].now / kernels[0].reference, 1.05, 0.03);
}

}  // namespace
}  // namespace hone::report
