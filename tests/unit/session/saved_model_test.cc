// Models of a device: what `learn` takes from records, and what a task takes from the file.
#include "session/saved_model.h"

#include "base/file.h"
#include "base/hash.h"
#include "common/expect.h"
#include "propose/versions.h"
#include "record/store.h"

namespace hone::session {
namespace {

constexpr char kShape[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1)";
constexpr char kOther[] = "conv2d(f32[1,32,8,8], f32[32,32,3,3], pad=1,1,1,1)";
constexpr char kOfHere[] = "cpu=A; cores=2; codegen=6";

Config Point(int64_t a, const std::string& by = "sums") {
  return {by, static_cast<PointIndex>(a), {{"a", KnobKind::kOther, {a}, {}}}};
}

class SavedModelTest : public testing::Test {
 protected:
  static TemplateVersions Version() { return *propose::VersionsOf(*Workload::Parse(kShape), Target()); }

  // Adds a session of trials with these milliseconds to a record file; 0 is a failure.
  std::string Write(const std::string& name, const std::string& workload, const std::string& fingerprint,
                    const std::vector<double>& milliseconds, const TemplateVersions& version = Version(),
                    const std::string& target = Target().Text()) {
    const std::string path = dir_.Join(name + ".db");
    auto store = Must(record::Store::OpenForWriting(path, {name, workload, target, version}));
    std::vector<Outcome> outcomes;
    for (const double ms : milliseconds) {
      Outcome o{.config = Point(next_++), .error = TrialError::kCompile, .error_text = "failed"};
      if (ms > 0) {
        o = {.config = o.config, .state = TrialState::kOk, .samples = {ms * 1e-3}, .median = ms * 1e-3};
        o.artifact_digest = "a" + std::to_string(next_);
      }
      outcomes.push_back(std::move(o));
    }
    Must(store->Append(Must(store->BeginSession({.fingerprint = fingerprint, .settings = "{}"})), outcomes));
    return path;
  }

  Result<DonorRecords> Donors(const pipeline::SavedModel& model, const std::string& fingerprint = kOfHere) {
    DonorRecords donors;
    HONE_RETURN_IF_ERROR(AddDonorsOfModel("m.model", model, *Workload::Parse(kShape), Target(), fingerprint, &donors));
    return donors;
  }

