#include "report/outputs.h"

#include "base/json.h"
#include "base/text.h"
#include "common/expect.h"
#include "markup.h"
#include "report/html.h"
#include "sample.h"

namespace hone::report {
namespace {

TEST(Html, EscapesEverythingThatCouldBeMarkup) {
  EXPECT_EQ(EscapeMarkup("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
  EXPECT_EQ(EscapeMarkup("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(EscapeMarkup(std::string("\x00\x1b\x7f", 3)), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(EscapeMarkup("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  // An overlong '<', a surrogate, a truncated sequence, a lone continuation byte, beyond U+10FFFF: one replacement per
  // byte.
  EXPECT_EQ(EscapeMarkup("\xc0\xbc"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(EscapeMarkup("\xed\xa0\x80").size(), 9u);
  EXPECT_EQ(EscapeMarkup("\xe2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(EscapeMarkup("\x80x"), "\xEF\xBF\xBDx");
  EXPECT_EQ(EscapeMarkup("\xf4\x90\x80\x80").size(), 12u);
}

TEST(Html, WriterEscapesTextAndAttributes) {
  HtmlWriter html;
  html.Open("a", {{"href", "\"><b>"}, {"class", ""}}).Text("<i>").Close();
  EXPECT_EQ(std::move(html).Finish(), "<a href=\"&quot;&gt;&lt;b&gt;\">&lt;i&gt;</a>");
}

TEST(Outputs, HostileNamesAreTextInThePage) {
  const std::string page = HtmlText(HostileReport());
  const Markup markup = ReadMarkup(page);
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.Find("script").size(), 1u);
  ExpectNothingInjected(markup);
  EXPECT_TRUE(Has(markup.Find("h1").at(0)->text, "</script><img src=x onerror=alert(1)>\"'&|`"));
}

TEST(Outputs, ThePageNeedsNothingElseAndItsLinksLeadSomewhere) {
  const Markup markup = ReadMarkup(HtmlText(SampleReport()));
  EXPECT_EQ(markup.error, "");
  EXPECT_GT(CheckedLinks(markup), 0);
  EXPECT_TRUE(markup.Find("link").empty());
  const std::string style = markup.Find("style").at(0)->text;
  for (const char* outside : {"url(", "@import", "http"}) EXPECT_FALSE(Has(style, outside)) << outside;
  for (const char* needed : {"prefers-color-scheme: dark", "@media print"}) EXPECT_TRUE(Has(style, needed)) << needed;
}

TEST(Outputs, TheIslandIsTheJsonFile) {
  for (const ReportData& data : {SampleReport(), HostileReport()}) {
    const Markup markup = ReadMarkup(HtmlText(data));
    ASSERT_EQ(markup.Find("script").size(), 1u);
    EXPECT_EQ(markup.Find("script")[0]->attributes.at("type"), "application/json");
    EXPECT_EQ(markup.Find("script")[0]->text, JsonText(data));
  }
}

TEST(Outputs, JsonHoldsTheFacts) {
  const Json json = Must(ParseJson(JsonText(SampleReport()), "report.json"));
  const Json& j = json;
  EXPECT_EQ(j["version"], kReportVersion);
  EXPECT_NEAR(j["speedup"]["ratio"].get<double>(), std::sqrt(39.5 / 9.5 * 39.5 / 10.5), 1e-12);
  EXPECT_EQ(j["speedup"]["verdict"], "too-few");
  EXPECT_DOUBLE_EQ(j["predicted_ratio"].get<double>(), 0.9);
  EXPECT_EQ(j["totals"]["trials"], 6);
  EXPECT_EQ(j["totals"]["failures"], Json::parse("{\"compile\": 2, \"wrong\": 1}"));
  EXPECT_DOUBLE_EQ(j["totals"]["wall_seconds"].get<double>(), 3);
  EXPECT_EQ(j["tasks"][0]["best"]["trial"], 2);
  EXPECT_DOUBLE_EQ(j["tasks"][0]["best"]["peak_share"].get<double>(), 0.75);  // 150 MFLOP in 2 ms of 100 GFLOP/s
  EXPECT_EQ(j["tasks"][0]["trials"]["state"], Json::parse("[\"ok\", \"pruned\", \"ok\", \"compile\", \"compile\"]"));
  EXPECT_TRUE(j["tasks"][0]["trials"]["seconds"][3].is_null());
  EXPECT_EQ(j["tasks"][0]["trials"]["proposer"][2], "transformed_m4");
  EXPECT_EQ(j["tasks"][1]["best"], Json::parse("{\"source\": \"default\"}"));
  EXPECT_EQ(j["tuned"]["processes"], Json::parse("[[0.01, 0.009, 0.011], [0.01, 0.012]]"));
}

TEST(Outputs, SayWhichLayersAreComputedHow) {
  ReportData data = SampleReport();
  const BenchLayer& layer = data.bench.libraries[0].layers[0];
  EXPECT_EQ(data.AlgorithmOf(layer), "Winograd F(4x4)");
  EXPECT_EQ(data.AlgorithmsText(), "2 Winograd F(4x4)") << "of the others nothing is chosen";
  const Json json = *ParseJson(JsonText(data), "report.json");
  EXPECT_EQ(json["tuned"]["layers"][0]["algorithm"], "Winograd F(4x4)");
  EXPECT_EQ(json["tasks"][0]["best"]["algorithm"], "Winograd F(4x4)");
  EXPECT_TRUE(Has(MarkdownText(data), "(layers: 2 Winograd F(4x4)"));
  EXPECT_TRUE(Has(HtmlText(data), "Winograd F(4x4)"));
}

// 2 ms alone in tuning: compared with the time of that kernel's layers in the network.
TEST(Outputs, SayWhichLayersAreFarFromTheirKernelAlone) {
  ReportData data = SampleReport();
  std::vector<BenchLayer>& layers = data.bench.libraries[0].layers;
  layers[0].seconds = 0.0025;
  EXPECT_EQ(data.AloneSeconds(layers[0]), 0.002);
  EXPECT_TRUE(Has(HtmlText(data), "Farthest from it: conv2 (+3.00 ms), conv1 (+500 us)."));
  layers[0].source = "default";
  EXPECT_EQ(data.AloneSeconds(layers[0]), 0) << "its records are of another configuration";
}

TEST(Outputs, AFusedLayerIsComparedWithAllThatItReplaces) {
  ReportData data = SampleReport();
  const std::string conv = "conv2d(f32[1,3,8,8], f32[16,3,3,3], pad=1,1,1,1) + bias + relu";
  const std::string pool = "max_pool2d(f32[1,16,8,8], kernel=2x2, stride=2x2)";
  data.bench.libraries[0].layers = {{"conv0", conv, "", "fixed", 0.003, 1},
                                    {"pool", conv + " -> " + pool, "", "fixed", 0.004, 1}};
  data.bench.libraries[1].layers = {{"conv0", conv, "", "fixed", 0.005, 1},
                                    {"conv1", conv, "", "fixed", 0.007, 1},
                                    {"other", pool, "", "fixed", 0.011, 1},
                                    {"pool", pool, "", "fixed", 0.002, 1}};
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[0]), 0.005);
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[1]), 0.009) << "conv1 and pool";
  data.bench.libraries[1].layers[1].workload = pool;
  EXPECT_EQ(data.UntunedSeconds(data.tuned().layers[1]), 0) << "conv0 is not replaced";
  data.bench.libraries.pop_back();
  EXPECT_EQ(data.UntunedSeconds(data.tuned().layers[0]), 0);
}

TEST(Outputs, AFusedLayersMembersAreTheNearestNodesBeforeIt) {
  ReportData data = SampleReport();
  const std::string conv = "conv2d(f32[1,3,8,8], f32[16,3,3,3], pad=1,1,1,1) + bias + relu";
  const std::string pool = "max_pool2d(f32[1,16,8,8], kernel=2x2, stride=2x2)";
  data.bench.libraries[0].layers = {{"pool_a", conv + " -> " + pool, "", "fixed", 0.004, 1},
                                    {"pool_b", conv + " -> " + pool, "", "fixed", 0.004, 1}};
  const BenchLayer conv_a = {"conv_a", conv, "", "fixed", 0.005, 1}, conv_b = {"conv_b", conv, "", "fixed", 0.007, 1};
  const BenchLayer pool_a = {"pool_a", pool, "", "fixed", 0.002, 1}, pool_b = {"pool_b", pool, "", "fixed", 0.003, 1};
  data.bench.libraries[1].layers = {conv_a, pool_a, conv_b, pool_b};
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[0]), 0.007) << "conv_a and pool_a";
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[1]), 0.010) << "conv_b and pool_b";
  data.bench.libraries[1].layers = {conv_a, conv_b, pool_a, pool_b};
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[0]), 0.009) << "conv_b, the nearest, and pool_a";
  EXPECT_DOUBLE_EQ(data.UntunedSeconds(data.tuned().layers[1]), 0.010);
}

