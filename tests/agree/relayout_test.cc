// The storage of a constant does not change what is computed from it: random splits and orders of its dimensions,
// evaluated directly from the definition (te_eval.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agree/te_eval.h"
#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {
namespace {

using ir::Var;
using te::Tensor;

constexpr int64_t kRows = 3, kOutputs = 13, kReduced = 10, kTaps = 2;

// out[i, o] = sum over k, t of x[i, k] * weight[o, k, t], with the weight unchanged or as a constant computation, three
// times as large, with rows of zeros at its end.
struct Product {
  explicit Product(bool computed) {
    Tensor weight = raw;
    if (computed) {
      weight = te::ComputeConstant("weight.tripled", {kOutputs + 3, kReduced, kTaps}, {"o", "k", "t"},
                                   [&](const std::vector<Var>& v) {
                                     return te::ReadOrZero(raw, {v[0], v[1], v[2]}, {kOutputs + 3, kReduced, kTaps}) *
                                            ir::Imm(DType::Float(32), 3);
                                   });
    }
    ir::IterVar k = te::ReduceAxis(kReduced, "k"), t = te::ReduceAxis(kTaps, "t");
    out = te::Compute("out", {kRows, weight.shape()[0]}, {"i", "o"}, [&](const std::vector<Var>& v) {
      return te::Sum(x(v[0], k.var) * weight(v[1], k.var, t.var), {k, t});
    });
    name = weight.name();
  }
  Tensor x = te::Placeholder("x", {kRows, kReduced});
  Tensor raw = te::Placeholder("raw", {kOutputs, kReduced, kTaps});
  Tensor out;
  std::string name;
};

Values InputValues(Rng* rng) {
  Values values;
  for (auto [name, size] : {std::pair("x", kRows * kReduced), std::pair("raw", kOutputs * kReduced * kTaps)}) {
    for (int64_t i = 0; i < size; ++i) values[name].push_back(static_cast<double>(rng->UniformInt(9)) - 4);
  }
  return values;
}

// One to three parts of each dimension, in any order; inner ones need not divide it.
std::vector<std::string> RandomParts(Rng* rng) {
  std::vector<std::string> parts;
  for (int d = 0; d < 3; ++d) {
    int64_t step = 1;
    for (uint64_t inner = rng->UniformInt(3); inner > 0; --inner) {
      const int64_t extent = static_cast<int64_t>(1 + rng->UniformInt(5));
      parts.push_back(step == 1 ? fmt::format("d{}%{}", d, extent) : fmt::format("d{}/{}%{}", d, step, extent));
      step *= extent;
    }
    parts.push_back(step == 1 ? fmt::format("d{}", d) : fmt::format("d{}/{}", d, step));
  }
  rng->Shuffle(&parts);
  return parts;
}

TEST(Relayout, ChangesNoValue) {
  int padded = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Product product(seed % 2 == 1);
    // Sometimes the source of the constant.
    const std::string name = seed % 4 == 1 ? "raw" : product.name;
    Values before = InputValues(&rng);
    Values after = before;
    EvaluateDag({product.out}, &before);

    schedule::Schedule schedule = *schedule::Schedule::Create({product.out});
    const Step step = Relayout(name, RandomParts(&rng), "stored");
    const Status status = schedule.Apply(step);
    ASSERT_TRUE(status.ok()) << StepText(step) << ": " << status.message();
    ASSERT_EQ(schedule.inputs()[1].name(), name == product.name ? "stored" : product.name);
    EXPECT_EQ(schedule.inputs().size(), 2u);
    EvaluateDag({schedule.Find("out")->tensor}, &after);
    EXPECT_EQ(before.at("out"), after.at("out")) << StepText(step);

    // The stored tensor has the constant's elements, and zeros.
    auto magnitude = [](const std::vector<double>& values) {
      double sum = 0;
      for (double v : values) sum += v * v;
      return sum;
    };
    EXPECT_EQ(magnitude(after.at("stored")), magnitude(before.at(name))) << StepText(step);
    padded += after.at("stored").size() > before.at(name).size();
  }
  EXPECT_GT(padded, 10);
}

}  // namespace
}  // namespace hone::agree
