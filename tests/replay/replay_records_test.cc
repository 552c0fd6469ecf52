// Records as spaces to replay: whose trials count.
#include "base/file.h"
#include "common/expect.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "record/store.h"
#include "session/replay.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {
namespace {

constexpr char kDense[] = "dense(f32[1,64], f32[64,64])";

class ReplayRecords : public testing::Test {
 protected:
  ReplayRecords() : dir_(*TempDir::Create()), space_(*propose::MakeTaskSpace(*Workload::Parse(kDense), Target())) {
    legal_ = *space_.LegalIndices(1 << 20);
  }

  std::string Path() const { return dir_.Join("a.db"); }

  std::unique_ptr<record::Store> Open() const {
    const Target target;
    return Must(record::Store::OpenForWriting(
        Path(), {"t", kDense, target.Text(), *propose::VersionsOf(*Workload::Parse(kDense), target)}));
  }
  // A session of a machine in which the first `count` legal points took `factor` times 10, 11, 12, .. microseconds,
  // each disturbed once.
  void Record(const std::string& fingerprint, size_t count, double factor) {
    record::Session session;
    session.fingerprint = fingerprint;
    session.settings = "{}";
    std::vector<Outcome> outcomes;
    for (size_t i = 0; i < count; ++i) {
      Outcome o;
      o.config = space_.At(legal_[i]);
      o.state = TrialState::kOk;
      o.artifact_digest = "a" + std::to_string(i);
      o.median = factor * 1e-6 * static_cast<double>(10 + i);
      o.samples = {o.median, o.median, o.median, 1};
      outcomes.push_back(o);
    }
    const auto store = Open();
    Must(store->Append(*store->BeginSession(session), outcomes));
  }

  TempDir dir_;
  search::TaskSpace space_;
  std::vector<PointIndex> legal_;
};

// The same artifacts were timed before on another machine, which was five times as slow.
TEST_F(ReplayRecords, TimesAreOfTheLastSessionsMachineAlone) {
  ASSERT_GE(legal_.size(), 4U);
  Record("there", 3, 5);
  Record("here", 4, 1);
  const auto replay = Must(LoadReplay(Path()));
  EXPECT_EQ(replay.machine, "here");
  ASSERT_EQ(replay.points.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_NE(replay.Find(legal_[i]), nullptr);
    EXPECT_DOUBLE_EQ(replay.Find(legal_[i])->median, 1e-6 * static_cast<double>(10 + i)) << i;
  }
}

TEST_F(ReplayRecords, WhereNotAllPointsWereTriedItIsSaid) {
  ASSERT_GE(legal_.size(), 4U);
  Record("here", 3, 1);
  std::string missing;
  ASSERT_TRUE(LoadReplay(Path(), &missing).ok());
  const std::string counts = "3 points of " + std::to_string(legal_.size()) + " legal points were tried";
  EXPECT_NE(missing.find(counts), std::string::npos) << missing;
  EXPECT_EQ(missing.find('\n'), std::string::npos);
  Record("there", legal_.size(), 1);
  ASSERT_TRUE(LoadReplay(Path(), &missing).ok());
  EXPECT_EQ(missing, "");
}

// Nine of ten were measured again, when the machine was about half as fast: their times relative to each other come
// from then, their times relative to the tenth from before. A quarter of the samples may be disturbed.
TEST_F(ReplayRecords, FinalistsAreOnTheScaleOfTheOthers) {
  ASSERT_GE(legal_.size(), 10U);
  Record("here", 10, 1);
  {
    const auto store = Open();
    const auto trials = Must(store->Trials());
    std::vector<record::Remeasured> finalists;
    for (size_t i = 0; i < 9; ++i) {
      Outcome again = trials[i].outcome;
      again.median *= i == 4 ? 1.5 : 2;
      again.samples = {1, again.median, again.median};
      finalists.push_back({static_cast<int64_t>(i), again});
    }
    Must(store->Remeasure(finalists));
  }
  const auto replay = Must(LoadReplay(Path()));
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(replay.Find(legal_[i])->median, 1e-6 * (i == 4 ? 14 * 0.75 : static_cast<double>(i + 10)), 1e-10) << i;
  }
}

}  // namespace
}  // namespace hone::session
