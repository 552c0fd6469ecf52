// The rule `rows`: where it applies, that all its points are legal schedules, and that lowering keeps their promises.
#include "sketch/rows.h"

#include <fmt/format.h>

#include <set>

#include "common/expect.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "schedule/schedule.h"
#include "unit/sketch/dags.h"

namespace hone::sketch {
namespace {

using Vars = std::vector<ir::Var>;
using te::Tensor;

Target Cpu(int vector_bytes, int threads) {
  Target target;
  target.vector_bytes = vector_bytes, target.vector_registers = vector_bytes / 2, target.threads = threads;
  return target;
}
Target Avx512(int threads = 2) { return Cpu(64, threads); }

// The mean of the last axis, or of all axes but the last.
Dag Mean(const std::vector<int64_t>& shape, bool last) {
  const Tensor data = te::Placeholder("data", shape);
  std::vector<int64_t> kept;
  std::vector<ir::IterVar> reduce;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((i + 1 == shape.size()) == last) {
      reduce.push_back(te::ReduceAxis(shape[i], fmt::format("r{}", i)));
    } else {
      kept.push_back(shape[i]);
    }
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < kept.size(); ++i) names.push_back(fmt::format("a{}", i));
  const Tensor sum = te::Compute("sum", kept, names, [&](const Vars& x) {
    std::vector<ir::Expr> all(x.begin(), x.end());
    for (size_t i = 0; i < reduce.size(); ++i) all.insert(last ? all.end() : all.begin() + long(i), reduce[i].var);
    return te::Sum(data(all), reduce);
  });
  return {data, te::Compute("out", kept, names, [&](const Vars& x) {
            return sum(std::vector<ir::Expr>(x.begin(), x.end())) * ir::Imm(DType::Float(32), 0.5);
          })};
}

Dag Largest(int64_t rows, int64_t length) {
  const Tensor data = te::Placeholder("data", {rows, length});
  const ir::IterVar r = te::ReduceAxis(length, "r");
  return {data, te::Compute("out", {rows}, {"i"}, [&](const Vars& x) { return te::MaxOver(data(x[0], r.var), {r}); })};
}

TEST(ReduceRows, AppliesToReductionsOverTheSameAxes) {
  EXPECT_TRUE(ReduceRows(Softmax(3, 5).out, Avx512()).has_value());
  EXPECT_TRUE(ReduceRows(Softmax(3, 5, 7).out, Avx512()).has_value());
  EXPECT_TRUE(ReduceRows(Largest(3, 5).out, Avx512()).has_value());
  const Tensor a = te::Placeholder("a", {8, 8}), b = te::Placeholder("b", {8, 8});
  const ir::IterVar k = te::ReduceAxis(8, "k"), l = te::ReduceAxis(8, "l");
  const auto applies = [](const Tensor& out) { return ReduceRows(out, Avx512()).has_value(); };
  const auto vector = [](const char* name, const std::function<ir::Expr(const Vars&)>& body) {
    return te::Compute(name, {8}, {"i"}, body);
  };
  EXPECT_TRUE(applies(vector("dot", [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(x[0], k.var), {k}); })));
  EXPECT_FALSE(applies(vector("copy", [&](const Vars& x) { return a(x[0], 0); }))) << "no reduction";
  EXPECT_FALSE(applies(vector("mix", [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(k.var, x[0]), {k}); })))
      << "neither axis is the last index of both";
  EXPECT_FALSE(applies(te::Compute("product", {8, 8}, {"i", "j"}, [&](const Vars& x) {
    return te::Sum(a(x[0], k.var) * b(k.var, x[1]), {k});
  }))) << "values of a are used again";
  const Tensor rows = vector("rows", [&](const Vars& x) { return te::Sum(a(x[0], k.var), {k}); });
  EXPECT_FALSE(applies(te::Compute("all", {1}, {"i"}, [&](const Vars&) { return te::Sum(rows(l.var), {l}); })))
      << "different axes are kept";
  EXPECT_FALSE(applies(vector("shift", [&](const Vars& x) { return rows((x[0] + 1) % 8); }))) << "another row's sum";
}

