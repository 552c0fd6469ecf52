// The XGBoost model on invented data with a known answer.
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/hash.h"
#include "base/rng.h"
#include "base/subprocess.h"
#include "common/expect.h"
#include "common/xgb.h"

namespace hone::search {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class XgbTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = NoXgb(); !why.empty()) GTEST_SKIP() << why;
  }

  static std::vector<float> FitAndPredict(const XgbOptions& options, const FitData& data, const Matrix& rows) {
    auto model = Must(MakeXgbModel(options));
    Must(model->Fit(data));
    return Must(model->Predict(rows));
  }

  // Rows of two features in 0 .. 1, label = a - 2b.
  static FitData Plane(int n, uint64_t seed) {
    FitData data;
    data.rows.columns = 2;
    Rng rng(seed);
    for (int i = 0; i < n; ++i) {
      const float a = static_cast<float>(rng.UniformDouble()), b = static_cast<float>(rng.UniformDouble());
      data.rows.Append({a, b});
      data.labels.push_back(a - 2 * b);
    }
    return data;
  }
};

// The share of pairs with different labels that the scores order correctly.
double Concordance(const std::vector<float>& labels, const std::vector<float>& scores) {
  int64_t alike = 0, all = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (labels[i] == labels[j]) continue;
      ++all;
      alike += (labels[i] > labels[j]) == (scores[i] > scores[j]) && scores[i] != scores[j];
    }
  }
  return static_cast<double>(alike) / static_cast<double>(all);
}

TEST_F(XgbTest, EveryLossOrdersUnseenRows) {
  const FitData data = Plane(300, 1), unseen = Plane(200, 2);
  for (const Loss loss : {Loss::kReg, Loss::kRank}) {
    EXPECT_GT(Concordance(unseen.labels, FitAndPredict({.loss = loss}, data, unseen.rows)), 0.93);
  }
  // Binary: only the good quarter against the rest.
  const std::vector<float> scores = FitAndPredict({.loss = Loss::kRankBinary}, data, unseen.rows);
  std::vector<float> sorted = unseen.labels;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<float> good;
  for (const float label : unseen.labels) good.push_back(label >= sorted[50] ? 1 : 0);
  EXPECT_GT(Concordance(good, scores), 0.93);
}

TEST_F(XgbTest, RegressionPredictsTheLabelItself) {
  const FitData data = Plane(400, 3), unseen = Plane(100, 4);
  const std::vector<float> scores = FitAndPredict({}, data, unseen.rows);
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], unseen.labels[i], 0.35);
}

TEST_F(XgbTest, EqualDataGiveEqualBits) {
  const FitData data = Plane(200, 5), unseen = Plane(300, 6);
  for (const bool exact : {false, true}) {
    for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
      const XgbOptions options{.loss = loss, .subsample = 0.7, .column_sample = 0.5, .exact = exact, .seed = 9};
      EXPECT_EQ(FitAndPredict(options, data, unseen.rows), FitAndPredict(options, data, unseen.rows));
    }
  }
}

// OpenMP reads its number of threads once, so each number needs a process: this test again, as a child that prints the
// digest of its fits.
TEST_F(XgbTest, NumbersOfThreadsMakeNoDifference) {
  const FitData data = Plane(2000, 5), unseen = Plane(300, 6);
  std::string fits;
  for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
    const XgbOptions options{.loss = loss, .rounds = 50, .subsample = 0.7, .column_sample = 0.5};
    const std::vector<float> scores = FitAndPredict(options, data, unseen.rows);
    fits += Digest128({reinterpret_cast<const char*>(scores.data()), scores.size() * sizeof scores[0]}).Hex();
  }
  if (std::getenv("HONE_TEST_CHILD") != nullptr) {
    std::printf("fits %s.\n", fits.c_str());
    return;
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* threads : {"1", "2", "5"}) {
    CommandOptions options{.env = {{"OMP_NUM_THREADS", threads}, {"HONE_TEST_CHILD", "1"}}};
    const auto child = Must(RunCommand({self, "--gtest_filter=XgbTest.NumbersOfThreadsMakeNoDifference"}, options));
    EXPECT_THAT(child.out, HasSubstr("fits " + fits + ".")) << threads << ": " << child.err;
  }
}

