// Every error: its kind, its message, and that the schedule is unchanged.
#include "common/expect.h"
#include "schedule/schedule.h"

namespace hone::schedule {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// pad -> mm (reduction) -> act -> out, and side reads mm as well.
Schedule Make(const std::string& steps) {
  Tensor x = te::Placeholder("x", {12, 10});
  auto one = ir::Imm(DType::Float(32), 1);
  Tensor pad = te::Compute("pad", {12, 10}, {"i", "k"}, [&](const std::vector<Var>& v) { return x(v[0], v[1]); });
  ir::IterVar k = te::ReduceAxis(10, "k");
  Tensor mm =
      te::Compute("mm", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) { return te::Sum(pad(v[0], k.var), {k}); });
  Tensor act = te::Compute("act", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) { return mm(v[0], v[1]) + one; });
  Tensor side =
      te::Compute("side", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) { return act(v[0], v[1]) + one; });
  Tensor out =
      te::Compute("out", {12, 8}, {"i", "j"}, [&](const std::vector<Var>& v) { return act(v[0], v[1]) * one; });
  Schedule s = Must(Schedule::Create({side, out}));
  Must(s.ApplyAll(Must(ParseSteps(steps))));
  return s;
}

std::vector<std::string> Leaves(const Schedule& s) {
  std::vector<std::string> leaves;
  for (const Stage& stage : s.stages()) leaves.insert(leaves.end(), stage.leaf.begin(), stage.leaf.end());
  return leaves;
}

struct Case {
  const char* before;
  const char* step;
  StatusKind kind;
  const char* says;
};

