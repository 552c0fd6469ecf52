// The rule `sums`: where it applies, that all its points are legal schedules, and that lowering keeps their promises.
#include "sketch/sums.h"

#include <fmt/format.h>

#include <set>

#include "base/rng.h"
#include "base/text.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "schedule/schedule.h"

namespace hone::sketch {
namespace {

using Vars = std::vector<ir::Var>;
using te::Tensor;

Target Cpu() {
  Target target;
  target.vector_bytes = 64, target.vector_registers = 32, target.threads = 2;
  return target;
}

// a[b, i, k] * b[b, k, j] over k; a batch of 1 is an axis of extent 1.
struct Product {
  Tensor a, b, out;
  Product(int64_t batch, int64_t rows, int64_t depth, int64_t columns)
      : a(te::Placeholder("a", {batch, rows, depth})), b(te::Placeholder("b", {batch, depth, columns})) {
    const ir::IterVar k = te::ReduceAxis(depth, "k");
    out = te::Compute("out", {batch, rows, columns}, {"n", "i", "j"},
                      [&](const Vars& x) { return te::Sum(a(x[0], x[1], k.var) * b(x[0], k.var, x[2]), {k}); });
  }
};

// Prefetches stay inside of a tensor by a minimum.
std::string WithoutPrefetches(const std::string& text) {
  std::string rest;
  for (const std::string& line : Split(text, '\n')) {
    if (line.find("prefetch(") == line.npos) rest += line + "\n";
  }
  return rest;
}

TEST(SumTiles, AppliesToSumsWhoseValuesAreUsedAgain) {
  const Tensor a = te::Placeholder("a", {8, 8}), b = te::Placeholder("b", {8, 8});
  const ir::IterVar k = te::ReduceAxis(8, "k");
  const auto applies = [](const std::vector<int64_t>& shape, const std::function<ir::Expr(const Vars&)>& body) {
    const std::vector<std::string> names = {"i", "j", "l"};
    return SumTiles(te::Compute("out", shape, {names.begin(), names.begin() + static_cast<long>(shape.size())}, body),
                    {}, Cpu())
        .has_value();
  };
  EXPECT_TRUE(applies({8, 8}, [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(k.var, x[1]), {k}); }));
  EXPECT_TRUE(applies({8, 8}, [&](const Vars& x) { return te::Sum(a(k.var, x[0]) + b(k.var, x[1]), {k}); }));
  EXPECT_FALSE(applies({8, 8}, [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(x[1], k.var), {k}); }))
      << "the last axis walks over rows of b";
  EXPECT_FALSE(applies({8, 8}, [&](const Vars& x) { return a(x[0], x[1]) * b(x[1], x[0]); })) << "no sum";
  EXPECT_FALSE(applies({8, 8}, [&](const Vars& x) { return te::MaxOver(a(x[0], k.var) * b(k.var, x[1]), {k}); }));
  const auto sum = [&] {
    return te::Compute("sum", {8, 8}, {"i", "j"},
                       [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(k.var, x[1]), {k}); });
  };
  const Tensor one = sum(), other = sum();
  EXPECT_TRUE(applies({8, 8}, [&](const Vars& x) { return one(x[0], x[1]) + a(x[0], x[1]); }));
  EXPECT_FALSE(applies({8, 8}, [&](const Vars& x) { return one(x[0], x[1]) + other(x[0], x[1]); })) << "two sums";
  EXPECT_FALSE(applies({8}, [&](const Vars& x) { return te::Sum(b(k.var, x[0]), {k}); })) << "one axis";
}