  TempDir dir_ = Must(TempDir::Create());
  int64_t next_ = 0;
};

TEST_F(SavedModelTest, KnowsTheTrialsOfAllTasksAndGivesThemToAnother) {
  const std::string large = Write("large", kOther, kOfHere, {2, 0, 1, 2.5, 9});
  const std::string relu = Write("relu", std::string(kOther) + " + relu", kOfHere, {3});
  const LearntModel learnt = Must(LearnModel({large, relu}));
  EXPECT_EQ(learnt.elsewhere, 0);
  EXPECT_EQ(learnt.model.target, Target().Text());
  EXPECT_EQ(learnt.model.device, "cpu=A");
  EXPECT_EQ(learnt.model.trials, 6);
  ASSERT_EQ(learnt.model.tasks.size(), 2U);
  const pipeline::SavedTask& first = learnt.model.tasks[0];
  EXPECT_EQ(first.workload.Text(), kOther);
  EXPECT_EQ(first.templates, (TemplateVersions{{"sums", Version().at("sums")}}));
  ASSERT_EQ(first.trials.size(), 3U) << "neither the failure nor the one that is 9 times as slow";
  EXPECT_EQ(first.trials[0], (pipeline::SavedTrial{Point(2), 1e-3}));
  EXPECT_EQ(first.trials[2], (pipeline::SavedTrial{Point(3), 2.5e-3}));
  // Later Hones and systems go on with it.
  const DonorRecords donors = Must(Donors(learnt.model, "cpu=A; cores=2; codegen=7"));
  EXPECT_TRUE(donors.refused.empty());
  ASSERT_EQ(donors.donors.size(), 2U);
  EXPECT_EQ(donors.donors[0].workload.Text(), kOther);
  ASSERT_EQ(donors.donors[0].outcomes.size(), 3U);
  EXPECT_EQ(donors.donors[0].outcomes[0].config, Point(2));
  EXPECT_EQ(donors.donors[0].outcomes[0].median, 1e-3);
  EXPECT_EQ(donors.donors[0].outcomes[0].state, TrialState::kOk);
}

TEST_F(SavedModelTest, TheDigestIsThatOfTheTrialsInAnyOrderOfFiles) {
  const std::string a = Write("a", kOther, kOfHere, {2, 1}), b = Write("b", kShape, kOfHere, {3});
  const pipeline::SavedModel model = Must(LearnModel({a, b})).model;
  EXPECT_EQ(Must(LearnModel({b, a})).model, model);
  Write("b", kShape, kOfHere, {0});  // says nothing, but it was tried
  EXPECT_NE(Must(LearnModel({a, b})).model.records, model.records);
  EXPECT_NE(Must(LearnModel({a})).model.records, model.records);
}

TEST_F(SavedModelTest, LeavesOutOtherDevicesAndVersions) {
  const std::string path = Write("a", kOther, "cpu=B; cores=2", {1, 1});
  TemplateVersions old = Version();
  old["sums"] -= 1;
  Write("a", kOther, kOfHere, {5, 5}, old);
  Write("a", kOther, kOfHere, {2, 1, 1.5});
  const LearntModel learnt = Must(LearnModel({path}));
  EXPECT_EQ(learnt.model.device, "cpu=A") << "it has more trials";
  EXPECT_EQ(learnt.elsewhere, 4);
  EXPECT_EQ(learnt.model.tasks.at(0).trials.size(), 3U);
  pipeline::SavedModel outdated = learnt.model;
  outdated.tasks[0].templates["sums"] -= 1;
  const DonorRecords donors = Must(Donors(outdated));
  EXPECT_TRUE(donors.donors.empty());
  ASSERT_EQ(donors.refused.size(), 1U);
  EXPECT_EQ(donors.refused[0], "m.model: its trials of `sums` are of another version; learn the model again");
}

TEST_F(SavedModelTest, RefusesWhatDoesNotFitWithTheWayOut) {
  const std::string path = Write("a", kOther, kOfHere, {1});
  const pipeline::SavedModel model = Must(LearnModel({path})).model;
  EXPECT_THAT(
      Donors(model, "cpu=B; cores=2").status().message(),
      HasSubstr("m.model: a model of the device `cpu=A`, this is `cpu=B`; learn one from records of this device"));
  pipeline::SavedModel foreign = model;
  foreign.target = "cuda -arch=sm_90";
  EXPECT_THAT(Donors(foreign).status().message(), HasSubstr("a model for `cuda -arch=sm_90`"));
  EXPECT_THAT(LearnModel({path, path}).status().message(), HasSubstr("a second file of task a"));
  const std::string other = Write("o", kOther, kOfHere, {1}, Version(), "cuda -arch=sm_90");
  EXPECT_THAT(LearnModel({path, other}).status().message(), HasSubstr("learn a model for each target"));
  EXPECT_THAT(LearnModel({Write("f", kOther, kOfHere, {0, 0})}).status().message(), HasSubstr("no correct trial"));
  EXPECT_THAT(LearnModel({dir_.Join("missing.db")}).status().message(), HasSubstr("missing.db"));
}

TEST_F(SavedModelTest, AFileMustBeTheOneThatTheSettingsName) {
  const std::string text = pipeline::SavedModelText(Must(LearnModel({Write("a", kOther, kOfHere, {1})})).model);
  const std::string path = dir_.Join("m.model");
  Must(WriteFileAtomic(path, text));
  EXPECT_EQ(Must(ReadModel({path, Digest128(text).Hex()})).tasks.size(), 1U);
  EXPECT_THAT(ReadModel({path, Digest128("x").Hex()}).status().message(), HasSubstr("run `hone-plan` again"));
  EXPECT_FALSE(ReadModel({dir_.Join("missing"), ""}).ok());
}

}  // namespace
}  // namespace hone::session