TEST(ScheduleErrors, AreNamedAndChangeNothing) {
  constexpr StatusKind kInvalid = StatusKind::kInvalid, kNotFound = StatusKind::kNotFound,
                       kUnsupported = StatusKind::kUnsupported;
  const Case cases[] = {
      // Names.
      {"", "vectorize mn j", kNotFound, "did you mean `mm`"},
      {"", "vectorize x j", kInvalid, "an input of the kernel"},
      {"", "vectorize mm jj", kNotFound, "did you mean `j`"},
      {"split mm i [4] -> io ii", "unroll mm i", kInvalid, "no longer a loop"},
      {"", "split mm i [4] -> j ii", kInvalid, "has an axis `j` already"},
      {"", "split mm i [4] -> a a", kInvalid, "given twice"},
      {"", "cache_write out register -> mm", kInvalid, "a tensor `mm` already"},
      // Loops.
      {"", "split mm i [0] -> a b", kInvalid, "not positive"},
      {"vectorize mm j", "split mm j [4] -> a b", kInvalid, "vectorized already"},
      {"", "fuse mm i k -> f", kInvalid, "not adjacent"},
      {"", "fuse mm j k -> f", kInvalid, "one is a reduce axis"},
      {"", "reorder mm i j i", kInvalid, "twice"},
      {"", "vectorize mm k", kInvalid, "cannot be vectorized"},
      {"", "parallel mm k", kInvalid, "cannot be parallel"},
      {"vectorize mm j", "vectorize mm i", kInvalid, "vectorized along `j` already"},
      {"unroll mm j", "vectorize mm j", kInvalid, "unrolled already"},
      {"", "prefetch mm x k 64", kNotFound, "does not read `x`"},
      {"", "prefetch mm pad k 64 3", kInvalid, "1 or 2"},
      // Numbers from damaged files.
      {"", "split mm i [-4] -> a b", kInvalid, "factor -4 is not positive"},
      {"", "split mm i [4611686018427387904] -> a b", kInvalid, "factor 4611686018427387904 is too large"},
      {"", "split mm i [1048577,1048576] -> a b c", kInvalid, "factor 1048576 is too large"},
      {"split mm i [1099511627776] -> a b", "split mm a [2] -> c d", kInvalid, "factor 2 is too large"},
      {"", "prefetch mm pad k 9223372036854775807", kInvalid, "at most 4294967296 are possible"},
      {"", "prefetch mm pad k -9223372036854775808", kInvalid, "at most 4294967296 are possible"},
      {"", "pragma mm k stages 1000000000", kInvalid, "values are 0 .. 4096"},
      {"", "pragma mm k unroll -1", kInvalid, "values are 0 .. 4096"},
      {"", "storage_align mm j 4611686018427387904 1", kInvalid, "at most 65536 are possible"},
      // Places.
      {"", "compute_at mm mm i", kInvalid, "inside itself"},
      {"", "compute_at mm out i", kInvalid, "neither it nor a stage inside"},
      {"", "compute_at act out i", kInvalid, "`side` reads it too"},
      {"", "compute_at out side i", kInvalid, "is an output"},
      {"", "compute_at mm act x", kNotFound, "no axis `x`"},
      {"vectorize act i", "compute_at mm act j", kInvalid, "vectorized loop `i`"},
      {"compute_at mm act j", "vectorize act i", kInvalid, "vectorized loop `i`"},
      {"compute_at mm act i", "split act i [4] -> a b", kInvalid, "computed at axis `i`"},
      {"compute_at mm act j\ncompute_at pad act j", "compute_root mm", kInvalid, "neither it nor a stage inside"},
      // Rewrites.
      {"", "inline mm", kInvalid, "is a reduction"},
      {"", "inline out", kInvalid, "is an output"},
      {"inline pad", "vectorize pad k", kInvalid, "was inlined"},
      {"compute_at mm act i", "inline act", kInvalid, "computed inside `act`"},
      {"", "cache_read x scratch mm -> c", kNotFound, "`mm` does not read `x`"},
      {"split out i [4] -> a b", "cache_write out register -> c", kInvalid, "before other steps"},
      {"", "rfactor mm j -> p", kInvalid, "needs a reduce axis"},
      // Storage.
      {"", "set_scope mm regs", kInvalid, "unknown scope"},
      {"", "set_scope out register", kInvalid, "is an output"},
      {"", "storage_align mm k 8 0", kNotFound, "no dimension `k`"},
      {"", "storage_align mm j 8 8", kInvalid, "offset < factor"},
      // For GPUs.
      {"", "bind mm i blockidx.x", kInvalid, "did you mean `blockIdx.x`?"},
      {"", "bind mm nope threadIdx.x", kNotFound, "no axis `nope`"},
      {"", "bind mm k blockIdx.x", kInvalid, "cannot be bound to a GPU's index"},
      {"", "bind mm k vthread", kInvalid, "cannot be bound to a GPU's index"},
      {"bind mm i threadIdx.x", "bind mm j threadIdx.x", kInvalid, "axis `i` of `mm` is bound to threadIdx.x already"},
      {"parallel mm i", "bind mm i threadIdx.x", kInvalid, "is parallel already"},
      {"split mm k [8] -> ko ki\nbind mm ko threadIdx.x", "bind mm ki threadIdx.y", kInvalid, "fuse them before"},
      {"", "double_buffer mm", kInvalid, "set_scope mm shared before"},
      {"", "tensorize mm k dot8", kUnsupported, "no target has `dot8`"},
      {"", "tensorize mm j mma_tf32", kInvalid, "must be a reduce axis of 8"},
  };
  for (const Case& c : cases) {
    Schedule s = Make(c.before);
    const std::vector<std::string> before = Leaves(s);
    const Status status = s.Apply(Must(ParseStep(c.step)));
    ASSERT_FALSE(status.ok()) << c.step;
    EXPECT_EQ(status.kind(), c.kind) << status.message();
    EXPECT_THAT(status.message(), HasSubstr(c.says)) << c.step;
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
    EXPECT_EQ(Leaves(s), before) << c.step;
    EXPECT_EQ(StepsText(s.history()), *c.before ? std::string(c.before) + "\n" : "");
  }
}

