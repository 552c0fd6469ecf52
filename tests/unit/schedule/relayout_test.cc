#include "schedule/relayout.h"

#include "base/text.h"
#include "common/expect.h"
#include "schedule/schedule.h"

namespace hone::schedule {
namespace {

using ir::Var;
using te::Tensor;

struct LayoutCase {
  const char* parts;
  const char* shape;  // as stored, of a constant of 20 x 10 x 3; by hand
};

TEST(Relayout, StoresWholeParts) {
  const LayoutCase cases[] = {
      {"d0 d1 d2", "20x10x3"},
      {"d2 d0 d1", "3x20x10"},
      {"d0/16 d1 d2 d0%16", "2x10x3x16"},       // 12 more rows
      {"d0/8 d1/4 d2 d1%4 d0%8", "3x3x3x4x8"},  // 4 more rows, 2 more columns
      {"d0/8 d0/4%2 d0%4 d1 d2", "3x2x4x10x3"},
      {"d0/20 d1 d2 d0%20", "1x10x3x20"},
      {"d0/4 d0/4%1 d1 d2 d0%4", "5x1x10x3x4"},  // a part of extent 1
      {"d0/64 d1 d2 d0%64", "1x10x3x64"},
  };
  for (const LayoutCase& c : cases) {
    const auto parts = Must(ParseLayout(SplitWords(c.parts), {20, 10, 3}));
    const Tensor stored = StoreBy(parts, te::Placeholder("w", {20, 10, 3}), "stored");
    std::string shape;
    for (int64_t extent : stored.shape()) shape += (shape.empty() ? "" : "x") + std::to_string(extent);
    EXPECT_EQ(shape, c.shape) << c.parts;
    EXPECT_TRUE(stored.node()->constant);
  }
}

struct Refusal {
  const char* step;
  const char* says;
};

TEST(Relayout, RefusesInOneLineAndChangesNothing) {
  const Tensor x = te::Placeholder("x", {12, 10}), w = te::Placeholder("w", {8, 10});
  const ir::IterVar k = te::ReduceAxis(10, "k");
  const Tensor mm = te::Compute("mm", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) {
    return te::Sum(x(v[0], k.var) * w(v[1], k.var), {k});
  });
  const Refusal refusals[] = {
      {"relayout w d0 d2 -> p", "`d2` is not a part of a dimension; expected d0 .. d1"},
      {"relayout w d0 x1 -> p", "`x1` is not a part"},
      {"relayout w d0/0 d1 -> p", "`d0/0` is not a part"},
      {"relayout w d0%4/2 d1 -> p", "`d0%4/2` is not a part"},
      {"relayout w d0 -> p", "no part of d1 takes its outermost indices"},
      {"relayout w d0%4 d1 -> p", "no part of d0 takes its outermost indices"},
      {"relayout w d0 d0%4 d1 -> p", "do not tile"},
      {"relayout w d0/8 d0%4 d1 -> p", "do not tile"},
      {"relayout w d0/4 d0/4 d0%4 d1 -> p", "no limit"},
      {"relayout w d0/4096 d0%4096 d1 -> p", "the parts of d0 take 1 * 4096 of its 8 indices, more than 1040"},
      {"relayout w d0/64 d0%64/64 d1 -> p", "`d0%64/64` is not a part"},
      {"relayout w d0 d1/4503599627370496 d1/33554432%134217728 d1%33554432 -> p", "of d1 take 1 * 33554432 of its 10"},
      {"relayout w d0/4611686018427387904 d0%4611686018427387904 d1 -> p", "of d0 take 1 * 4611686018427387904"},
      {"relayout w d0 d1 -> x", "there is a tensor `x` already"},
      {"relayout mm d0 d1 -> p", "computed by the kernel"},
      {"relayout v d0 d1 -> p", "no stage `v`"},
  };
  Schedule schedule = *Schedule::Create({mm});
  for (const Refusal& refusal : refusals) {
    const Step step = *ParseStep(refusal.step);
    const Status status = schedule.Apply(step);
    EXPECT_FALSE(status.ok()) << refusal.step;
    EXPECT_THAT(status.message(), HasSubstr(refusal.says)) << refusal.step;
    EXPECT_EQ(schedule.inputs()[1].name(), "w");
    EXPECT_TRUE(schedule.history().empty());
  }
  ASSERT_TRUE(schedule.Apply(*ParseStep("relayout w d1 d0 -> p")).ok());
  const std::vector<Tensor> arguments = schedule.Arguments({w, x});
  ASSERT_EQ(arguments.size(), 3U);
  EXPECT_EQ(arguments[0].name(), "p") << "in the place of w, whatever the order of reads";
  EXPECT_EQ(arguments[1].name(), "x");
  EXPECT_EQ(arguments[2].name(), "mm");
  EXPECT_EQ(schedule.inputs()[1].shape(), (std::vector<int64_t>{10, 8}));
}

// x * packed, where packed is computed from taps, which is computed from w, and from a table without operands.
class Packed {
 public:
  const Tensor x = te::Placeholder("x", {12, 10}), w = te::Placeholder("w", {8, 10});
  const Tensor taps = Copy("taps", w), packed = Copy("packed", taps);
  const Tensor table = te::ComputeConstant(
      "table", {10}, {"k"}, [](const std::vector<Var>& v) { return ir::MakeCast(DType::Float(32), v[0]); });
  const Tensor mm = te::Compute("mm", {12, 8}, {"i", "j"}, [this](const std::vector<Var>& v) {
    const ir::IterVar k = te::ReduceAxis(10, "k");
    return te::Sum(x(v[0], k.var) * packed(v[1], k.var) * table(k.var), {k});
  });
  Schedule schedule = Must(Schedule::Create({mm}));

 private:
  static Tensor Copy(const char* name, const Tensor& of) {
    return te::ComputeConstant(name, of.shape(), {"j", "k"}, [&](const std::vector<Var>& v) { return of(v[0], v[1]); });
  }
};

TEST(Relayout, ConstantsInsideConstantsHaveNames) {
  Packed dag;
  for (const char* name : {"w", "taps", "packed", "table"}) {
    const Status status = dag.schedule.Apply(Relayout("packed", {"d1", "d0"}, name));
    EXPECT_EQ(status.message(), std::string("there is a tensor `") + name + "` already");
  }
}

// The kernel and the prepare function refer to the same tensor.
TEST(Relayout, AConstantIsRewrittenOnceForAllThatReadIt) {
  Packed dag;
  Must(dag.schedule.Apply(Relayout("taps", {"d1", "d0"}, "taps.turned")));
  std::vector<Tensor> read;
  for (const Tensor& t : te::InputsOf(dag.schedule.Find("mm")->tensor)) {
    if (t.name() == "packed") read.push_back(t);
  }
  for (const Tensor& t : dag.schedule.inputs()) {
    if (t.name() == "packed") read.push_back(t);
  }
  ASSERT_EQ(read.size(), 2U);
  EXPECT_TRUE(read[0].same_as(read[1]));
  EXPECT_EQ(te::InputsOf(read[0])[0].name(), "taps.turned");
}

TEST(Relayout, AConstantThatReadsNoOperandIsAnArgument) {
  const Packed dag;
  std::vector<std::string> names;
  for (const Tensor& t : dag.schedule.Arguments({dag.w, dag.x})) names.push_back(t.name());
  EXPECT_EQ(names, (std::vector<std::string>{"packed", "x", "table", "mm"}));
}

}  // namespace
}  // namespace hone::schedule