TEST(Outputs, AnAlgorithmIsTheTemplateInAWordAndWinogradsTile) {
  const std::string square = "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1)";
  const std::string line = "conv2d(f32[1,16,8,8], f32[16,16,1,7], pad=0,3,0,3)";
  Config config{.template_name = "sums"};
  EXPECT_EQ(AlgorithmText(square, config), "sums");
  config.template_name = "conv2d_grouped_generic";
  EXPECT_EQ(AlgorithmText(square, config), "grouped_generic");
  config.template_name = "transformed_m6";
  EXPECT_EQ(AlgorithmText(square, config), "Winograd F(6x6)");
  EXPECT_EQ(AlgorithmText(line, config), "Winograd F(6)");
  EXPECT_EQ(AlgorithmText(square + " -> max_pool2d(f32[1,16,8,8], kernel=2x2, stride=2x2)", config),
            "Winograd F(6x6) with pool");
  config.template_name = "transformed_mine";
  EXPECT_EQ(AlgorithmText(square, config), "transformed_mine") << "a user's sketch";
  config.template_name = "odd";
  EXPECT_EQ(AlgorithmText("nonsense", config), "odd");
  config.template_name = "max_pool2d_default";
  EXPECT_EQ(AlgorithmText("max_pool2d(f32[1,16,8,8], kernel=2x2, stride=2x2)", config), "default");
  config.template_name = "my_sketch";
  EXPECT_EQ(AlgorithmText(square, config), "my_sketch") << "only the operator's name is cut off";
}

