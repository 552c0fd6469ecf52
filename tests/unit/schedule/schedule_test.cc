#include "schedule/schedule.h"

#include <fmt/format.h>

#include "common/expect.h"
#include "schedule/relation.h"

namespace hone::schedule {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// sum over k of x * weight, then plus one; the weight is packed by a constant computation.
struct Dag {
  Tensor x = te::Placeholder("x", {12, 10});
  Tensor raw = te::Placeholder("raw", {8, 10});
  Tensor packed =
      te::ComputeConstant("packed", {10, 8}, {"k", "j"}, [&](const std::vector<Var>& v) { return raw(v[1], v[0]); });
  ir::IterVar k = te::ReduceAxis(10, "k");
  Tensor mm = te::Compute("mm", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) {
    return te::Sum(x(v[0], k.var) * packed(k.var, v[1]), {k});
  });
  Tensor out = te::Compute("out", {12, 8}, {"i", "j"},
                           [&](const std::vector<Var>& v) { return mm(v[0], v[1]) + ir::Imm(DType::Float(32), 1); });
};

Schedule Make(const Dag& dag, const std::string& steps = "") {
  Schedule s = Must(Schedule::Create({dag.out}));
  Must(s.ApplyAll(Must(ParseSteps(steps))));
  return s;
}

std::string Loops(const Schedule& s, const std::string& stage) {
  std::string text;
  for (const std::string& leaf : s.Find(stage)->leaf) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", leaf, s.Find(stage)->FindAxis(leaf)->extent);
  }
  return text;
}

std::vector<std::string> Names(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  for (const Tensor& t : tensors) names.push_back(t.name());
  return names;
}

TEST(Schedule, StagesAreTheComputationsThatRunEachTime) {
  Dag dag;
  Schedule s = Make(dag);
  ASSERT_EQ(s.stages().size(), 2u);
  EXPECT_EQ(s.stages()[0].name(), "mm");
  EXPECT_EQ(s.stages()[1].name(), "out");
  EXPECT_TRUE(s.stages()[1].output);
  EXPECT_EQ(Names(s.inputs()), (std::vector<std::string>{"x", "packed"}));
  EXPECT_EQ(Loops(s, "mm"), "i:12 j:8 k:10");
}

TEST(Schedule, PrepareComputesTheConstants) {
  Dag dag;
  std::optional<Schedule> prepare = Must(PrepareSchedule(Make(dag)));
  ASSERT_TRUE(prepare.has_value());
  EXPECT_EQ(Names(prepare->inputs()), std::vector<std::string>{"raw"});
  EXPECT_EQ(Names(prepare->outputs()), std::vector<std::string>{"packed"});
  Tensor plain = te::Compute("plain", {3}, {"i"}, [&](const std::vector<Var>& v) { return dag.x(v[0], 0); });
  EXPECT_FALSE(Must(PrepareSchedule(*Schedule::Create({plain}))).has_value());
}

struct LoopCase {
  const char* steps;
  const char* loops;  // of mm: name:extent, by hand
};

TEST(Schedule, LoopSteps) {
  const LoopCase cases[] = {
      {"split mm i [4] -> io ii", "io:3 ii:4 j:8 k:10"},
      {"split mm i [5] -> io ii", "io:3 ii:5 j:8 k:10"},
      {"split mm i [100] -> io ii", "io:1 ii:12 j:8 k:10"},
      {"split mm i [3,2] -> a b c", "a:2 b:3 c:2 j:8 k:10"},
      {"split mm i [2,5] -> a b c", "a:2 b:2 c:5 j:8 k:10"},
      {"fuse mm i j -> f", "f:96 k:10"},
      {"split mm k [4] -> ko ki\nreorder mm ko i ki", "ko:3 j:8 i:12 ki:4"},
      {"reorder mm k i", "k:10 j:8 i:12"},
      {"split mm i [4] -> io ii\nreorder mm io j ii k\nfuse mm io j -> f", "f:24 ii:4 k:10"},
  };
  for (const LoopCase& c : cases) {
    Dag dag;
    EXPECT_EQ(Loops(Make(dag, c.steps), "mm"), c.loops) << c.steps;
  }
}

TEST(Schedule, InlineRewritesTheReaders) {
  Tensor a = te::Placeholder("a", {4});
  Tensor b = te::Compute("b", {4}, {"i"}, [&](const std::vector<Var>& v) { return a(v[0]) + a(v[0]); });
  Tensor c = te::Compute("c", {4}, {"i"}, [&](const std::vector<Var>& v) { return b(Expr(3) - v[0]); });
  Schedule s = Must(Schedule::Create({c}));
  Must(s.Apply(Inline("b")));
  EXPECT_EQ(s.Find("b")->attach, AttachKind::kInline);
  EXPECT_EQ(ReadsOf(*s.Find("c")), std::vector<std::string>{"a"});
}

TEST(Schedule, CacheStagesStandBetween) {
  Dag dag;
  Schedule s = Make(dag, "cache_read x scratch mm -> x.c\ncache_write out register -> out.c\n");
  std::vector<std::string> names;
  for (const Stage& stage : s.stages()) names.push_back(stage.name());
  EXPECT_EQ(names, (std::vector<std::string>{"x.c", "mm", "out.c", "out"}));
  EXPECT_EQ(ReadsOf(*s.Find("mm")), (std::vector<std::string>{"x.c", "packed"}));
  EXPECT_EQ(ReadsOf(*s.Find("out")), std::vector<std::string>{"out.c"});
  EXPECT_EQ(s.Find("x.c")->scope, ir::Scope::kScratch);
  EXPECT_TRUE(s.Find("out")->output);
}

TEST(Schedule, RfactorSplitsTheReduction) {
  Dag dag;
  Schedule s = Make(dag, "split mm k [4] -> ko ki\nrfactor mm ki -> part\n");
  EXPECT_EQ(Loops(s, "part"), "ki:4 i:12 j:8 ko:3");
  EXPECT_EQ(Loops(s, "mm"), "i:12 j:8 ki:4");
  EXPECT_EQ(ReadsOf(*s.Find("mm")), std::vector<std::string>{"part"});
}

}  // namespace
}  // namespace hone::schedule
