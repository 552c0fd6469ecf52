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