// A convolution of 3x3 over blocks of channels with a padded copy of its data, a weight that it packs and an epilogue:
// data [blocks, rows, columns, 16], weight [filters, channels, 3, 3].
struct Convolution {
  Tensor data, weight, out;
  Convolution(int64_t channels, int64_t filters, int64_t rows, int64_t columns) {
    const int64_t lanes = 16, blocks = (filters + lanes - 1) / lanes;
    data = te::Placeholder("data", {(channels + lanes - 1) / lanes, rows, columns, lanes});
    weight = te::Placeholder("weight", {blocks * lanes, channels, 3, 3});
    const Tensor pad = te::Compute(
        "pad", {data.shape()[0], rows + 2, columns + 2, lanes}, {"co", "ih", "iw", "ci"}, [&](const Vars& x) {
          const ir::Expr inside = x[1] >= 1 && x[1] < rows + 1 && x[2] >= 1 && x[2] < columns + 1;
          return te::IfThenElse(inside, data(x[0], x[1] - 1, x[2] - 1, x[3]), ir::Imm(DType::Float(32), 0));
        });
    const ir::IterVar c = te::ReduceAxis(channels, "c"), kh = te::ReduceAxis(3, "kh"), kw = te::ReduceAxis(3, "kw");
    const std::vector<std::string> axes = {"oco", "oh", "ow", "oci"};
    const Tensor acc = te::Compute("acc", {blocks, rows, columns, lanes}, axes, [&](const Vars& x) {
      return te::Sum(pad(c.var / lanes, x[1] + kh.var, x[2] + kw.var, c.var % lanes) *
                         weight(x[0] * lanes + x[3], c.var, kh.var, kw.var),
                     {kh, kw, c});
    });
    out = te::Compute("out", acc.shape(), axes, [&](const Vars& x) {
      return ir::Max(acc(x[0], x[1], x[2], x[3]), ir::Imm(DType::Float(32), 0));
    });
  }
};

// Random legal points of tiles that do and do not divide the extents, of single rows and columns, and of extents below
// a vector: a legal schedule, whose sums stay in registers and whose inner loops are vectors.
TEST(SumTiles, EachPointIsLegalAndStaysInRegisters) {
  const std::vector<std::vector<int64_t>> shapes = {{1, 1, 1, 1},   {1, 17, 1, 13},  {12, 197, 64, 197},
                                                    {3, 5, 7, 64},  {1, 128, 67, 9}, {2, 1, 33, 131},
                                                    {5, 24, 2, 16}, {1, 29, 57, 96}, {2, 33, 40, 300}};
  for (const auto& s : shapes) {
    const Product p(s[0], s[1], s[2], s[3]);
    const Sketch sketch = *SumTiles(p.out, {}, Cpu());
    EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
    const search::Space space = SpaceOf(sketch);
    Rng rng(7);
    for (int i = 0; i < 25; ++i) {
      const auto index = space.SampleLegal(rng);
      ASSERT_TRUE(index.has_value());
      const Config config = space.At(*index);
      SCOPED_TRACE(fmt::format("{},{},{},{} {}", s[0], s[1], s[2], s[3], config.Text()));
      schedule::Schedule schedule = Must(schedule::Schedule::Create({p.out}));
      Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
      const std::string text =
          ir::ToString(Must(lower::Lower(schedule, {p.a, p.b, p.out}, {.name = "f", .verify = true})));
      EXPECT_THAT(text, Not(testing::ContainsRegex("allocate out.sums: f32.[0-9]+. (scratch|workspace)"))) << text;
      EXPECT_THAT(WithoutPrefetches(text), Not(HasSubstr("min("))) << "a tail that is not cut off\n" << text;
    }
  }
}