// Packs of one to three rows of Plane whose label is the sum of a - 2b, moved to 0 .. 1.
TEST_F(XgbTest, ScoresOfAPackAddUpToItsLabel) {
  const auto packs = [](int n, uint64_t seed) {
    const FitData rows = Plane(n, seed);
    FitData data{.rows = rows.rows};
    for (uint32_t r = 0, pack = 0; r < static_cast<uint32_t>(n); ++pack) {
      const uint32_t end = std::min(r + 1 + pack % 3, static_cast<uint32_t>(n));
      float sum = 0;
      for (uint32_t i = r; i < end; ++i) sum += 0.1F * rows.labels[i] + 0.25F;
      for (; r < end; ++r) {
        data.labels.push_back(sum);
        data.group.push_back(1000 - pack);
      }
    }
    return data;
  };
  const auto sums = [](const FitData& data, const std::vector<float>& scores) {
    std::map<uint32_t, float> sum;
    for (size_t r = 0; r < scores.size(); ++r) sum[data.group[r]] += scores[r];
    return sum;
  };
  const XgbOptions options{.loss = Loss::kPackSum, .depth = 6, .learning_rate = 0.2, .exact = true};
  FitData data = packs(600, 1);
  const FitData unseen = packs(120, 2);
  // The mean error of packs, weighted as in learning.
  const auto error = [&](const std::vector<float>& scores) {
    const std::map<uint32_t, float> found = sums(unseen, scores);
    double sum = 0, weights = 0;
    for (size_t r = 0; r < scores.size(); ++r) {
      sum += unseen.labels[r] * std::abs(found.at(unseen.group[r]) - unseen.labels[r]);
      weights += unseen.labels[r];
    }
    return sum / weights;
  };
  const std::vector<float> scores = FitAndPredict(options, data, unseen.rows);
  EXPECT_LT(error(scores), 0.05);
  EXPECT_GT(error(std::vector<float>(scores.size(), 0.25F)), 0.1) << "the check can fail";
  EXPECT_EQ(FitAndPredict(options, data, unseen.rows), scores);
  // Packs weigh as much as their label: those with 0 say nothing, wherever they are.
  FitData more = data;
  for (int i = 0; i < 200; ++i) {
    more.rows.Append({0.5F, 0.5F});
    more.labels.push_back(0);
    more.group.push_back(2000 + static_cast<uint32_t>(i));
  }
  EXPECT_LT(error(FitAndPredict(options, more, unseen.rows)), 0.06);
}

TEST_F(XgbTest, FittingAgainForgets) {
  auto model = Must(MakeXgbModel({}));
  FitData data = Plane(200, 5);
  const Matrix rows = Plane(50, 6).rows;
  ASSERT_TRUE(model->Fit(data).ok());
  const auto before = model->Predict(rows);
  for (float& label : data.labels) label = -label;
  ASSERT_TRUE(model->Fit(data).ok());
  const auto after = model->Predict(rows);
  EXPECT_LT(Concordance(*before, *after), 0.1);
}

// AutoTVM shuffles its rows but not their margins. If each margin is its row's label and they stay together, nothing is
// left to learn, whatever the order of rows and groups.
TEST_F(XgbTest, MarginsStayWithTheirRows) {
  for (const bool grouped : {false, true}) {
    FitData data = Plane(300, 7);
    data.margins = data.labels;
    if (grouped) {
      for (size_t i = 0; i < data.labels.size(); ++i) data.group.push_back(static_cast<uint32_t>((i * 7) % 3));
    }
    for (const float added : FitAndPredict({}, data, data.rows)) EXPECT_NEAR(added, 0, 1e-5);
    FitData wrong = data;
    std::rotate(wrong.margins.begin(), wrong.margins.begin() + 1, wrong.margins.end());
    const std::vector<float> scores = FitAndPredict({}, wrong, wrong.rows);
    EXPECT_GT(*std::max_element(scores.begin(), scores.end()), 0.1);  // the check can fail
  }
}

TEST_F(XgbTest, WhatIsAddedToMarginsIsTheRest) {
  FitData data = Plane(400, 8);
  for (const float label : data.labels) data.margins.push_back(label - 5);
  for (const float added : FitAndPredict({}, data, data.rows)) EXPECT_NEAR(added, 5, 0.05);
}

