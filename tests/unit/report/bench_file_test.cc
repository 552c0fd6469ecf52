#include "report/bench_file.h"

#include "base/text.h"
#include "common/expect.h"
#include "sample.h"

namespace hone::report {
namespace {

TEST(BenchFile, LatencyIsOfQuantiles) {
  const Latency latency = LatencyOf({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(latency.median, 2.5);
  EXPECT_DOUBLE_EQ(latency.p10, 1.3);
  EXPECT_DOUBLE_EQ(latency.p90, 3.7);
  EXPECT_DOUBLE_EQ(latency.min, 1);
  EXPECT_DOUBLE_EQ(LatencyOf({}).median, 0);
}

TEST(BenchFile, ReadsWhatItWrites) {
  const BenchFile bench = SampleBench();
  const std::string text = BenchFileText(bench);
  const BenchFile read = Must(ParseBenchFile(text, "b.json"));
  EXPECT_EQ(BenchFileText(read), text);
  EXPECT_EQ(read.threads, 2);
  EXPECT_EQ(read.Find(BenchRole::kTuned)->processes, bench.libraries[0].processes);
  EXPECT_EQ(read.Find(BenchRole::kUntuned)->layers.size(), 3u);
  EXPECT_DOUBLE_EQ(read.PredictedRatio(), 0.9);
  EXPECT_EQ(read.kernels.recorded_seconds, 0.008);
  EXPECT_EQ(read.kernels.layer_seconds, 0.0085);
}

// An image of a user's own operator has no batch axis; its height is not a batch.
TEST(BenchFile, ABatchIsSaidWhereThereIsOne) {
  BenchFile bench = SampleBench();
  EXPECT_EQ(bench.What(), "net, batch 1, 2 threads");
  bench.batch = 0;
  bench.threads = 1;
  EXPECT_EQ(bench.What(), "net, 1 thread");
  const std::string text = BenchFileText(bench);
  EXPECT_THAT(text, Not(HasSubstr("batch")));
  EXPECT_EQ(Must(ParseBenchFile(text, "b.json")).batch, 0);
}

TEST(BenchFile, ADevicesLibraryHasTimesWithCopies) {
  BenchFile bench = SampleBench();
  EXPECT_THAT(BenchFileText(bench), Not(HasSubstr("with_copies"))) << "a CPU's has none";
  bench.libraries[0].copies = {{0.25, 0.765625}, {0.5}};
  EXPECT_DOUBLE_EQ(bench.libraries[0].latency_with_copies().median, 0.5);
  const std::string text = BenchFileText(bench);
  const BenchFile read = Must(ParseBenchFile(text, "b.json"));
  EXPECT_EQ(read.libraries[0].copies, bench.libraries[0].copies);
  EXPECT_EQ(BenchFileText(read), text);
  const Result<BenchFile> changed = ParseBenchFile(ReplaceAll(text, "0.765625", "0.875"), "b.json");
  EXPECT_THAT(changed.status().message(), HasSubstr("/libraries/0/with_copies"));
}

TEST(BenchFile, ThePaceHasAsManySamples) {
  BenchFile bench = SampleBench();
  EXPECT_THAT(BenchFileText(bench), Not(HasSubstr("pace")));
  bench.libraries[0].pace = {{0.02, 0.021, 0.022}, {0.02, 0.0234375}};
  const std::string text = BenchFileText(bench);
  EXPECT_EQ(Must(ParseBenchFile(text, "b.json")).libraries[0].pace, bench.libraries[0].pace);
  const auto refusal = [&] { return ParseBenchFile(BenchFileText(bench), "b.json").status().message(); };
  EXPECT_THAT(ParseBenchFile(ReplaceAll(text, "0.0234375", "0"), "b.json").status().message(), HasSubstr("above 0"));
  bench.libraries[0].pace[1].pop_back();
  EXPECT_THAT(refusal(), HasSubstr("other numbers of samples"));
  bench.libraries[0].pace.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("other numbers of samples"));
}

TEST(BenchFile, AnErrorThatIsNoNumberSurvives) {
  BenchFile bench = SampleBench();
  bench.verification = {NAN, 1e-3, false};
  EXPECT_TRUE(std::isinf(Must(ParseBenchFile(BenchFileText(bench), "b.json")).verification.max_error));
}

void ExpectRefused(const std::string& from, const std::string& to, const std::string& part,
                   StatusKind kind = StatusKind::kInvalid) {
  const std::string text = BenchFileText(SampleBench());
  ASSERT_THAT(text, HasSubstr(from)) << from;
  std::string changed = text;
  changed.replace(text.find(from), from.size(), to);
  const Result<BenchFile> read = ParseBenchFile(changed, "b.json");
  ASSERT_FALSE(read.ok()) << to;
  EXPECT_EQ(read.status().kind(), kind);
  EXPECT_EQ(read.status().message().find("b.json:"), 0u) << read.status().message();
  EXPECT_THAT(read.status().message(), HasSubstr(part));
}

TEST(BenchFile, RefusesWhatItDoesNotKnow) {
  ExpectRefused("\"version\": 1", "\"version\": 2",
                "/version: version 2 is newer than this Hone reads (1); use a newer Hone", StatusKind::kUnsupported);
  ExpectRefused("\"threads\"", "\"treads\"", "threads");
  ExpectRefused("\"batch\": 1", "\"batch\": 0", "/batch: must be at least 1");
  ExpectRefused("\"batch\": 1", "\"batch\": 1, \"bacth\": 2", "did you mean `batch`?");
  ExpectRefused("\"role\": \"untuned\"", "\"role\": \"tuned\"", "/libraries/1/role: another library has this role");
  ExpectRefused("\"role\": \"tuned\"", "\"role\": \"mine\"", "expected tuned or untuned, found `mine`");
  ExpectRefused("\"source\": \"fixed\"", "\"source\": \"luck\"", "/libraries/0/layers/2/source");
  ExpectRefused("\"threads\": 2", "\"threads\": 0", "/threads: must be at least 1");
  ExpectRefused("0.009", "-0.009", "/libraries/0/");
  ExpectRefused("{", "", "b.json:2:");
}

TEST(BenchFile, RefusesFiguresThatDoNotFollow) {
  ExpectRefused("\"median\": 0.01", "\"median\": 0.02", "does not follow from the samples, which give 0.01");
  ExpectRefused("\"predicted_ratio\": 0.", "\"predicted_ratio\": 1.", "/predicted_ratio");
}

TEST(BenchFile, RefusesALibraryWithoutSamples) {
  BenchFile bench = SampleBench();
  bench.libraries[0].processes = {{}};
  EXPECT_FALSE(ParseBenchFile(BenchFileText(bench), "b.json").ok());
  bench.libraries[0].processes.clear();
  EXPECT_FALSE(ParseBenchFile(BenchFileText(bench), "b.json").ok());
  bench.libraries.clear();
  EXPECT_FALSE(ParseBenchFile(BenchFileText(bench), "b.json").ok());
}

}  // namespace
}  // namespace hone::report
