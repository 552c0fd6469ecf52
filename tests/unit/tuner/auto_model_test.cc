// The Gaussian process of the tuner `auto`: its means and variances, and the settings that it chooses.
#include "search/tuner/auto_model.h"

#include "base/rng.h"
#include "common/expect.h"
#include "search/tuner/cholesky.h"

namespace hone::search {
namespace {

// A Gaussian process without noise passes through its observations, and is more certain near them than far away.
TEST(GaussianModel, MeansAndVariances) {
  GaussianModel model(4, {1, 1, 1, 1});
  GaussianSettings settings{.noise = 1e-3};
  model.set_settings(settings);
  const float points[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {5, 5, 0, 0}};
  const GaussianRow far{points[3], 0}, at{points[1], 0};
  model.Fit({{points[0], 0}, {points[1], 0}, {points[2], 0}}, {0.1, 0.4, -0.2}, false);
  EXPECT_NEAR(model.Mean({points[0], 0}), 0.1, 1e-3);
  EXPECT_NEAR(model.Mean(at), 0.4, 1e-3);
  const auto variance = [&](const GaussianRow& row) {
    std::vector<float> white(model.size());
    model.Whiten(row, white.data());
    double v = model.Covariance(row, row);
    for (const float w : white) v -= static_cast<double>(w) * w;
    return v;
  };
  EXPECT_LT(variance(at), 1e-3);
  EXPECT_GT(variance(far), 0.05);
}

// Two values at one place: with almost no prior, the mean is theirs, weighted by the inverse variances.
TEST(GaussianModel, WhatIsDoubtedCountsLess) {
  GaussianModel model(4, {1, 1, 1, 1});
  GaussianSettings settings{.noise = 0.1};
  model.set_settings(settings);
  const float place[4] = {0, 0, 0, 0};
  model.Fit({{place, 0}, {place, 0}}, {0.0, 1.0}, false, {1, 100});
  EXPECT_NEAR(model.Mean({place, 0}), 1.0 / 101, 1e-3);
  model.Fit({{place, 0}, {place, 0}}, {0.0, 1.0}, false);
  EXPECT_NEAR(model.Mean({place, 0}), 0.5, 1e-2);
}

// Rows far apart are similar only in their last columns.
TEST(GaussianModel, ColumnsBehindTheWeightsAreAPartOfTheirOwn) {
  GaussianModel model(4, {1, 1});
  GaussianSettings settings;
  settings.common = settings.offset = settings.linear = 0;
  settings.main = 0.5, settings.bend = 2;
  model.set_settings(settings);
  const float a[4] = {0, 0, 1, 0}, far[4] = {100, 0, 1, 0}, other[4] = {100, 0, 0, 1};
  EXPECT_NEAR(model.Covariance({a, 0}, {a, 0}), 4.25, 1e-6);
  EXPECT_NEAR(model.Covariance({a, 0}, {far, 0}), 0.25, 1e-6);
  EXPECT_NEAR(model.Covariance({a, 0}, {other, 0}), 0, 1e-6);
  settings.noise = 0.01;
  model.set_settings(settings);
  model.Fit({{a, 0}}, {1.0}, false);
  EXPECT_NEAR(model.Mean({far, 0}), 0.25 / 4.2501, 1e-5);
}

// Compared with models fitted without the row.
TEST(GaussianModel, ErrorsOfRowsLeftOut) {
  const float x[5][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0.5F, 0.2F, 0, 0}};
  const std::vector<double> values = {0.1, 0.4, -0.2, 0.9, 0.0}, doubts = {1, 2, 1, 5, 1};
  const double noise = GaussianSettings().noise;
  double squares = 3, weight = 3;
  for (size_t out = 0; out < 5; ++out) {
    GaussianModel without(4, {1, 1, 1, 1});
    std::vector<GaussianRow> rows;
    std::vector<double> y, d;
    for (size_t i = 0; i < 5; ++i) {
      if (i != out) rows.push_back({x[i], 0}), y.push_back(values[i]), d.push_back(doubts[i]);
    }
    without.Fit(rows, y, false, d);
    std::vector<float> white(4);
    without.Whiten({x[out], 0}, white.data());
    double variance = without.Covariance({x[out], 0}, {x[out], 0}) + noise * noise * doubts[out];
    for (const float w : white) variance -= static_cast<double>(w) * w;
    squares += std::pow(values[out] - without.Mean({x[out], 0}), 2) / variance / doubts[out];
    weight += 1 / doubts[out];
  }
  GaussianModel all(4, {1, 1, 1, 1});
  std::vector<GaussianRow> rows;
  for (const auto& row : x) rows.push_back({row, 0});
  all.Fit(rows, values, false, doubts);
  EXPECT_NEAR(all.LeftOut(3) / (squares / weight), 1, 0.02);
}

// Rows of two groups, with columns of both kinds, compared with explicit covariances.
TEST(GaussianModel, MeansAreThoseOfTheCovariances) {
  const std::vector<std::vector<float>> x = {
      {0, 0.3F, 1, 0}, {1, 0, 0, 1}, {0, 1, 1, 0}, {1, 1, 0, 0}, {0.5F, 0.2F, 0, 1}};
  const std::vector<double> values = {0.1, 0.4, -0.2, 0.9, 0.0};
  GaussianModel model(4, {1, 0.5F});
  std::vector<GaussianRow> rows;
  for (size_t i = 0; i < x.size(); ++i) rows.push_back({x[i].data(), i < 3 ? 0 : 7});
  model.Fit(rows, values, false);
  const size_t n = rows.size();
  std::vector<double> k(n * n), alpha = values;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      k[i * n + j] = model.Covariance(rows[i], rows[j]) + (i == j ? std::pow(model.noise(), 2) : 0);
    }
  }
  ASSERT_TRUE(Cholesky(n, &k));
  Forward(n, k, &alpha);
  Backward(n, k, &alpha);
  const float at[4] = {0.7F, 0.4F, 1, 1};
  for (const int group : {0, 7, 3}) {  // the last group has no observations
    double mean = 0;
    for (size_t i = 0; i < n; ++i) mean += alpha[i] * model.Covariance({at, group}, rows[i]);
    EXPECT_NEAR(model.Mean({at, group}), mean, 1e-5) << group;
  }
}