// Ranking compares only rows of one group. The first column identifies the group and almost determines the label; the
// second decides within a group. AutoTVM has a single group, and learns the first.
TEST_F(XgbTest, RowsOfDifferentGroupsAreNotCompared) {
  FitData data;
  data.rows.columns = 2;
  Rng rng(10);
  for (int i = 0; i < 400; ++i) {
    const uint32_t group = static_cast<uint32_t>(rng.UniformInt(2));
    const float x = static_cast<float>(rng.UniformDouble());
    data.rows.Append({static_cast<float>(group), x});
    data.group.push_back(group);
    data.labels.push_back(100 * static_cast<float>(group) + x);
  }
  Matrix probe;
  probe.columns = 2;
  for (const float group : {0.f, 1.f}) {
    for (const float x : {0.1f, 0.9f}) probe.Append({group, x});
  }
  const XgbOptions options{.loss = Loss::kRank};
  const std::vector<float> grouped = FitAndPredict(options, data, probe);
  EXPECT_GT(grouped[1] - grouped[0], 1);
  EXPECT_GT(grouped[3] - grouped[2], 1);
  EXPECT_LT(std::abs(grouped[2] - grouped[0]), 0.2 * (grouped[1] - grouped[0]));
  data.group.clear();
  const std::vector<float> single = FitAndPredict(options, data, probe);
  EXPECT_GT(single[2] - single[0], single[1] - single[0]);  // the check can fail
}

TEST_F(XgbTest, MissingAndInfiniteFeaturesAreBorne) {
  FitData data = Plane(300, 11);
  for (size_t r = 0; r < data.rows.rows(); r += 5) data.rows.values[2 * r] = r % 2 ? kNan : kInf;
  Matrix rows = Plane(4, 12).rows;
  rows.values[0] = kNan;
  rows.values[3] = -kInf;
  for (const float score : FitAndPredict({}, data, rows)) EXPECT_TRUE(std::isfinite(score));
}

TEST_F(XgbTest, EqualLabelsGiveEqualScores) {
  FitData data = Plane(50, 13);
  std::fill(data.labels.begin(), data.labels.end(), 0.25f);
  for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
    const std::vector<float> scores = FitAndPredict({.loss = loss}, data, data.rows);
    for (const float score : scores) EXPECT_EQ(score, scores[0]);
  }
}

TEST_F(XgbTest, OneRow) {
  FitData data = Plane(1, 14);
  for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
    EXPECT_EQ(FitAndPredict({.loss = loss}, data, data.rows).size(), 1u);
  }
}

TEST_F(XgbTest, BadDataAreRefusedByName) {
  auto model = Must(MakeXgbModel({}));
  EXPECT_EQ(model->Fit({}).kind(), StatusKind::kInvalid);
  FitData data = Plane(10, 15);
  data.labels[3] = kNan;
  Status status = model->Fit(data);
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("label of row 3"));
  data.labels[3] = 0;
  data.margins.assign(10, 0);
  data.margins[9] = kInf;
  status = model->Fit(data);
  EXPECT_THAT(status.message(), HasSubstr("margin of row 9"));
  data.margins.pop_back();
  EXPECT_EQ(model->Fit(data).kind(), StatusKind::kInvalid);
}

// AutoTVM's early stop: with labels that one split explains, recall is best at once, and later trees are dropped, so
// more patience changes nothing.
TEST_F(XgbTest, TreesAfterTheBestRecallAreDropped) {
  FitData data;
  data.rows.columns = 1;
  for (int i = 0; i < 64; ++i) {
    data.rows.Append({static_cast<float>(i)});
    data.labels.push_back(i < 32 ? 0.f : 1.f);
  }
  XgbOptions options{.rounds = 200, .depth = 3, .learning_rate = 0.3, .exact = true, .recall_of = 64, .patience = 20};
  const std::vector<float> stopped = FitAndPredict(options, data, data.rows);
  options.patience = 1000;
  EXPECT_EQ(FitAndPredict(options, data, data.rows), stopped);
  options.recall_of = 0;
  EXPECT_NE(FitAndPredict(options, data, data.rows), stopped);
  options = {.rounds = 1, .depth = 3, .learning_rate = 0.3, .exact = true, .recall_of = 64, .patience = 20};
  EXPECT_EQ(FitAndPredict(options, data, data.rows), stopped);
}

TEST(MatrixTest, RowsAreCutOrFilledUp) {
  Matrix m;
  m.columns = 2;
  m.Append({1, 2, 3});
  m.Append({4});
  ASSERT_EQ(m.rows(), 2u);
  EXPECT_EQ(m.values[1], 2);
  EXPECT_EQ(m.values[2], 4);
  EXPECT_TRUE(std::isnan(m.values[3]));
}

}  // namespace
}  // namespace hone::search