TEST(Outputs, HostileNamesSurviveInJson) {
  const std::string text = JsonText(HostileReport());
  EXPECT_FALSE(Has(text, "<"));
  EXPECT_EQ(Must(ParseJson(text, "report.json"))["job"], ReplaceAll(kHostile, "\xff", "\xEF\xBF\xBD"));
}

TEST(Outputs, JunitHasACaseForTheVerificationAndEachTask) {
  const Markup xml = ReadMarkup(JunitText(SampleReport()));
  EXPECT_EQ(xml.error, "");
  const Element& suite = *xml.Find("testsuite").at(0);
  EXPECT_EQ(suite.attributes.at("tests"), "3");
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  const auto cases = xml.Find("testcase");
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0]->attributes.at("name"), "verification");
  EXPECT_EQ(cases[1]->attributes.at("name"), "conv2d-1: has a correct trial");
  const auto failures = xml.Find("failure");
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_TRUE(Has(failures[0]->attributes.at("message"), "1 wrong"));
  EXPECT_TRUE(Has(failures[0]->text, "element 3: 1 is not 2"));
  EXPECT_TRUE(Has(failures[0]->text, "hone-tune --trial 5"));
}

TEST(Outputs, ATrialThatCannotBeRepeatedAloneIsExplained) {
  ReportData data = SampleReport();
  data.tasks[1].failures[0].repeat.clear();
  EXPECT_TRUE(Has(ReadMarkup(JunitText(data)).Find("failure").at(0)->text, "hone-tune --explain 0"));
  for (const Element* code : ReadMarkup(HtmlText(data)).Find("code")) EXPECT_NE(code->text, "");
}

TEST(Outputs, JunitOfAWrongLibraryFails) {
  ReportData data = SampleReport();
  data.bench.verification.ok = false;
  EXPECT_EQ(ReadMarkup(JunitText(data)).Find("testsuite").at(0)->attributes.at("failures"), "2");
  EXPECT_TRUE(Has(MarkdownText(data), "WRONG RESULTS"));
  EXPECT_EQ(ReadMarkup(JunitText(HostileReport())).error, "");
}