TEST(SumTiles, ConvolutionsArePackedAndStayInRegisters) {
  const std::vector<std::vector<int64_t>> shapes = {{64, 64, 14, 14}, {17, 67, 13, 29}, {3, 16, 1, 1}, {40, 33, 7, 50}};
  for (const auto& s : shapes) {
    const Convolution c(s[0], s[1], s[2], s[3]);
    const Sketch sketch = *SumTiles(c.out, {"weight"}, Cpu());
    EXPECT_FALSE(SumTiles(c.out, {}, Cpu()).has_value()) << "an activation cannot be packed";
    EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
    const search::Space space = SpaceOf(sketch);
    Rng rng(7);
    std::vector<Config> points = {Must(BestByEstimate(sketch, space))};
    for (int i = 0; i < 25; ++i) points.push_back(space.At(space.SampleLegal(rng).value()));
    for (const Config& config : points) {
      SCOPED_TRACE(fmt::format("{},{},{},{} {}", s[0], s[1], s[2], s[3], config.Text()));
      schedule::Schedule schedule = Must(schedule::Schedule::Create({c.out}));
      Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
      const std::string text = ir::ToString(
          Must(lower::Lower(schedule, schedule.Arguments({c.data, c.weight}), {.name = "f", .verify = true})));
      EXPECT_THAT(text, HasSubstr("weight.packed")) << text;
      for (const std::string& line : Split(text, '\n')) {
        if (line.find("acc[") == line.npos) continue;
        EXPECT_THAT(line, Not(HasSubstr("min("))) << "a tail that is not cut off";
      }
      EXPECT_THAT(text, HasSubstr(", 1, 16)")) << text;
      EXPECT_THAT(text, testing::ContainsRegex("allocate acc: f32.[0-9]+. register")) << text;
      EXPECT_THAT(text, Not(testing::ContainsRegex("allocate acc: f32.[0-9]+. (scratch|workspace)"))) << text;
    }
  }
}

// Points are drawn among the combinations of these decisions that these rules accept.
TEST(SumTiles, TheRulesOfTheCoreReadNothingElse) {
  const Convolution c(40, 33, 7, 50);
  const Sketch sketch = *SumTiles(c.out, {"weight"}, Cpu());
  ASSERT_EQ(sketch.cores.size(), 1U);
  Sketch core = sketch;
  core.rules = sketch.cores[0].rules;
  const search::Space space = SpaceOf(core);
  Rng rng(5);
  int legal = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<size_t> one = space.Digits(space.Uniform(rng)), other = space.Digits(space.Uniform(rng));
    for (size_t k = 0; k < one.size(); ++k) {
      if (std::ranges::count(sketch.cores[0].decisions, space.knobs()[k].name()) != 0) other[k] = one[k];
    }
    const Config a = space.At(space.IndexOf(one)), b = space.At(space.IndexOf(other));
    EXPECT_EQ(space.Legal(a), space.Legal(b)) << a.Text() << " and " << b.Text();
    legal += space.Legal(a);
  }
  EXPECT_GT(legal, 20);
}

TEST(SumTiles, IllegalDecisionsHaveANamedRule) {
  const Product p(1, 64, 64, 256);
  const search::Space space = SpaceOf(*SumTiles(p.out, {}, Cpu()));
  std::set<std::string> rules;
  for (uint64_t i = 0; i < uint64_t(space.size()); ++i) {
    if (const auto why = space.Reject(space.At(i))) rules.insert(why->substr(0, why->find(':')));
  }
  EXPECT_EQ(rules, (std::set<std::string>{"block", "cycles", "even", "order", "panel", "parallel", "registers"}));
}

TEST(SumTiles, TheEstimatePrefersFullTilesAndBusyThreads) {
  const auto best = [](const Product& p) {
    const Sketch sketch = *SumTiles(p.out, {}, Cpu());
    return Must(BestByEstimate(sketch, SpaceOf(sketch)));
  };
  for (const int64_t batch : {1, 12}) {
    const Config config = best(Product(batch, 192, 64, 192));
    EXPECT_GE(config.Number("rows") * config.Number("vectors"), 12) << config.Text();
  }
  const Config wide = best(Product(1, 3, 64, 1024)), tall = best(Product(1, 1024, 64, 9));
  EXPECT_EQ(wide.Number("rows"), 3) << wide.Text();
  EXPECT_LT(wide.Number("vectors") * wide.Number("block_vectors"), 64) << "one task: " << wide.Text();
  EXPECT_LT(tall.Number("rows") * tall.Number("block_rows"), 1024) << "one task: " << tall.Text();
}

}  // namespace
}  // namespace hone::sketch
