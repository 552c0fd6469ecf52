#include "base/clock.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Clock, FormatsKnownInstants) {
  EXPECT_EQ(FormatIso8601(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatIso8601(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(FormatIso8601(1e9 + 0.999), "2001-09-09T01:46:40Z");
  EXPECT_EQ(FormatIso8601(-0.5), "1969-12-31T23:59:59Z");
}

TEST(Clock, FormatsAnySecondsWithFourDigitsForTheYear) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double late : {253402300799.0, 253402300800.0, 1e300, kInfinity}) {
    EXPECT_EQ(FormatIso8601(late), "9999-12-31T23:59:59Z") << late;
  }
  for (const double early : {-62167219200.0, -62167219201.0, -1e300, -kInfinity, std::nan("")}) {
    EXPECT_EQ(FormatIso8601(early), "0000-01-01T00:00:00Z") << early;
  }
  EXPECT_EQ(FormatIso8601(-30641760000), "0999-01-01T00:00:00Z");
}

TEST(Clock, ReadsTheTimesThatPeopleType) {
  const auto at = [](const char* text) { return FormatIso8601(Must(ParseTime(text, 1e9))); };
  EXPECT_EQ(at("2026-11-26"), "2026-11-26T00:00:00Z");
  EXPECT_EQ(at("2026-11-26T14:05"), "2026-11-26T14:05:00Z");
  EXPECT_EQ(at("2026-11-26T14:05Z"), "2026-11-26T14:05:00Z");
  EXPECT_EQ(at("2026-11-26T14:05:09"), "2026-11-26T14:05:09Z");
  EXPECT_EQ(at("2024-02-29T23:59:59Z"), "2024-02-29T23:59:59Z");
  EXPECT_EQ(Must(ParseTime("90s", 1e9)), 1e9 - 90);
  EXPECT_EQ(Must(ParseTime("30m", 1e9)), 1e9 - 1800);
  EXPECT_EQ(Must(ParseTime("2h", 1e9)), 1e9 - 7200);
  EXPECT_EQ(Must(ParseTime("1.5d", 1e9)), 1e9 - 129600);
  for (const char* wrong : {"",
                            "Z",
                            "h",
                            "2",
                            "-2h",
                            "infd",
                            "2x",
                            "yesterday",
                            "2026",
                            "2026-11",
                            "2026-11-26Z",
                            "2026-11-2Z",
                            "2026-11-26T",
                            "2026-11-31",
                            "2026-13-01",
                            "2025-02-29",
                            "2026-11-26 14:00",
                            "2026-11-26T24:00",
                            "2026-11-26T14:60",
                            "2026-11-26T14:00:00+01:00",
                            "26.11.2026",
                            "2026-1-026",
                            "+026-11-26",
                            "2026-11-26T14:0a"}) {
    const auto time = ParseTime(wrong, 1e9);
    EXPECT_EQ(time.status().kind(), StatusKind::kInvalid) << wrong;
    EXPECT_THAT(time.status().message(), HasSubstr("is not a time"));
  }
}

TEST(Clock, SleepsAtLeastThatLong) {
  double before = RealClock()->NowSeconds();
  RealClock()->SleepSeconds(0.01);
  EXPECT_GE(RealClock()->NowSeconds() - before, 0.01);
  RealClock()->SleepSeconds(-1);
  EXPECT_GT(RealClock()->WallSeconds(), 1.7e9);  // after 2023
}

TEST(Deadline, PassesOrNever) {
  EXPECT_TRUE(Deadline(0).Passed());
  EXPECT_EQ(Deadline(0).PollMillis(), 0);
  EXPECT_FALSE(Deadline(-1).Passed());
  EXPECT_EQ(Deadline(-1).PollMillis(), -1);
  EXPECT_TRUE(std::isinf(Deadline(-1).SecondsLeft()));
  EXPECT_FALSE(Deadline(1000).Passed());
  EXPECT_LE(Deadline(1000).PollMillis(), 1000000);
}

}  // namespace
}  // namespace hone
