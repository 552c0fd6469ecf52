#include "record/suspicious.h"

#include <fmt/format.h>

#include "record/forget.h"
#include "sample.h"

namespace hone::record {
namespace {

using Texts = std::vector<std::string>;

class SuspiciousTest : public RecordTest {
 protected:
  // A trial for each letter: `.` works, the others fail by this error. Their texts differ in their numbers, but for
  // those of upper-case letters. `artifacts` has one for each trial, if it matters.
  std::vector<Outcome> Trials(const std::string& letters, const Texts& artifacts = {}) {
    const std::map<char, TrialError> errors = {{'i', TrialError::kInvalid}, {'c', TrialError::kCompile},
                                               {'t', TrialError::kTimeout}, {'x', TrialError::kCrash},
                                               {'w', TrialError::kWrong},   {'d', TrialError::kDevice}};
    std::vector<Outcome> trials;
    for (size_t i = 0; i < letters.size(); ++i) {
      const int64_t config = next_++;
      const std::string n = std::to_string(config);
      const auto error = errors.find(static_cast<char>(std::tolower(letters[i])));
      trials.push_back(error == errors.end() ? Good(config, {1e-3})
                       : std::isupper(letters[i])
                           ? Bad(config, error->second, "something else")
                           : Bad(config, error->second, "no space for " + n + " at 0x7f" + n + "ab"));
      if (!artifacts.empty()) trials.back().artifact_digest = artifacts[i];
    }
    return trials;
  }
  void Add(const std::vector<Outcome>& trials, double started = 1000, const std::string& machine = "f1") {
    Session session = SampleSession(machine);
    session.started = started;
    Append(trials, session);
  }
  // "8-15: 8 wrong in a row since 5000", or "8 compile of 16" if they are spread over a session.
  Texts Found() {
    Texts found;
    for (const Suspicion& s : Must(FindSuspicious(*OpenToRead()))) {
      found.push_back(fmt::format("{}-{}: {} {} {} since {}", s.first, s.last, s.failures, TrialErrorName(s.error),
                                  s.tried == 0 ? "in a row" : fmt::format("of {}", s.tried), s.since));
    }
    return found;
  }

  int64_t next_ = 0;
};

TEST_F(SuspiciousTest, EightAlikeInARowAreAndSevenAreNot) {
  Add(Trials("wwwwwww."));
  EXPECT_EQ(Found(), Texts());
  Add(Trials("wwwwwwww"), 5000);
  EXPECT_EQ(Found(), Texts{"8-15: 8 wrong in a row since 5000"});
  EXPECT_EQ(Must(FindSuspicious(*OpenToRead()))[0].text, "no space for 8 at 0x7f8ab");
}

TEST_F(SuspiciousTest, OtherTextsErrorsTimesAndMachinesEndARow) {
  for (const char* machine : {"f1", "f2"}) Add(Trials("ttttTtttttwttttt.ttttt"), 1000, machine);
  EXPECT_EQ(Found(), Texts());
}

TEST_F(SuspiciousTest, RejectedPointsNeitherCountNorInterrupt) {
  Add(Trials("iiiiiiiiiiiititititititititi"));
  EXPECT_EQ(Found(), Texts{"12-26: 8 timeout in a row since 1000"});
}

TEST_F(SuspiciousTest, CopiesOfAVerdictCountOnce) {
  Texts artifacts(14, "aa");
  for (const char* other : {"b1", "b2", "b3", "b4", "b5", "b6"}) artifacts.emplace_back(other);
  Add(Trials(std::string(20, 'x'), artifacts));
  EXPECT_EQ(Found(), Texts()) << "seven different artifacts";
}

// `forget --since` the later session would not remove them.
TEST_F(SuspiciousTest, CopiesOfAnEarlierSessionsVerdictsDoNotCount) {
  const auto eight = [&](char error) {
    return Trials(std::string(8, error), {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"});
  };
  Add(eight('x'), 1000);
  Add(eight('x'), 2000);
  EXPECT_EQ(Found(), Texts{"0-7: 8 crash of 8 since 1000"});
  // Another machine and another error are other verdicts; a device's failures are always their own.
  Add(eight('x'), 3000, "f2");
  Add(eight('t'), 4000);
  Add(eight('d'), 5000);
  Add(eight('d'), 6000);
  EXPECT_EQ(Found(), (Texts{"0-7: 8 crash of 8 since 1000", "16-23: 8 crash of 8 since 3000",
                            "24-31: 8 timeout in a row since 4000", "32-39: 8 device of 8 since 5000",
                            "40-47: 8 device of 8 since 6000"}));
  for (const Suspicion& s : Must(FindSuspicious(*OpenToRead()))) {
    EXPECT_FALSE(Must(FindForgettable(path_, s.error, s.since)).empty()) << s.since;
  }
}

TEST_F(SuspiciousTest, CopiesDoNotInterruptARow) {
  std::vector<Outcome> trials = Trials("XtXtXtXtXtXtXtXtX");
  for (Outcome& outcome : trials) {
    if (outcome.error == TrialError::kCrash) outcome.artifact_digest = "aa";
  }
  Add(trials);
  EXPECT_EQ(Found(), Texts{"1-15: 8 timeout in a row since 1000"});
}

TEST_F(SuspiciousTest, MuchOfASessionIs) {
  Add(Trials("c..c..c..c..c..c..c..c.."), 1000);  // a third
  Add(Trials("w.w.w.w.w.w.w.w."), 2000);          // more often the candidates' fault
  EXPECT_EQ(Found(), Texts());
  for (const char* half : {"c.c.c.c.c.c.c.c.", "x.x.x.x.x.x.x.x.", "d.d.d.d.d.d.d.d."}) Add(Trials(half), 3000);
  EXPECT_EQ(Found(), (Texts{"40-54: 8 compile of 16 since 3000", "56-70: 8 crash of 16 since 3000",
                            "72-86: 8 device of 16 since 3000"}));
}

TEST_F(SuspiciousTest, ASessionIsReportedOnce) {
  Add(Trials("ccccccccc.ccccccccc"));
  EXPECT_EQ(Found(), Texts{"0-18: 18 compile of 19 since 1000"});
}

}  // namespace
}  // namespace hone::record