TEST(Outputs, MarkdownSaysWhatMatters) {
  const std::string text = MarkdownText(SampleReport());
  EXPECT_TRUE(Has(text, "# net.cpu: 10.0 ms, about 3.95 times as fast as untuned\n")) << text;
  EXPECT_TRUE(Has(text, "- speed-up:  about 3.95 times as fast as untuned, but too few processes to exclude noise\n"))
      << text;
  // A tenth of 9 10 10 11 12 ms lies below 9.4, and a tenth above 11.6, with interpolation.
  EXPECT_TRUE(Has(text, "| tuned   | 10.0 ms | 9.40 ms | 11.6 ms |    3.95? |")) << text;
  // 5 of 9 ms; 150 MFLOP in 5 ms are 30 GFLOP/s of 100.
  EXPECT_TRUE(Has(text, "55.6 % |  30.0 % |")) << text;
  EXPECT_LT(text.find("| conv2 "), text.find("| conv1 ")) << text;
  EXPECT_TRUE(Has(text, "6 trials: 2 ok, 1 pruned, 2 compile, 1 wrong")) << text;
  EXPECT_TRUE(Has(text, "dense-2 (default)")) << text;
  EXPECT_TRUE(Has(text, "90.0 % of the latency")) << text;
  EXPECT_TRUE(Has(text, "out/net.cpu/libnet.so")) << text;
}

// A check mark only for a library that is verified and not shown to be slower, on a machine that was not busy.
TEST(Outputs, ThePagesMarkIsOpenWhileTheComparisonIs) {
  ReportData data = SampleReport();
  const auto mark = [&] {
    const Markup markup = ReadMarkup(HtmlText(data));
    for (size_t i = 0; i + 1 < markup.elements.size(); ++i) {
      const auto found = markup.elements[i].attributes.find("class");
      if (found != markup.elements[i].attributes.end() && found->second == "verdict") {
        return markup.elements[i + 1].attributes.at("class");
      }
    }
    return std::string("no verdict");
  };
  const auto with = [&](double untuned, double noise) {
    for (BenchLibrary& library : data.bench.libraries) {
      const double seconds = library.role == BenchRole::kTuned ? 0.01 : untuned;
      library.processes.clear();
      for (int i = 0; i < 8; ++i) library.processes.push_back({seconds * (1 + noise * i)});
    }
    return data.FromUntuned()->verdict;
  };
  EXPECT_EQ(data.FromUntuned()->verdict, Speedup::Verdict::kTooFew);
  EXPECT_EQ(mark(), "open");
  EXPECT_EQ(with(0.02, 0.001), Speedup::Verdict::kFaster);
  EXPECT_EQ(mark(), "good");
  EXPECT_EQ(with(0.01, 0.001), Speedup::Verdict::kNoDifference);
  EXPECT_EQ(mark(), "good");
  EXPECT_EQ(with(0.005, 0.001), Speedup::Verdict::kSlower);
  EXPECT_EQ(mark(), "open");
  EXPECT_EQ(with(0.02, 0.1), Speedup::Verdict::kBusy);
  EXPECT_EQ(mark(), "open");
  data.bench.verification.ok = false;
  EXPECT_EQ(mark(), "wrong");
  data.bench.verification.ok = true;
  data.bench.libraries.resize(1);
  EXPECT_EQ(mark(), "good") << "nothing to compare with";
}

// A command or a path that is cut cannot be copied.
TEST(Outputs, MarkdownCutsNothing) {
  ReportData data = SampleReport();
  const std::string folder = "/home/" + std::string(150, 'f'), node(200, 'n'), workload(300, 'w'), cpu(200, 'c');
  data.folder = folder;
  data.explain = folder + "/hone-records explain best";
  data.bench.libraries[0].layers[1].node = node;
  data.bench.libraries[0].layers[1].workload = workload;
  data.bench.cpu = cpu;
  const std::string text = MarkdownText(data);
  EXPECT_TRUE(Has(text, cpu + " (peak 100 GFLOP/s), 2026-11-21T10:00:00Z\n")) << text;
  EXPECT_TRUE(Has(text, "| " + node + " | 5.00 ms | 55.6 % |  30.0 % | " + workload + " |\n")) << text;
  EXPECT_TRUE(Has(text, "- library:   " + folder + "/out/net.cpu/libnet.so, net.h, net.params\n")) << text;
  EXPECT_TRUE(Has(text, "- page:      " + folder + "/report/net.cpu/index.html\n")) << text;
  EXPECT_TRUE(Has(text, "- next:      " + folder + "/hone-records explain best\n")) << text;
}

TEST(Outputs, MarkdownIsShortAndHasNoControlCharacters) {
  ReportData data = SampleReport();
  const std::vector<BenchLayer> three = data.bench.libraries[0].layers;
  for (int i = 0; i < 30; ++i) data.bench.libraries[0].layers.push_back(three[i % 3]);
  for (const ReportData& d : {data, HostileReport()}) {
    const std::vector<std::string> lines = Split(Trim(MarkdownText(d)), '\n');
    EXPECT_LE(lines.size(), 28u);
    for (const std::string& line : lines) {
      for (const char c : line) EXPECT_TRUE(c < 0 || c >= 0x20) << line;
    }
  }
}

