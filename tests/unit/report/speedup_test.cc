#include "report/speedup.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone::report {
namespace {

using ::testing::HasSubstr;
using Verdict = Speedup::Verdict;

constexpr int kRuns = 5;

// Processes of about `seconds`; a process is up to `load` slower, and a run up to `noise`.
BenchLibrary Library(double seconds, size_t processes, double load, double noise, Rng* rng) {
  BenchLibrary library;
  for (size_t i = 0; i < processes; ++i) {
    const double slower = 1 + load * rng->UniformDouble();
    std::vector<double> runs;
    for (int k = 0; k < kRuns; ++k) runs.push_back(seconds * slower * (1 + noise * rng->UniformDouble()));
    library.processes.push_back(std::move(runs));
  }
  return library;
}

TEST(Speedup, AClearDifferenceHasANarrowInterval) {
  Rng rng(1);
  const BenchLibrary fast = Library(0.010, 7, 0.01, 0.02, &rng), slow = Library(0.014, 7, 0.01, 0.02, &rng);
  const Speedup s = CompareLibraries(fast, slow);
  EXPECT_EQ(s.verdict, Verdict::kFaster);
  EXPECT_NEAR(s.ratio, 1.4, 0.02);
  EXPECT_LT(s.low, s.ratio);
  EXPECT_GT(s.high, s.ratio);
  EXPECT_FALSE(IsOpen(s));
  EXPECT_EQ(CompareLibraries(slow, fast).verdict, Verdict::kSlower);
  EXPECT_THAT(SpeedupText(s, "untuned"), HasSubstr(" times as fast as untuned (1.3"));
}

TEST(Speedup, EqualLibrariesShowNoDifference) {
  Rng rng(2);
  const Speedup s = CompareLibraries(Library(0.01, 9, 0.01, 0.01, &rng), Library(0.01, 9, 0.01, 0.01, &rng));
  EXPECT_EQ(s.verdict, Verdict::kNoDifference);
  EXPECT_FALSE(IsOpen(s));
  EXPECT_EQ(SpeedupCell(s), "-");
  EXPECT_EQ(SpeedupTitle(s, "untuned"), "no difference from untuned shown");
  EXPECT_THAT(SpeedupText(s, "the baseline"), HasSubstr("no difference from the baseline shown (0.99 to 1.0"));
  // Below 2 %, where the pages of a library lie may be the reason.
  const Speedup small = CompareLibraries(Library(0.01, 9, 0, 0.001, &rng), Library(0.01015, 9, 0, 0.001, &rng));
  EXPECT_GT(small.low, 1);
  EXPECT_EQ(small.verdict, Verdict::kNoDifference);
}

TEST(Speedup, ABusyMachineIsNotTrusted) {
  Rng rng(3);
  const Speedup s = CompareLibraries(Library(0.010, 7, 0.5, 0.1, &rng), Library(0.014, 7, 0.5, 0.1, &rng));
  EXPECT_EQ(s.verdict, Verdict::kBusy);
  EXPECT_TRUE(IsOpen(s));
  EXPECT_EQ(SpeedupCell(s).back(), '?');
  EXPECT_EQ(SpeedupTitle(s, "untuned"), "machine busy");
  EXPECT_THAT(SpeedupText(s, "untuned"), HasSubstr("machine busy: "));
  EXPECT_THAT(SpeedupText(s, "untuned"), HasSubstr("not trustworthy"));
}

TEST(Speedup, FewProcessesProveNothing) {
  Rng rng(4);
  const Speedup s = CompareLibraries(Library(0.01, 6, 0, 0, &rng), Library(0.02, 7, 0, 0, &rng));
  EXPECT_EQ(s.verdict, Verdict::kTooFew);
  EXPECT_TRUE(IsOpen(s));
  EXPECT_EQ(SpeedupText(s, "untuned"), "2.00 times as fast as untuned, in too few processes to exclude noise");
  EXPECT_EQ(SpeedupTitle(s, "untuned"), "2.00 times as fast as untuned");
  EXPECT_STREQ(VerdictName(s.verdict), "too-few");
  // Only the first 30 count: the rank statistics take no more.
  BenchLibrary many = Library(0.01, 30, 0, 0, &rng);
  many.processes.resize(200, {1.0});
  EXPECT_NEAR(CompareLibraries(many, Library(0.01, 30, 0, 0, &rng)).ratio, 1, 1e-9);
}

// Loads that come and go make no difference between equal libraries, and a real one of 5 % is found on an idle machine.
TEST(Speedup, NoiseMakesNoClaims) {
  Rng rng(5);
  int claims = 0, found = 0;
  for (int i = 0; i < 1000; ++i) {
    const double load = rng.UniformDouble();
    const size_t processes = 7 + static_cast<size_t>(rng.UniformDouble() * 20);
    const Speedup same =
        CompareLibraries(Library(0.01, processes, load, 0.05, &rng), Library(0.01, processes, load, 0.05, &rng));
    claims += same.verdict == Verdict::kFaster || same.verdict == Verdict::kSlower;
    found += CompareLibraries(Library(0.01, 7, 0.01, 0.01, &rng), Library(0.0105, 7, 0.01, 0.01, &rng)).verdict ==
             Verdict::kFaster;
  }
  EXPECT_LE(claims, 3);
  EXPECT_GE(found, 990);
}

}  // namespace
}  // namespace hone::report