// The order of the sums is fixed, so that equal histories give equal proposals: the terms with an even and with an odd
// k apart, then both, then a last one without a partner.
TEST(Cholesky, SumsInAFixedOrder) {
  Rng rng(3);
  for (size_t n = 1; n <= 40; ++n) {
    std::vector<double> root(n * n), m(n * n, 0);
    for (double& x : root) x = rng.Normal();
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        for (size_t k = 0; k < n; ++k) m[i * n + j] += root[i * n + k] * root[j * n + k];
      }
      m[i * n + i] += 0.1;
    }
    std::vector<double> expected = m;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        double parts[2] = {0, 0};
        for (size_t k = 0; k < j / 2 * 2; ++k) parts[k % 2] -= expected[i * n + k] * expected[j * n + k];
        double sum = expected[i * n + j] + (parts[0] + parts[1]);
        if (j % 2 == 1) sum -= expected[i * n + j - 1] * expected[j * n + j - 1];
        expected[i * n + j] = i == j ? std::sqrt(sum) : sum / expected[j * n + j];
      }
    }
    ASSERT_TRUE(Cholesky(n, &m));
    ASSERT_EQ(m, expected) << n;
  }
}

TEST(Cholesky, FactorsAndSolves) {
  std::vector<double> m = {4, 0, 2, 5};  // entries above the diagonal are ignored
  ASSERT_TRUE(Cholesky(2, &m));
  EXPECT_DOUBLE_EQ(m[0], 2);
  EXPECT_DOUBLE_EQ(m[2], 1);
  EXPECT_DOUBLE_EQ(m[3], 2);
  std::vector<double> y = {8, 9};  // [[4 2] [2 5]] (11/8, 5/4)
  Forward(2, m, &y);
  Backward(2, m, &y);
  EXPECT_DOUBLE_EQ(y[0], 1.375);
  EXPECT_DOUBLE_EQ(y[1], 1.25);
  std::vector<double> negative = {1, 0, 2, 1};
  EXPECT_FALSE(Cholesky(2, &negative));
}

// All of group 0.
std::vector<GaussianRow> Rows(const std::vector<std::vector<float>>& x) {
  std::vector<GaussianRow> rows;
  for (const auto& row : x) rows.push_back({row.data(), 0});
  return rows;
}

// 20 rows whose values oscillate along the first column, do not change along the second, and have a single value in the
// third.
TEST(TuneSettings, WeighsWhatValuesChangeWith) {
  std::vector<std::vector<float>> x;
  std::vector<double> values;
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    x.push_back({static_cast<float>(i) / 20, static_cast<float>(rng.UniformDouble()), 0.5F, 0.0F});
    values.push_back(0.3 * std::sin(0.6 * i));
  }
  const TunedSettings tuned = TuneSettings(Rows(x), values, std::vector<double>(20, 1.0), 4, {1.8F, 1.8F, 1.8F, 0});
  EXPECT_GT(tuned.weights[0], 1.9F * tuned.weights[1]);
  EXPECT_EQ(tuned.weights[2], 1.8F);
  EXPECT_EQ(tuned.weights[3], 0);
  EXPECT_EQ(tuned.settings.main, GaussianSettings().main);  // there are no such columns
}

// The first 32 of 96 rows are the fastest: their dependence on the first column counts, although the other values,
// doubted a hundred times as much, are lower and newer.
TEST(TuneSettings, OfManyRowsTheFastestAreAsked) {
  std::vector<std::vector<float>> x;
  std::vector<double> values, doubts;
  Rng rng(1);
  for (int i = 0; i < 96; ++i) {
    const bool fast = i < 32;
    const auto other = static_cast<float>(rng.UniformDouble());
    x.push_back({fast ? static_cast<float>(i) / 20 : 1.6F * other, static_cast<float>(rng.UniformDouble()), 0, 0});
    values.push_back(fast ? 0.3 * std::sin(0.6 * i) : -0.31);
    doubts.push_back(fast ? 1 : 121);
  }
  const TunedSettings tuned = TuneSettings(Rows(x), values, doubts, 4, {1.8F, 1.8F, 0, 0});
  EXPECT_GT(tuned.weights[0], 1.9F * tuned.weights[1]);
}

}  // namespace
}  // namespace hone::search
