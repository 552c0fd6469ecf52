#include "pipeline/best_file.h"

#include "base/text.h"
#include "common/expect.h"
#include "task/workload.h"

namespace hone::pipeline {
namespace {

Config Unrolled(int64_t unroll) {
  return {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
}

BestFile Sample() {
  BestFile best{"net", "cpu -x", {}, std::nullopt};
  BestEntry a{{}, "a", "dense(f32[1,16], f32[8,16])", BestSource::kTuned};
  a.fingerprint = "machine";
  a.from = "a";
  a.finalists = {{{1e-3, 7, "h", "2026-11-21T10:00:00Z", "d1"}, Unrolled(1), 1.5e-3},
                 {{2e-3, 3, "h", "2026-11-20T10:00:00Z", "d2"}, Unrolled(2), 1.25e-3}};
  a.finalists[1].candidate = Candidate{{"winograd", {{"m", 4}}}, {Unroll("out", "y"), Vectorize("out", "ci")}};
  a.finalists[1].artifact_digest = "0f";
  a.Choose(a.finalists[1]);
  best.tasks = {a, {{}, "b", "dense(f32[1,16], f32[9,16])", BestSource::kDefault}};
  best.in_network = InNetwork{"k", true, 4e-3, 3.5e-3, 80, "h", "2026-11-21T10:05:00Z", {}};
  best.in_network->compared = {{"alternatives", 3.5e-3, 3.75e-3, 80, true}, {"slices", 3.5e-3, 3.25e-3, 80, false}};
  best.alternatives = {{{"c", "p"}, {{"p", "dense(f32[1,16], f32[8,16])", {"x", "w"}}}}};
  best.share.slices = false;
  best.partition = PartitionFigures{5e-3, 4.5e-3, 1, false};
  return best;
}

TEST(BestFile, ReadsWhatItWrites) {
  const std::string text = BestFileText(Sample());
  const auto best = Must(ParseBestFile(text, "best.json"));
  EXPECT_EQ(BestFileText(best), text);
  const BestEntry& a = best.tasks.at(0);
  EXPECT_EQ(a.config, Unrolled(2));
  EXPECT_EQ(a.median, 2e-3);
  EXPECT_EQ(a.recorded, "2026-11-20T10:00:00Z");
  ASSERT_EQ(a.finalists.size(), 2u);
  EXPECT_EQ(a.finalists[0].in_network, 1.5e-3);
  EXPECT_FALSE(a.finalists[0].candidate);
  EXPECT_EQ(a.candidate, Sample().tasks[0].finalists[1].candidate);
  EXPECT_EQ(a.finalists[1].candidate, a.candidate);
  EXPECT_EQ(a.artifact_digest, "0f");
  ASSERT_TRUE(best.in_network);
  EXPECT_TRUE(best.in_network->kept);
  EXPECT_EQ(best.in_network->confirmed_seconds, 3.5e-3);
  EXPECT_FALSE(best.tasks.at(1).config);
  EXPECT_EQ(best.alternatives, Sample().alternatives);
  EXPECT_FALSE(best.share.slices);
  EXPECT_TRUE(best.share.in_place);
  ASSERT_EQ(best.in_network->compared.size(), 2u);
  EXPECT_EQ(best.in_network->compared[1].what, "slices");
  EXPECT_EQ(best.in_network->compared[1].without_seconds, 3.25e-3);
  EXPECT_FALSE(best.in_network->compared[1].kept);
  ASSERT_TRUE(best.partition);
  EXPECT_EQ(best.partition->chosen_seconds, 4.5e-3);
  EXPECT_FALSE(best.partition->exact);
}

// hone-build's input changes with the choice, but not with anything that measuring it again would change.
TEST(BestFile, TheChoiceHoldsNoFigures) {
  BestFile best = Sample();
  const std::string choice = ChoiceText(best);
  best.tasks[0].median = 3e-3;
  best.tasks[0].trial = 9;
  best.tasks[0].host = "another";
  best.tasks[0].finalists.pop_back();
  best.in_network.reset();
  best.partition.reset();
  EXPECT_EQ(ChoiceText(best), choice);
  const auto read = Must(ParseBestFile(choice, "choice.json"));
  EXPECT_EQ(read.tasks.at(0).config, Unrolled(2));
  EXPECT_EQ(read.tasks.at(0).steps_digest, "d2");
  EXPECT_EQ(read.tasks.at(0).candidate, best.tasks[0].candidate) << "hone-build needs nothing else";
  EXPECT_EQ(read.tasks.at(0).median, 0);
  BestFile other = best;
  other.tasks[0].Choose(other.tasks[0].finalists[0]);
  EXPECT_NE(ChoiceText(other), choice);
  // More than configurations is built.
  other = best;
  other.alternatives.clear();
  EXPECT_NE(ChoiceText(other), choice);
  other = best;
  other.share.in_place = false;
  EXPECT_NE(ChoiceText(other), choice);
}

// A task that is not built does not affect the choice file.
TEST(BestFile, TheChoiceHoldsTasksThatAreBuilt) {
  BestFile best = Sample();
  const std::set<std::string> built = {"a"};
  const std::string choice = ChoiceText(best, &built);
  const auto read = Must(ParseBestFile(choice, "choice.json"));
  ASSERT_EQ(read.tasks.size(), 1u);
  EXPECT_EQ(read.tasks[0].id, "a");
  EXPECT_EQ(read.alternatives, best.alternatives);
  EXPECT_FALSE(read.share.slices);
  best.tasks[1].source = BestSource::kTuned;
  best.tasks[1].config = Unrolled(4);
  EXPECT_EQ(ChoiceText(best, &built), choice);
}

TEST(BestFile, ReadsVersionOne) {
  const auto best =
      Must(ParseBestFile(R"({"version": 1, "network": "n", "target": "t", "tasks": [{"id": "a", "workload": "w",
      "source": "tuned", "config": {"template": "dense", "index": 1, "entity": [["unroll", "ot", 1]]}, "median": 1e-3,
      "fingerprint": "f", "from": "a", "trial": 0, "host": "h", "recorded": "r", "steps_digest": "s"}]})",
                         "old.json"));
  EXPECT_EQ(best.tasks.at(0).median, 1e-3);
  EXPECT_TRUE(best.tasks.at(0).finalists.empty());
  EXPECT_FALSE(best.in_network);
  EXPECT_TRUE(best.alternatives.empty());
  EXPECT_TRUE(best.share.slices && best.share.in_place);
  EXPECT_FALSE(best.partition);
}