TEST(Outputs, AChoiceThatItsTimesDoNotExplainSaysWhy) {
  EXPECT_EQ(VerdictText(0.010, 0.011, true), "used");
  EXPECT_EQ(VerdictText(0.010, 0.009, false), "left out");
  EXPECT_EQ(VerdictText(0.010, 0.00995, true), "used, since the difference is below 1 %");
  EXPECT_EQ(VerdictText(0.010, 0.009, true), "used, since leaving out another choice alone was faster");
}

TEST(Outputs, OneOfAKindIsSingular) {
  ReportData data = SampleReport();
  data.partition = {1, 1, 0.009, 0.008, true};
  data.tasks.pop_back();
  data.tasks[0].trials.resize(1);
  const std::string text = MarkdownText(data), page = HtmlText(data);
  EXPECT_TRUE(Has(text, "9.00 ms in all; 8.00 ms with 1 alternative, 1 of 1 used\n")) << text;
  EXPECT_TRUE(Has(text, "1 task, 1 trial: 1 ok\n")) << text;
  EXPECT_TRUE(Has(page, "1 place is computed otherwise"));
  EXPECT_TRUE(Has(page, "> 1 trial<"));
  data.partition.chosen = 1234;
  EXPECT_TRUE(Has(MarkdownText(data), " with 1,234 alternatives,"));
}

TEST(Outputs, HaveTheEstimatedTotalAfterEachRound) {
  ReportData data = SampleReport();
  EXPECT_FALSE(Must(ParseJson(JsonText(data), "report.json")).contains("rounds"));
  EXPECT_THAT(HtmlText(data), Not(HasSubstr("estimated total")));
  data.rounds = {{1, true, 40, 12.25, 0.02, 1}, {2, true, 80, 25, 0.016, 0}};
  const Json rounds = Must(ParseJson(JsonText(data), "report.json"))["rounds"];
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0], Json::parse(R"({"round": 1, "trials": 40, "seconds": 12.25, "estimated": 0.02, "unknown": 1})"));
  EXPECT_THAT(MarkdownText(data), HasSubstr("- rounds:    estimated total 20.0 ms after round 1, 16.0 ms after 2\n"));
  EXPECT_THAT(HtmlText(data), HasSubstr("estimated total"));
  EXPECT_THAT(HtmlText(data), HasSubstr("16.0 ms"));
  data.rounds = {{1, false, 40, 12.25, 0.02, 2}};
  EXPECT_EQ(RoundsText(data.rounds), "20.0 ms after round 1 so far; 2 tasks without a correct trial not counted");
}

TEST(Outputs, SayThatOtherProgramsUsedTheMachine) {
  ReportData data = SampleReport();
  const std::string said = "other programs used the machine during tuning: ";
  EXPECT_FALSE(Has(MarkdownText(data) + HtmlText(data), said));
  data.tasks[0].trials[0].retaken = 177;
  for (const std::string& text : {MarkdownText(data), HtmlText(data)}) {
    EXPECT_TRUE(Has(text, said + "177 runs repeated, 0 trials marked as disturbed")) << text;
  }
  data.tasks[0].trials[2].disturbed = true;
  for (const std::string& text : {MarkdownText(data), HtmlText(data)}) {
    EXPECT_TRUE(Has(text, "1 trial marked as disturbed (the recorded time may be too long)")) << text;
  }
  const Json totals = Must(ParseJson(JsonText(data), "report.json"))["totals"];
  EXPECT_EQ(totals["disturbed"], 1);
  EXPECT_EQ(totals["retaken"], 177);
}

// The limit: one repeated run or one marked trial for a hundred trials.
TEST(ReportData, AFewRepeatedRunsAreNotDisturbance) {
  Totals totals{.trials = 101, .retaken = 1};
  EXPECT_EQ(DisturbedText(totals), "");
  totals.disturbed = 1;
  EXPECT_NE(DisturbedText(totals), "");
  totals = {.trials = 100, .retaken = 1};
  EXPECT_NE(DisturbedText(totals), "");
  EXPECT_EQ(DisturbedText(Totals()), "");
}

