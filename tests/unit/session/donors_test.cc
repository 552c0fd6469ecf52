// Records of other tasks for a tuner to learn from: which are used, which are rejected, and the messages.
#include "base/file.h"
#include "common/expect.h"
#include "propose/versions.h"
#include "record/store.h"
#include "session/tuner_context.h"

namespace hone::session {
namespace {

constexpr char kSmall[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1)";
constexpr char kLarge[] = "conv2d(f32[1,32,8,8], f32[32,32,3,3], pad=1,1,1,1)";

class DonorsTest : public testing::Test {
 protected:
  // kSmall's versions, and so those of all similar layers.
  static TemplateVersions Version() { return *propose::VersionsOf(*Workload::Parse(kSmall), Target()); }

  // A record file with `trials` trials of that template, from a machine.
  std::string Write(const std::string& name, const std::string& workload, const std::string& target,
                    const std::string& template_name, const std::string& fingerprint, int trials,
                    const TemplateVersions& version = Version()) {
    const std::string path = dir_.Join(name + ".db");
    auto store = Must(record::Store::OpenForWriting(path, {name, workload, target, version}));
    std::vector<Outcome> outcomes;
    for (int i = 0; i < trials; ++i) {
      const Config config{template_name, static_cast<PointIndex>(i), {}};
      outcomes.push_back({.config = config, .error = TrialError::kCompile, .error_text = "none"});
    }
    const int64_t session = Must(store->BeginSession({.fingerprint = fingerprint, .settings = "{}"}));
    Must(store->Append(session, outcomes));
    return path;
  }

  Result<DonorRecords> Load(const std::vector<std::string>& paths) {
    return LoadDonors(paths, *Workload::Parse(kSmall), Target(), "here");
  }

