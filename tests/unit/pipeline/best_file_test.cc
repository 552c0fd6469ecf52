#include "pipeline/best_file.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hone::pipeline {
namespace {

Config Unrolled(int64_t unroll) {
  return {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
}

BestFile Sample() {
  BestFile best{"net", "cpu -x", {}, std::nullopt};
  BestEntry a{"a", "dense(f32[1,16], f32[8,16])", BestSource::kTuned};
  a.fingerprint = "machine";
  a.from = "a";
  a.finalists = {{Unrolled(1), 1e-3, 7, "h", "2026-11-21T10:00:00Z", "d1", 1.5e-3},
                 {Unrolled(2), 2e-3, 3, "h", "2026-11-20T10:00:00Z", "d2", 1.25e-3}};
  a.Choose(a.finalists[1]);
  best.tasks = {a, {"b", "dense(f32[1,16], f32[9,16])", BestSource::kDefault}};
  best.in_network = InNetwork{"k", true, 4e-3, 3.5e-3, 80, "h", "2026-11-21T10:05:00Z"};
  return best;
}

TEST(BestFile, ReadsWhatItWrites) {
  const std::string text = BestFileText(Sample());
  const auto best = ParseBestFile(text, "best.json");
  ASSERT_TRUE(best.ok()) << best.status().message();
  EXPECT_EQ(BestFileText(*best), text);
  const BestEntry& a = best->tasks.at(0);
  EXPECT_EQ(a.config, Unrolled(2));
  EXPECT_EQ(a.median, 2e-3);
  EXPECT_EQ(a.recorded, "2026-11-20T10:00:00Z");
  ASSERT_EQ(a.finalists.size(), 2u);
  EXPECT_EQ(a.finalists[0].in_network, 1.5e-3);
  ASSERT_TRUE(best->in_network);
  EXPECT_TRUE(best->in_network->kept);
  EXPECT_EQ(best->in_network->confirmed_seconds, 3.5e-3);
  EXPECT_FALSE(best->tasks.at(1).config);
}

// What hone-build reads changes with the choice, and with nothing that measuring it again would bring.
TEST(BestFile, TheChoiceHoldsNoFigures) {
  BestFile best = Sample();
  const std::string choice = ChoiceText(best);
  best.tasks[0].median = 3e-3;
  best.tasks[0].trial = 9;
  best.tasks[0].host = "another";
  best.tasks[0].finalists.pop_back();
  best.in_network.reset();
  EXPECT_EQ(ChoiceText(best), choice);
  const auto read = ParseBestFile(choice, "choice.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->tasks.at(0).config, Unrolled(2));
  EXPECT_EQ(read->tasks.at(0).steps_digest, "d2");
  EXPECT_EQ(read->tasks.at(0).median, 0);
  best.tasks[0].Choose(best.tasks[0].finalists[0]);
  EXPECT_NE(ChoiceText(best), choice);
}

TEST(BestFile, ReadsVersionOne) {
  const auto best =
      ParseBestFile(R"({"version": 1, "network": "n", "target": "t", "tasks": [{"id": "a", "workload": "w",
      "source": "tuned", "config": {"template": "dense", "index": 1, "entity": [["unroll", "ot", 1]]}, "median": 1e-3,
      "fingerprint": "f", "from": "a", "trial": 0, "host": "h", "recorded": "r", "steps_digest": "s"}]})",
                    "old.json");
  ASSERT_TRUE(best.ok()) << best.status().message();
  EXPECT_EQ(best->tasks.at(0).median, 1e-3);
  EXPECT_TRUE(best->tasks.at(0).finalists.empty());
  EXPECT_FALSE(best->in_network);
}

TEST(BestFile, MistakesNameTheirPlace) {
  const std::string good = BestFileText(Sample());
  const auto message = [&](const std::string& from, const std::string& to) {
    EXPECT_NE(good.find(from), std::string::npos) << from;
    const auto best = ParseBestFile(ReplaceAll(good, from, to), "f.json");
    return best.ok() ? std::string("no error") : best.status().message();
  };
  EXPECT_NE(message("\"kept\": \"confirmed\"", "\"kept\": \"yes\"").find("f.json: /in_network/kept: "),
            std::string::npos);
  EXPECT_NE(message("\"in_network\": 0.0015", "\"in_network\": -1").find("/tasks/0/finalists/0/in_network: must be"),
            std::string::npos);
  EXPECT_NE(message("\"fingerprint\": \"machine\",", "").find("/tasks/0/fingerprint"), std::string::npos);
  EXPECT_NE(message("\"source\": \"default\"", "\"source\": \"guess\"").find("/tasks/1/source"), std::string::npos);
  EXPECT_NE(message("\"version\": 2", "\"version\": 3").find("newer"), std::string::npos);
}

}  // namespace
}  // namespace hone::pipeline
