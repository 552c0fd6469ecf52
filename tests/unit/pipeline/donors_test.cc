#include "pipeline/donors.h"

#include <cmath>

#include "common/expect.h"

namespace hone::pipeline {
namespace {

std::string Conv(int channels, int extent, const std::string& more = "") {
  return "conv2d(f32[1," + std::to_string(channels) + "," + std::to_string(extent) + "," + std::to_string(extent) +
         "], f32[" + std::to_string(channels) + "," + std::to_string(channels) + ",3,3], pad=1,1,1,1" + more + ")";
}

double Distance(const std::string& a, const std::string& b) {
  return ShapeDistance(*Workload::Parse(a), *Workload::Parse(b));
}

// By hand: three extents of channels and two of the image, each a factor of two.
TEST(Donors, DistanceCountsDoublings) {
  EXPECT_EQ(Distance(Conv(64, 56), Conv(64, 56)), 0);
  EXPECT_EQ(Distance("relu(f32[1,3,4,4], layout=nhwc)", "relu(f32[1,3,4,4], layout=nhwc)"), 0);
  EXPECT_TRUE(std::isinf(Distance("relu(f32[1,3,4,4])", "relu(f32[1,3,4,4], layout=nhwc)"))) << "other loops";
  EXPECT_DOUBLE_EQ(Distance(Conv(64, 56), Conv(128, 56)), 3);
  EXPECT_DOUBLE_EQ(Distance(Conv(64, 56), Conv(128, 28)), 5);
  EXPECT_DOUBLE_EQ(Distance(Conv(64, 56), Conv(64, 56, ", stride=2x2")), 1);
  EXPECT_DOUBLE_EQ(Distance(Conv(64, 56), Conv(64, 56) + " + relu"), 0.125);
  EXPECT_DOUBLE_EQ(Distance(Conv(64, 56), Conv(64, 56, ", groups=64")), 6);
  EXPECT_TRUE(std::isinf(Distance(Conv(64, 56), "dense(f32[1,64], f32[64,64])")));
  EXPECT_TRUE(std::isinf(Distance("relu(f32[64])", "relu(f32[64]) -> tanh(f32[64])")));
  EXPECT_EQ(Distance("relu(f32[64]) -> tanh(f32[64])", "relu(f32[64]) -> tanh(f32[128])"), 1);
  EXPECT_TRUE(std::isinf(Distance("dense(f32[1,64], f32[64,64])", "dense(f32[1,2,32], f32[64,64])")));
}

TEST(Donors, NearestFirstOfThoseThatStandBefore) {
  const Transfer on{true, {}};
  const std::vector<DonorTask> tasks = {{"a", Conv(64, 56), on},
                                        {"b", Conv(512, 7), on},
                                        {"c", "dense(f32[1,64], f32[64,64])", on},
                                        {"d", Conv(128, 28), on},
                                        {"e", "nonsense", on}};
  const auto donors = ChooseDonors(tasks);
  EXPECT_TRUE(donors[0].empty());
  EXPECT_EQ(donors[1], (std::vector<size_t>{0}));
  EXPECT_TRUE(donors[2].empty()) << "there is no other dense layer";
  EXPECT_EQ(donors[3], (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(donors[4].empty());
}

TEST(Donors, AtMostFour) {
  std::vector<DonorTask> tasks;
  for (int i = 0; i < 9; ++i) tasks.push_back({"t" + std::to_string(i), Conv(16 << i, 14), {true, {}}});
  EXPECT_EQ(ChooseDonors(tasks)[8], (std::vector<size_t>{7, 6, 5, 4}));
}

TEST(Donors, NoneUnlessAskedFor) {
  const auto donors = ChooseDonors({{"a", Conv(64, 56), {}}, {"b", Conv(64, 28), {}}});
  EXPECT_TRUE(donors[0].empty());
  EXPECT_TRUE(donors[1].empty());
}

// With any mixture of lists and `true`, nobody learns from itself.
TEST(Donors, ListedTasksComeFirstAndThereIsNoCircle) {
  const std::vector<DonorTask> tasks = {{"a", Conv(64, 56), {false, {"c"}}},
                                        {"b", Conv(64, 28), {true, {}}},
                                        {"c", Conv(64, 14), {true, {}}},
                                        {"d", Conv(64, 7), {false, {"b", "d"}}}};
  const auto donors = ChooseDonors(tasks);
  EXPECT_EQ(donors[0], (std::vector<size_t>{2})) << "c is listed, so it stands before a";
  std::function<bool(size_t, size_t)> reaches = [&](size_t from, size_t to) {
    for (const size_t next : donors[from]) {
      if (next == to || reaches(next, to)) return true;
    }
    return false;
  };
  for (size_t i = 0; i < tasks.size(); ++i) EXPECT_FALSE(reaches(i, i)) << i;
}

}  // namespace
}  // namespace hone::pipeline
