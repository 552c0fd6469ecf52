#include "lower/lower.h"

#include "unit/lower/lower_case.h"

namespace hone::lower {
namespace {

std::string LowerText(const std::vector<Tensor>& inputs, const Tensor& out, const std::string& steps) {
  return LoweredText(inputs, out, steps, false);
}

struct MatMul {
  int64_t rows = 10, depth = 6, columns = 8;
  Tensor a = te::Placeholder("a", {rows, depth}), b = te::Placeholder("b", {depth, columns});
  ir::IterVar k = te::ReduceAxis(depth, "k");
  Tensor c = te::Compute("c", {rows, columns}, {"i", "j"},
                         [&](const Vars& x) { return te::Sum(a(x[0], k.var) * b(k.var, x[1]), {k}); });
  Tensor out = te::Compute("out", {rows, columns}, {"i", "j"},
                           [&](const Vars& x) { return Max(c(x[0], x[1]), ir::Imm(DType::Float(32), 0)); });
};

TEST(Lower, SmallLoopsAreUnrolledByThemselves) {
  MatMul m;
  const std::string tiles =
      "split c i [2] -> i.o i.i\nreorder c i.o k i.i j\nvectorize c j\npragma c i.o auto_unroll_max_step ";
  const std::string most = LowerText({m.a, m.b}, m.c, tiles + "12");
  EXPECT_THAT(most, Not(HasSubstr("for (k"))) << "6 steps of 2 rows";
  EXPECT_EQ(LowerText({m.a, m.b}, m.c, tiles + "2"), LowerText({m.a, m.b}, m.c, tiles + "0\nunroll c i.i"))
      << "a row fits, but no step";
  EXPECT_THAT(LowerText({m.a, m.b}, m.c, tiles + "1"), HasSubstr("for (i.i"));
  EXPECT_THAT(LowerText({m.a, m.b}, m.c, tiles + "-1"), HasSubstr("auto_unroll_max_step -1: values are 0 .."));
}

// The loops of a concatenation of tensors with `widths` columns.
std::string ConcatText(const std::vector<int64_t>& widths, const std::string& steps) {
  std::vector<Tensor> inputs;
  std::vector<int64_t> begins = {0};
  for (const int64_t width : widths) {
    inputs.push_back(te::Placeholder(fmt::format("in{}", inputs.size()), {6, width}));
    begins.push_back(begins.back() + width);
  }
  const Tensor out = te::Compute("out", {6, begins.back()}, {"i", "j"}, [&](const Vars& x) {
    ir::Expr value = inputs.back()(x[0], x[1] - begins[widths.size() - 1]);
    for (size_t k = widths.size() - 1; k-- > 0;) {
      value = te::IfThenElse(x[1] < ir::Expr(begins[k + 1]), inputs[k](x[0], x[1] - begins[k]), value);
    }
    return value;
  });
  return LowerText(inputs, out, steps);
}

TEST(Lower, SeveralBordersStayVectors) {
  const std::string vectors = "split out j [8] -> j.o j.i\nvectorize out j.i";
  EXPECT_EQ(ConcatText({20, 21, 9, 30}, vectors),
            "for (i, 0, 6)\n"
            "  for (j.o, 0, 2)\n"
            "    out[ramp(i*80 + j.o*8, 1, 8)] = in0[ramp(i*20 + j.o*8, 1, 8)];\n"
            "  out[ramp(i*80 + 16, 1, 4)] = in0[ramp(i*20 + 16, 1, 4)];\n"
            "  out[ramp(i*80 + 20, 1, 4)] = in1[ramp(i*21, 1, 4)];\n"
            "  for (j.o, 3, 2)\n"
            "    out[ramp(i*80 + j.o*8, 1, 8)] = in1[ramp(i*21 + j.o*8 - 20, 1, 8)];\n"
            "  out[i*80 + 40] = in1[i*21 + 20];\n"
            "  out[ramp(i*80 + 41, 1, 7)] = in2[ramp(i*9, 1, 7)];\n"
            "  out[ramp(i*80 + 48, 1, 2)] = in2[ramp(i*9 + 7, 1, 2)];\n"
            "  out[ramp(i*80 + 50, 1, 6)] = in3[ramp(i*30, 1, 6)];\n"
            "  for (j.o, 7, 3)\n"
            "    out[ramp(i*80 + j.o*8, 1, 8)] = in3[ramp(i*30 + j.o*8 - 50, 1, 8)];\n");
  const std::string odd = ConcatText({100, 37, 50, 30, 20}, vectors);
  EXPECT_THAT(odd, Not(HasSubstr("if_then_else"))) << odd;
  EXPECT_THAT(odd, Not(HasSubstr("for (j.i"))) << odd;
}

TEST(Lower, PlainLoops) {
  MatMul m;
  EXPECT_EQ(LowerText({m.a, m.b}, m.c, ""),
            "for (i, 0, 10)\n"
            "  for (j, 0, 8)\n"
            "    c[i*8 + j] = 0.0f;\n"
            "    for (k, 0, 6)\n"
            "      c[i*8 + j] = c[i*8 + j] + a[i*6 + k]*b[j + k*8];\n");
}

TEST(Lower, ASplitTailIsAShorterLoop) {
  MatMul m;
  std::string text = LowerText({m.a, m.b}, m.c, "split c i [4] -> io ii\n");
  EXPECT_EQ(text.rfind("for (io, 0, 3)\n  for (ii, 0, min(io*-4 + 10, 4))\n", 0), 0u) << text;
  EXPECT_THAT(text, Not(HasSubstr("if (")));
}

TEST(Lower, ASumOfNothingIsNoAddition) {
  Tensor a = te::Placeholder("a", {10, 6});
  ir::IterVar k = te::ReduceAxis(6, "k");
  Tensor c = te::Compute("c", {10}, {"i"}, [&](const Vars& x) {
    return te::Sum(te::IfThenElse(x[0] + k.var < 12, a(x[0], k.var), ir::Imm(DType::Float(32), 0)), {k});
  });
  EXPECT_EQ(LowerText({a}, c, "reorder c k i\n"),
            "for (i, 0, 10)\n"
            "  c[i] = 0.0f;\n"
            "for (k, 0, 6)\n"
            "  for (i_1, 0, 10)\n"
            "    if (k + i_1 < 12)\n"
            "      c[i_1] = c[i_1] + a[k + i_1*6];\n");
}

TEST(Lower, ATailOutsideItsOuterLoopIsAGuard) {
  MatMul m;
  std::string text = LowerText({m.a, m.b}, m.c, "split c i [4] -> io ii\nreorder c ii io\n");
  EXPECT_EQ(text.rfind("for (ii, 0, 4)\n  for (io, 0, 3)\n    if (ii + io*4 < 10)\n", 0), 0u) << text;
}

TEST(Lower, AnAttachedRegisterTile) {
  MatMul m;
  EXPECT_EQ(LowerText({m.a, m.b}, m.out,
                      "split out i [2] -> io ii\nreorder out io ii j\nvectorize out j\nunroll out ii\nparallel out io\n"
                      "compute_at c out io\nset_scope c register\nreorder c k i j\nunroll c i\nvectorize c j\n"),
            "for parallel (io, 0, 5)\n"
            "  allocate c: f32[16] register\n"
            "    c[ramp(0, 1, 8)] = broadcast(0.0f, 8);\n"
            "    c[ramp(8, 1, 8)] = broadcast(0.0f, 8);\n"
            "    for (k, 0, 6)\n"
            "      c[ramp(0, 1, 8)] = c[ramp(0, 1, 8)] + broadcast(a[io*12 + k], 8)*b[ramp(k*8, 1, 8)];\n"
            "      c[ramp(8, 1, 8)] = c[ramp(8, 1, 8)] + broadcast(a[io*12 + k + 6], 8)*b[ramp(k*8, 1, 8)];\n"
            "    out[ramp(io*16, 1, 8)] = max(c[ramp(0, 1, 8)], broadcast(0.0f, 8));\n"
            "    out[ramp(io*16 + 8, 1, 8)] = max(c[ramp(8, 1, 8)], broadcast(0.0f, 8));\n");
}

// doc/reference/schedule.md shows this schedule and these lines.
TEST(Lower, TheExampleOfTheDocument) {
  MatMul m{.rows = 100, .depth = 200, .columns = 64};
  std::string text = LowerText(
      {m.a, m.b}, m.out,
      "split out i [4] -> i.o i.i\nsplit out j [16] -> j.o j.i\nreorder out i.o j.o i.i j.i\nparallel out i.o\n"
      "unroll out i.i\nvectorize out j.i\ncompute_at c out j.o\nset_scope c register\nreorder c k i j\n"
      "unroll c i\nvectorize c j\n");
  const char* lines[] = {
      "for parallel (i.o, 0, 25)\n  for (j.o, 0, 4)\n    allocate c: f32[64] register\n",
      "for (k, 0, 200)\n        c[ramp(0, 1, 16)] = c[ramp(0, 1, 16)] + broadcast(a[i.o*800 + k], 16)*b[ramp(j.o*16 "
      "+ k*64, 1, 16)];\n",
      "      out[ramp(i.o*256 + j.o*16, 1, 16)] = max(c[ramp(0, 1, 16)], broadcast(0.0f, 16));\n",
  };
  for (const char* line : lines) EXPECT_THAT(text, HasSubstr(line)) << line << "\nis not in\n";
}

TEST(Lower, TheRegionOfAStencilIncludesItsHalo) {
  Tensor x = te::Placeholder("x", {32});
  Tensor twice = te::Compute("twice", {32}, {"i"}, [&](const Vars& v) { return x(v[0]) + x(v[0]); });
  ir::IterVar k = te::ReduceAxis(3, "k");
  // Stride 2, dilation 3: one output tile of 4 needs (4-1)*2 + (3-1)*3 + 1 = 13 elements.
  Tensor out =
      te::Compute("out", {12}, {"o"}, [&](const Vars& v) { return te::Sum(twice(v[0] * 2 + k.var * 3), {k}); });
  std::string text = LowerText({x}, out, "split out o [4] -> oo oi\ncompute_at twice out oo\n");
  EXPECT_THAT(text, HasSubstr("allocate twice: f32[13] workspace"));
  EXPECT_THAT(text, HasSubstr("for (i, 0, 13)"));
  EXPECT_THAT(text, HasSubstr("twice[oi*2 + k*3]"));
}

TEST(Lower, StorageAlignPadsTheRows) {
  MatMul m;
  std::string text =
      LowerText({m.a, m.b}, m.out, "split out i [5] -> io ii\ncompute_at c out io\nstorage_align c i 16 1\n");
  EXPECT_THAT(text, HasSubstr("allocate c: f32[85] workspace"));  // 5 rows of 17
  EXPECT_THAT(text, HasSubstr("c[i*17 + j]"));
}

TEST(Lower, ScratchInsideParallelAndWorkspaceOutside) {
  MatMul m;
  EXPECT_THAT(LowerText({m.a, m.b}, m.out, "parallel out i\ncompute_at c out i\n"), HasSubstr("c: f32[8] scratch"));
  EXPECT_THAT(LowerText({m.a, m.b}, m.out, "compute_at c out i\n"), HasSubstr("c: f32[8] workspace"));
  // Private storage shared by a parallel loop inside is not private.
  EXPECT_THAT(LowerText({m.a, m.b}, m.out, "compute_at c out i\nset_scope c register\nparallel c j\n"),
              HasSubstr("c: f32[8] workspace"));
}

TEST(Lower, AParallelLoopInsideAnotherIsSerial) {
  MatMul m;
  std::string text = LowerText({m.a, m.b}, m.c, "parallel c i\nparallel c j\n");
  EXPECT_THAT(text, HasSubstr("for parallel (i"));
  EXPECT_THAT(text, HasSubstr("for (j"));
}

TEST(Lower, PragmasReachTheLoop) {
  MatMul m;
  EXPECT_EQ(LowerText({m.a, m.b}, m.c, "pragma c i note 7\n").rfind("pragma note 7\n  for (i, 0, 10)", 0), 0u);
}

TEST(Lower, ArgumentsMustBeInputsAndOutputs) {
  MatMul m;
  schedule::Schedule s = Must(schedule::Schedule::Create({m.out}));
  Tensor other = te::Placeholder("other", {1});
  struct Case {
    std::vector<Tensor> args;
    const char* says;
  };
  const Case cases[] = {
      {{m.a, m.out}, "uses `b`"},
      {{m.a, m.b}, "uses `out`"},
      {{m.a, m.b, m.out, other}, "`other` is neither"},
      {{m.a, m.b, m.b, m.out}, "`b` is given twice"},
      {{m.a, m.b, m.c, m.out}, "`c` is neither"},
  };
  for (const Case& c : cases) EXPECT_THAT(Lower(s, c.args, {}).status().message(), HasSubstr(c.says));
}

TEST(Lower, ALongVectorIsRefused) {
  Tensor x = te::Placeholder("x", {100});
  Tensor y = te::Compute("y", {100}, {"i"}, [&](const Vars& v) { return x(v[0]) + x(v[0]); });
  EXPECT_THAT(LowerText({x}, y, "vectorize y i\n"), HasSubstr("has 100 iterations, more than 64"));
}

}  // namespace
}  // namespace hone::lower