TEST(BestFile, MistakesNameTheirPlace) {
  const std::string good = BestFileText(Sample());
  const auto message = [&](const std::string& from, const std::string& to) {
    EXPECT_THAT(good, HasSubstr(from)) << from;
    return ParseBestFile(ReplaceAll(good, from, to), "f.json").status().message();
  };
  EXPECT_THAT(message("\"kept\": \"confirmed\"", "\"kept\": \"yes\""), HasSubstr("f.json: /in_network/kept: "));
  EXPECT_THAT(message("\"in_network\": 0.0015", "\"in_network\": -1"),
              HasSubstr("/tasks/0/finalists/0/in_network: must be"));
  EXPECT_THAT(message("\"fingerprint\": \"machine\",", ""), HasSubstr("/tasks/0/fingerprint"));
  EXPECT_THAT(message("\"source\": \"default\"", "\"source\": \"guess\""), HasSubstr("/tasks/1/source"));
  EXPECT_THAT(message("\"version\": 4", "\"version\": 5"), HasSubstr("newer"));
  EXPECT_THAT(message("\"replaces\": [\n        \"c\",\n        \"p\"\n      ]", "\"replaces\": []"),
              HasSubstr("/alternatives/0/replaces: names no node"));
  EXPECT_THAT(message("\"in_place\"", "\"inplace\""), HasSubstr("in_place"));
  EXPECT_THAT(message("\"without_seconds\": 0.00325", "\"without_seconds\": 0"), HasSubstr("/in_network/compared/1"));
}

TEST(BestFile, AnEntryOfAnotherTaskIsRefused) {
  BestFile best = Sample();
  for (BestEntry& entry : best.tasks) entry.id = TaskId(*Workload::Parse(entry.workload), best.target);
  EXPECT_TRUE(CheckTaskIds(best).ok()) << CheckTaskIds(best).message();
  const auto refused = [](const BestFile& file) {
    const Status status = CheckTaskIds(file);
    EXPECT_EQ(status.kind(), StatusKind::kInvalid);
    return status.message();
  };
  BestFile swapped = best;
  std::swap(swapped.tasks[0].id, swapped.tasks[1].id);
  EXPECT_EQ(refused(swapped), "the entry of task " + best.tasks[1].id +
                                  " is of another one: `dense(f32[1,16], f32[8,16])` on this target is " +
                                  best.tasks[0].id + "; run hone-pick-best again");
  BestFile elsewhere = best;
  elsewhere.target = "cpu -y";
  EXPECT_THAT(refused(elsewhere), HasSubstr("the entry of task " + best.tasks[0].id));
  best.tasks[1].workload = "no workload";
  EXPECT_THAT(refused(best), HasSubstr("`no workload` on this target is none"));
}

}  // namespace
}  // namespace hone::pipeline
