#include "base/rng.h"

#include "common/expect.h"

namespace hone {
namespace {

// The first outputs of the authors' splitmix64.c with state 0 and 1234567.
TEST(Mix64, MatchesThePublishedGenerator) {
  EXPECT_EQ(Mix64(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(Mix64(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(Mix64(1234567), 6457827717110365317u);
}

// xoshiro256** by hand for the state that splitmix64 gives: next = rotl(s1 * 5, 7) * 9.
TEST(Rng, FirstOutputFollowsFromTheSeed) {
  uint64_t s1 = Mix64(42 + 0x9e3779b97f4a7c15u);
  uint64_t x = s1 * 5;
  EXPECT_EQ(Rng(42).Next(), ((x << 7) | (x >> 57)) * 9);
}

TEST(Rng, SeedsDecideAll) {
  Rng a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs = differs || value != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, UniformIntIsInRangeAndEven) {
  Rng rng(1);
  std::map<uint64_t, int> count;
  const int draws = 70000;
  for (int i = 0; i < draws; ++i) ++count[rng.UniformInt(7)];
  EXPECT_EQ(count.size(), 7u);
  // Chi-square with 6 degrees of freedom; a value above 40 has a probability of 5e-7, and the seed is fixed.
  double chi = 0;
  for (const auto& [value, n] : count) {
    EXPECT_LT(value, 7u);
    chi += (n - draws / 7.0) * (n - draws / 7.0) / (draws / 7.0);
  }
  EXPECT_LT(chi, 40);
  EXPECT_EQ(rng.UniformInt(1), 0u);
}

TEST(Rng, UniformIntIsUnbiasedWhereModuloIsNot) {
  // For n = 3 * 2^62 plain modulo gives the first third twice as often as the rest.
  Rng rng(3);
  const uint64_t n = uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.UniformInt(n) < n / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 500);
}

TEST(Rng, DoublesAndNormalsHaveTheirMoments) {
  Rng rng(5);
  double sum = 0, normal_sum = 0, normal_squares = 0;
  const int draws = 40000;
  for (int i = 0; i < draws; ++i) {
    double u = rng.UniformDouble();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    double z = rng.Normal();
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.01);
  EXPECT_NEAR(normal_sum / draws, 0, 0.03);
  EXPECT_NEAR(normal_squares / draws, 1, 0.05);
}

TEST(Rng, ShuffleKeepsTheItemsAndReachesAllOrders) {
  std::map<std::vector<int>, int> orders;
  Rng rng(11);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items = {1, 2, 3};
    rng.Shuffle(&items);
    ++orders[items];
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::vector<int>{1, 2, 3}));
  }
  EXPECT_EQ(orders.size(), 6u);
  for (const auto& [order, n] : orders) EXPECT_NEAR(n, 1000, 200);
}

}  // namespace
}  // namespace hone