// Every legal point, of rows that are shorter than a vector, longer and odd, of a single row and a single element: a
// legal schedule, whose inner loops are vectors and whose sums are in registers.
TEST(ReduceRows, EachPointIsLegalAndInVectors) {
  const std::vector<Dag> dags = {Softmax(12, 197),         Softmax(1, 1),        Softmax(5, 7),
                                 Softmax(1, 1000),         Softmax(2, 13, 35),   Softmax(1, 300, 3),
                                 Mean({3, 5, 49}, true),   Mean({2, 131}, true), Mean({7, 64, 33}, false),
                                 Mean({100, 1024}, false), Largest(1, 100003),   Largest(3, 16),
                                 Softmax(2, 100003),       Largest(3, 100003)};
  for (const Dag& dag : dags) {
    for (const Target& target : {Avx512(), Avx512(48), Cpu(32, 3), Cpu(16, 1)}) {
      const Sketch sketch = *ReduceRows(dag.out, target);
      EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
      const search::Space space = SpaceOf(sketch);
      for (uint64_t i = 0; i < uint64_t(space.size()); ++i) {
        const Config config = space.At(i);
        if (space.Reject(config)) continue;
        SCOPED_TRACE(fmt::format("{} of {} with {} bytes, {} threads: {}", dag.out.name(),
                                 fmt::join(dag.data.shape(), ","), target.vector_bytes, target.threads, config.Text()));
        schedule::Schedule schedule = Must(schedule::Schedule::Create({dag.out}));
        Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
        const std::string text =
            ir::ToString(Must(lower::Lower(schedule, {dag.data, dag.out}, {.name = "f", .verify = true})));
        EXPECT_THAT(text, Not(HasSubstr("if_then_else"))) << text;
        const bool parts = config.Text().find("parts") != std::string::npos;
        for (const char* sum : {"most", "total", "sum"}) {
          const std::string in_memory = fmt::format("allocate {}[.a-z]*: f32.[0-9]+. (scratch|workspace)", sum);
          if (!parts) {
            EXPECT_THAT(text, Not(testing::ContainsRegex(in_memory))) << text;
          }
        }
        const int64_t lanes = target.FloatLanes();
        if (dag.data.shape().back() >= lanes) {
          EXPECT_THAT(text, HasSubstr(fmt::format(", 1, {})", lanes))) << text;
        }
        // Only the last thread asks where it is.
        if (parts) {
          EXPECT_THAT(text, Not(testing::ContainsRegex("if \\([^)]*[+]"))) << text;
        }
      }
    }
  }
}

TEST(ReduceRows, PartsAreForFewRows) {
  const auto orders = [](const Dag& dag, int threads) {
    std::set<std::string> found;
    const Sketch sketch = *ReduceRows(dag.out, Avx512(threads));
    for (const search::Knob& knob : sketch.decisions) {
      for (size_t i = 0; knob.name() == "order" && i < knob.size(); ++i) found.insert(knob.value(i).Text());
    }
    return found;
  };
  EXPECT_EQ(orders(Largest(1, 100003), 2), (std::set<std::string>{"parts", "together"}));
  EXPECT_EQ(orders(Largest(1, 100), 2), std::set<std::string>()) << "too short";
  EXPECT_EQ(orders(Largest(2, 100003), 2), std::set<std::string>()) << "a row for each thread";
  EXPECT_EQ(orders(Mean({100000, 3}, false), 2), (std::set<std::string>{"parts", "together"}));
}

TEST(ReduceRows, TheEstimateKnowsSizes) {
  const auto best = [](const Dag& dag) {
    const Sketch sketch = *ReduceRows(dag.out, Avx512());
    return Must(BestByEstimate(sketch, SpaceOf(sketch)));
  };
  EXPECT_EQ(best(Softmax(12, 197)).Word("threads"), "rows");
  EXPECT_EQ(best(Softmax(2, 20)).Word("threads"), "one") << "too little work to share";
  EXPECT_EQ(best(Mean({1000, 4096}, false)).Word("threads"), "columns");
  EXPECT_EQ(best(Largest(1, 10000000)).Word("order"), "parts");
}

}  // namespace
}  // namespace hone::sketch
