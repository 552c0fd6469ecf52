#include "record/suspicious.h"

#include "record/forget.h"
#include "sample.h"

namespace hone::record {
namespace {

class SuspiciousTest : public RecordTest {
 protected:
  // Returns the number of the next config.
  int64_t Next() { return next_++; }
  Outcome Fine() { return Good(Next(), {1e-3}); }
  Outcome Fails(TrialError error, const std::string& text) { return Bad(Next(), error, text); }
  // `count` compile failures, whose texts differ in their numbers.
  std::vector<Outcome> Row(int64_t count, TrialError error = TrialError::kCompile) {
    std::vector<Outcome> row;
    for (int64_t i = 0; i < count; ++i) {
      row.push_back(Fails(error, "no space for " + std::to_string(i) + " at 0x7f" + std::to_string(i) + "ab"));
    }
    return row;
  }
  std::vector<Suspicion> Found() { return Must(FindSuspicious(*OpenToRead())); }

  int64_t next_ = 0;
};

TEST_F(SuspiciousTest, EightAlikeInARowAreAndSevenAreNot) {
  std::vector<Outcome> trials = Row(7, TrialError::kWrong);
  trials.push_back(Fine());
  Append(trials);
  EXPECT_TRUE(Found().empty());
  Session later = SampleSession();
  later.started = 5000;
  Append(Row(8, TrialError::kWrong), later);
  const std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 8);
  EXPECT_EQ(found[0].last, 15);
  EXPECT_EQ(found[0].failures, 8);
  EXPECT_EQ(found[0].tried, 0);
  EXPECT_EQ(found[0].error, TrialError::kWrong);
  EXPECT_EQ(found[0].text, "no space for 0 at 0x7f0ab");
  EXPECT_EQ(found[0].since, 5000);
}

TEST_F(SuspiciousTest, OtherTextsErrorsTimesAndMachinesEndARow) {
  for (int i = 0; i < 2; ++i) {
    std::vector<Outcome> trials = Row(4, TrialError::kTimeout);
    trials.push_back(Fails(TrialError::kTimeout, "something else"));
    for (const Outcome& outcome : Row(5, TrialError::kTimeout)) trials.push_back(outcome);
    trials.push_back(Fails(TrialError::kWrong, "no space for 1 at 0x7f1ab"));
    for (const Outcome& outcome : Row(5, TrialError::kTimeout)) trials.push_back(outcome);
    trials.push_back(Fine());
    for (const Outcome& outcome : Row(5, TrialError::kTimeout)) trials.push_back(outcome);
    Append(trials, SampleSession(i == 0 ? "f1" : "f2"));
  }
  EXPECT_TRUE(Found().empty());
}

TEST_F(SuspiciousTest, RejectedPointsNeitherCountNorInterrupt) {
  std::vector<Outcome> trials;
  for (int i = 0; i < 12; ++i) trials.push_back(Fails(TrialError::kInvalid, "the rule"));
  for (const Outcome& outcome : Row(8, TrialError::kTimeout)) {
    trials.push_back(outcome);
    trials.push_back(Fails(TrialError::kInvalid, "the rule"));
  }
  Append(trials);
  const std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 12);
  EXPECT_EQ(found[0].last, 26);
  EXPECT_EQ(found[0].failures, 8);
}

TEST_F(SuspiciousTest, CopiesOfAVerdictCountOnce) {
  std::vector<Outcome> trials = Row(20, TrialError::kCrash);
  for (size_t i = 0; i < trials.size(); ++i) trials[i].artifact_digest = i < 14 ? "aa" : "b" + std::to_string(i);
  Append(trials);
  EXPECT_TRUE(Found().empty()) << "seven different artifacts";
}

// `forget --since` the later session would not remove them.
TEST_F(SuspiciousTest, CopiesOfAnEarlierSessionsVerdictsDoNotCount) {
  const auto crashes = [&](const std::string& artifact, TrialError error = TrialError::kCrash) {
    std::vector<Outcome> trials = Row(8, error);
    for (size_t i = 0; i < trials.size(); ++i) trials[i].artifact_digest = artifact + std::to_string(i);
    return trials;
  };
  const auto session = [](double started, const std::string& machine = "f1") {
    Session session = SampleSession(machine);
    session.started = started;
    return session;
  };
  Append(crashes("a"), session(1000));
  Append(crashes("a"), session(2000));
  std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].since, 1000);
  EXPECT_EQ(found[0].last, 7);
  // Another machine and another error are other verdicts; a device's failures are always their own.
  Append(crashes("a"), session(3000, "f2"));
  Append(crashes("a", TrialError::kTimeout), session(4000));
  Append(crashes("a", TrialError::kDevice), session(5000));
  Append(crashes("a", TrialError::kDevice), session(6000));
  found = Found();
  ASSERT_EQ(found.size(), 5u);
  for (size_t i = 1; i < found.size(); ++i) {
    EXPECT_EQ(found[i].failures, 8);
    EXPECT_EQ(found[i].since, 2000 + 1000 * static_cast<double>(i));
    EXPECT_FALSE(Must(FindForgettable(path_, found[i].error, found[i].since)).empty());
  }
}

TEST_F(SuspiciousTest, CopiesDoNotInterruptARow) {
  std::vector<Outcome> trials = Row(1, TrialError::kCrash);
  trials[0].artifact_digest = "aa";
  for (const Outcome& outcome : Row(8, TrialError::kTimeout)) {
    trials.push_back(outcome);
    trials.push_back(Fails(TrialError::kCrash, trials[0].error_text));
    trials.back().artifact_digest = "aa";
  }
  Append(trials);
  const std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].error, TrialError::kTimeout);
  EXPECT_EQ(found[0].failures, 8);
}

TEST_F(SuspiciousTest, MuchOfASessionIs) {
  const auto fill = [&](int64_t fine, TrialError error, double started) {
    std::vector<Outcome> trials;
    for (const Outcome& outcome : Row(8, error)) {
      trials.push_back(outcome);
      for (int64_t i = 0; i < fine; ++i) trials.push_back(Fine());
    }
    Session session = SampleSession();
    session.started = started;
    Append(trials, session);
  };
  fill(2, TrialError::kCompile, 1000);  // a third
  fill(1, TrialError::kWrong, 2000);    // more often the candidates' fault
  EXPECT_TRUE(Found().empty());
  for (const TrialError error : {TrialError::kCompile, TrialError::kCrash, TrialError::kDevice}) {
    fill(1, error, 3000);
  }
  const std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].first, 40);
  EXPECT_EQ(found[0].last, 54);
  EXPECT_EQ(found[0].failures, 8);
  EXPECT_EQ(found[0].tried, 16);
  EXPECT_EQ(found[0].since, 3000);
  EXPECT_EQ(found[2].error, TrialError::kDevice);
}

TEST_F(SuspiciousTest, ASessionIsReportedOnce) {
  std::vector<Outcome> trials = Row(9);
  trials.push_back(Fine());
  for (const Outcome& outcome : Row(9)) trials.push_back(outcome);
  Append(trials);
  const std::vector<Suspicion> found = Found();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].failures, 18);
  EXPECT_EQ(found[0].tried, 19);
}

}  // namespace
}  // namespace hone::record
