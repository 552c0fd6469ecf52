#include "common/expect.h"
#include "nightly/report.h"

namespace hone::nightly {
namespace {

constexpr const char *kNight = "2026-11-21T03:00:00Z", *kBefore = "2026-11-20T03:00:00Z";

Night Of(Change change, const std::string& id = kNight) {
  Night night{.comparison = {change, 1.061, 1.052, 1.07, 0.0006, 0.02, ""}, .night = id};
  if (change != Change::kNone) night.repeat = Repeat{{}, {}, change};
  return night;
}

Night Failed() {
  Night night = Of(Change::kNone);
  night.failure = "the process that ran it was killed";
  return night;
}

Night Moved() {
  Night night = Of(Change::kSlower);
  night.environment = "the canary moved";
  return night;
}

TEST(Verdict, OneThatIsSlowerFailsTheNight) {
  const Verdict v = Judge({{"a.cpu", {Of(Change::kNone)}}, {"b.cpu", {Of(Change::kSlower)}}, {"c.cpu", {Failed()}}});
  EXPECT_EQ(v.ExitCode(), 1);
  EXPECT_THAT(v.Text(), StartsWith("1 of 3 is slower than accepted\n  b.cpu  slower"));
  EXPECT_THAT(v.Text(), HasSubstr("+6.1 % (+5.2 .. +7.0), p = 0.0006, confirmed by a repeat\n"));
  EXPECT_THAT(v.Text(), HasSubstr("c.cpu  failed       the process that ran it was killed\n"));
}

TEST(Verdict, FasterAndFineAreNoFailure) {
  EXPECT_EQ(Judge({{"a.cpu", {Of(Change::kNone)}}}).ExitCode(), 0);
  const Verdict v = Judge({{"a.cpu", {Of(Change::kFaster)}}, {"b.cpu", {Failed()}}});
  EXPECT_EQ(v.ExitCode(), 0);
  EXPECT_THAT(v.Text(), StartsWith("no confirmed slowdown in 1 of 2; 1 faster: accept to keep it\n"));
}

// A disturbed machine blames nobody, and a night of only such results gives 3, not 0.
TEST(Verdict, NothingUsableIsNotFine) {
  EXPECT_EQ(Judge({}).ExitCode(), 3);
  EXPECT_EQ(Judge({{"a.cpu", {}}}).ExitCode(), 3);
  EXPECT_EQ(Judge({{"a.cpu", {Failed()}}, {"b.cpu", {Moved()}}}).ExitCode(), 3);
  EXPECT_THAT(Judge({{"b.cpu", {Moved()}}}).Text(), StartsWith("nothing usable was measured (1 accepted)\n"));
  EXPECT_THAT(Judge({}).Text(), HasSubstr("nothing is accepted"));
}

TEST(Verdict, IsOfTheLastNightUnlessAsked) {
  const std::map<std::string, std::vector<Night>> histories = {
      {"a.cpu", {Of(Change::kSlower, kBefore), Of(Change::kNone)}}, {"b.cpu", {Of(Change::kNone, kBefore)}}};
  const Verdict last = Judge(histories);
  EXPECT_EQ(last.night, kNight);
  EXPECT_EQ(last.ExitCode(), 0);
  EXPECT_EQ(last.Count(JobState::kMissing), 1);
  EXPECT_EQ(Judge(histories, kBefore).ExitCode(), 1);
}

}  // namespace
}  // namespace hone::nightly