  TempDir dir_ = Must(TempDir::Create());
};

TEST_F(DonorsTest, TakesTrialsOfThisMachineAndTheseTemplatesInTheGivenOrder) {
  const std::string cpu = Target().Text();
  const std::string relu = std::string(kSmall) + " + relu";
  const auto got =
      Must(Load({Write("large", kLarge, cpu, "sums", "here", 3), Write("relu", relu, cpu, "sums", "here", 2),
                 Write("odd", kLarge, cpu, "conv2d_depthwise", "here", 2)}));
  EXPECT_EQ(got.ids, (std::vector<std::string>{"large", "relu"}));
  EXPECT_TRUE(got.refused.empty());
  ASSERT_EQ(got.donors.size(), 2u);
  EXPECT_EQ(got.donors[0].workload.Text(), kLarge);
  EXPECT_EQ(got.donors[0].outcomes.size(), 3u);
  EXPECT_EQ(got.donors[1].outcomes.size(), 2u);
}

TEST_F(DonorsTest, RecordsWithoutTheDriversReleaseCount) {
  const std::string path = Write("large", kLarge, Target().Text(), "sums", "gpu", 3);
  const auto of = [&](const std::string& fingerprint) {
    return Must(LoadDonors({path}, *Workload::Parse(kSmall), Target(), fingerprint)).donors.size();
  };
  EXPECT_EQ(of("gpu; release=550.54"), 1u);
  EXPECT_EQ(of("gpu; power=300 W"), 0u);
}

// Finalists are measured again when the machine has changed: their first times are the ones comparable with other
// trials.
TEST_F(DonorsTest, FinalistsComeWithTheTimesOfTheSearch) {
  const std::string path = Write("large", kLarge, Target().Text(), "sums", "here", 1);
  {
    auto store = Must(record::Store::OpenForWriting(path, {"large", kLarge, Target().Text(), Version()}));
    std::vector<Outcome> outcomes;
    for (const int64_t i : {0, 1}) {
      outcomes.push_back({.config = {"sums", static_cast<PointIndex>(10 + i), {{"a", KnobKind::kOther, {i}, {}}}},
                          .state = TrialState::kOk,
                          .samples = {1e-3, 3e-3, 2e-3},
                          .median = 2e-3,
                          .artifact_digest = "a" + std::to_string(i)});
    }
    Must(store->Append(1, outcomes));
    outcomes[1].samples = {5e-3, 5e-3};
    outcomes[1].median = 5e-3;
    Must(store->Remeasure({{2, outcomes[1]}}));
  }
  const auto got = Must(Load({path}));
  ASSERT_EQ(got.donors.size(), 1u);
  ASSERT_EQ(got.donors[0].outcomes.size(), 3u);
  EXPECT_EQ(got.donors[0].outcomes[1].median, 2e-3);
  EXPECT_EQ(got.donors[0].outcomes[2].median, 2e-3);
}

TEST_F(DonorsTest, TrialsOfAnotherMachineAreRefusedWithALine) {
  const auto got = Must(Load({Write("there", kLarge, Target().Text(), "sums", "elsewhere", 3)}));
  EXPECT_TRUE(got.donors.empty());
  ASSERT_EQ(got.refused.size(), 1u);
  EXPECT_THAT(got.refused[0], HasSubstr("3 of its 3 trials are of another machine"));
}

// A knob's value has another meaning there; templates that have not changed are used.
TEST_F(DonorsTest, TrialsOfAnotherVersionOfATemplateAreRefusedWithALine) {
  TemplateVersions version = Version();
  ASSERT_GT(version.count("sums"), 0u);
  version["sums"] += 90;
  const auto got = Must(Load({Write("old", kLarge, Target().Text(), "sums", "here", 3, version),
                              Write("other", kLarge, Target().Text(), "transformed_m4", "here", 2, version),
                              Write("none", kLarge, Target().Text(), "sums", "here", 1, {})}));
  EXPECT_EQ(got.ids, std::vector<std::string>{"other"});
  ASSERT_EQ(got.refused.size(), 2u);
  EXPECT_THAT(got.refused[0], HasSubstr("old.db: 3 of its 3 trials are of other versions of their templates"));
  EXPECT_THAT(got.refused[1], HasSubstr("none.db: 1 of its 1 trials are of other versions"));
}

TEST(MakeDonor, KeepsTrialsOfTheTemplatesAndNoSamples) {
  const std::vector<Outcome> trials = {{.config = {"sums", 5, {}}, .samples = {1, 2}},
                                       {.config = {"transformed_m4", 0, {}}},
                                       {.config = {"sums", 3, {}}}};
  const auto donor = MakeDonor(*Workload::Parse(kLarge), trials, {"sums"});
  ASSERT_TRUE(donor);
  EXPECT_EQ(donor->workload.Text(), kLarge);
  ASSERT_EQ(donor->outcomes.size(), 2U);
  EXPECT_EQ(donor->outcomes[0].config.index, 5U);
  EXPECT_TRUE(donor->outcomes[0].samples.empty());
  EXPECT_EQ(donor->outcomes[1].config.index, 3U);
  EXPECT_FALSE(MakeDonor(*Workload::Parse(kLarge), trials, {"dense_packed"}));
}

TEST_F(DonorsTest, WhatCanOnlyBeAMistakeIsAnError) {
  Target other{.vector_bytes = 64};
  const std::string cpu = Target().Text();
  const std::pair<std::string, std::string> cases[] = {
      {Write("device", kLarge, other.Text(), "sums", "here", 1), "of the device"},
      {Write("op", "dense(f32[1,4], f32[8,4])", cpu, "dense", "here", 1), "it is a dense, which a conv2d"},
      {Write("self", kSmall, cpu, "sums", "here", 1), "of this task itself"},
      {dir_.Join("none.db"), "none.db"},
  };
  for (const auto& [path, part] : cases) {
    const std::string message = Load({path}).status().message();
    EXPECT_THAT(message, HasSubstr(path));
    EXPECT_THAT(message, HasSubstr(part));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace hone::session