// A factor that does not divide rounds up; a file may repeat that many times.
TEST(ScheduleErrors, ALoopStopsGrowing) {
  Schedule s = Make("");
  Status status;
  std::string axis = "i";
  for (int i = 0; i < 64 && status.ok(); ++i) {
    const std::string o = "o" + std::to_string(i), r = "r" + std::to_string(i), fused = "f" + std::to_string(i);
    Must(s.Apply(Split("mm", axis, {s.Find("mm")->FindAxis(axis)->extent - 1}, {o, r})));
    status = s.Apply(Fuse("mm", {o, r}, fused));
    axis = fused;
  }
  EXPECT_THAT(status.message(), HasSubstr("would run through more than 1099511627776 rounds"));
}

// Each axis makes the tensor of partial results larger by its extent.
TEST(ScheduleErrors, PartialResultsStopGrowing) {
  const Tensor x = te::Placeholder("x", {1 << 12, 1 << 12, 1 << 12});
  const ir::IterVar k = te::ReduceAxis(1 << 12, "k"), l = te::ReduceAxis(1 << 12, "l");
  const Tensor sum = te::Compute("sum", {1 << 12}, {"i"}, [&](const std::vector<Var>& v) {
    return te::Sum(x(v[0], k.var, l.var), {k, l});
  });
  Schedule s = Must(Schedule::Create({sum}));
  Must(s.Apply(Rfactor("sum", "k", "once")));
  EXPECT_THAT(s.Apply(Rfactor("once", "l", "twice")).message(), HasSubstr("`twice` would have more than 4294967296"));
}

// The last step fails after it has changed something, as `out` reads `act` as well.
TEST(ScheduleErrors, AStepThatFailsLeavesThoseBeforeIt) {
  const std::string good = "split mm i [4] -> io ii\nunroll mm k\n";
  const Schedule expected = Make(good);
  const std::vector<Step> steps = Must(ParseSteps(good + "compute_at act side i\n"));
  Schedule at_once = Make(""), one_by_one = Make("");
  EXPECT_THAT(at_once.ApplyAll(steps).message(), HasSubstr("step 3 `compute_at act side i`: "));
  for (const Step& step : steps) EXPECT_EQ(one_by_one.Apply(step).ok(), &step != &steps.back());
  for (const Schedule* s : {&at_once, &one_by_one}) {
    EXPECT_EQ(StepsText(s->history()), StepsText(expected.history()));
    EXPECT_EQ(Leaves(*s), Leaves(expected));
    EXPECT_EQ(s->Find("act")->attach, AttachKind::kRoot);
  }
}

TEST(ScheduleErrors, ApplyAllNamesTheStep) {
  Schedule s = Make("");
  Status status = s.ApplyAll({Unroll("mm", "k"), Vectorize("mm", "q")});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message().rfind("step 2 `vectorize mm q`: ", 0), 0u) << status.message();
  EXPECT_EQ(s.history().size(), 1u);
}

TEST(ScheduleErrors, DagsThatMakeNoSense) {
  Tensor a = te::Placeholder("a", {4}), b = te::Placeholder("a", {4});
  Tensor c = te::Compute("c", {4}, {"i"}, [&](const std::vector<Var>& v) { return a(v[0]) + b(v[0]); });
  EXPECT_THAT(Schedule::Create({c}).status().message(), HasSubstr("two tensors are named `a`"));
  EXPECT_THAT(Schedule::Create({a}).status().message(), HasSubstr("a placeholder"));
  EXPECT_FALSE(Schedule::Create({}).ok());
  Tensor d = te::Compute("d", {4, 4}, {"i", "i"}, [&](const std::vector<Var>& v) { return a(v[0]); });
  EXPECT_THAT(Schedule::Create({d}).status().message(), HasSubstr("two axes named `i`"));
}

}  // namespace
}  // namespace hone::schedule