TEST(Outputs, WorkWithoutBaselineProfilePeakOrTrials) {
  ReportData data = SampleReport();
  data.bench.libraries.resize(1);
  data.bench.libraries[0].layers.clear();
  data.bench.libraries[0].processes = {{0.01}};
  data.bench.peak_flops = data.bench.kernel_sum_seconds = 0;
  data.tasks.clear();
  EXPECT_EQ(ReadMarkup(HtmlText(data)).error, "");
  EXPECT_TRUE(ParseJson(JsonText(data), "report.json").ok());
  EXPECT_TRUE(Has(MarkdownText(data), "| tuned   | 10.0 ms | 10.0 ms | 10.0 ms |        - |"));
  for (const std::string& text : {HtmlText(data), MarkdownText(data)}) {
    EXPECT_FALSE(Has(text, "nan"));
    EXPECT_FALSE(Has(text, " inf"));
  }
}

TEST(ReportData, ShortWorkload) {
  EXPECT_EQ(ShortWorkload("conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2x2, pad=3,3,3,3) + bias + add + relu"),
            "conv2d 3x224x224 -> 64, 7x7 s2 +bias +add +relu");
  EXPECT_EQ(ShortWorkload("dense(f32[1,512], f32[1000,512]) + bias"), "dense 512 -> 1000 +bias");
  EXPECT_EQ(ShortWorkload("dense(u8[1,512], i8[1000,512], u8[1]) + bias + add(u8) + requant(u8)"),
            "dense u8 512 -> 1000 +bias +add +requant");
  EXPECT_EQ(ShortWorkload("max_pool2d(f32[1,64,112,112], kernel=3x3, stride=2x2, pad=1,1,1,1)"),
            "max_pool2d 64x112x112, 3x3 s2");
  EXPECT_EQ(ShortWorkload("matmul(f32[1,98,64], f32[1,64,98])"), "matmul 98x64 and 64x98");
  EXPECT_EQ(ShortWorkload("mul(f32[128,768], f32[1])"), "mul 768");
  EXPECT_EQ(ShortWorkload("layer_norm(f32[128,768], f32[768], f32[768])"), "layer_norm 768");
  EXPECT_EQ(ShortWorkload("conv_transpose2d(f32[1,64,7,7], f32[64,32,2,2], stride=2x2)"),
            "conv_transpose2d 64x7x7 -> 32, 2x2 s2");
  EXPECT_EQ(ShortWorkload("no workload (at all"), "no workload (at all");
}

// A layer that multiplies bytes has their peak; others that read bytes have that of floats.
TEST(Outputs, LayersOfBytesHaveAPeakOfTheirOwn) {
  ReportData data = SampleReport();
  data.bench.peak_bytes = 400e9;
  std::vector<BenchLayer>& layers = data.bench.libraries[0].layers;
  layers[0].workload = "conv2d(u8[1,64,56,56], i8[64,64,3,3], u8[1], pad=1,1,1,1) + bias + requant(u8)";
  layers[1].workload = "max_pool2d(u8[1,64,56,56], kernel=3x3)";
  EXPECT_DOUBLE_EQ(data.bench.PeakOf(layers[0].workload), 400e9);
  EXPECT_DOUBLE_EQ(data.bench.PeakOf(layers[1].workload), 100e9);
  EXPECT_DOUBLE_EQ(data.bench.PeakOf(layers[0].workload + " -> dequantise(u8[1,64,56,56], f32[1], u8[1])"), 400e9);
  EXPECT_DOUBLE_EQ(data.PeakShare(layers[0].workload, 150000000, 0.003), 0.125);  // 50 of 400 GFLOP/s
  const std::string text = MarkdownText(data), peaks = "peak 100 GFLOP/s, for bytes 400 GFLOP/s";
  EXPECT_TRUE(Has(text, "(" + peaks + ")")) << text;
  EXPECT_TRUE(Has(text, "12.5 %")) << text;
  EXPECT_TRUE(Has(HtmlText(data), "of the FMA peak, 100 GFLOP/s, for bytes 400 GFLOP/s"));
  EXPECT_DOUBLE_EQ(Must(ParseJson(JsonText(data), "report.json"))["peak_bytes"].get<double>(), 400e9);
  // Without it, such layers have no share.
  data.bench.peak_bytes = 0;
  EXPECT_DOUBLE_EQ(data.PeakShare(layers[0].workload, 150000000, 0.003), 0);
}

}  // namespace
}  // namespace hone::report
