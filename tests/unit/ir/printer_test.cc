#include "ir/printer.h"

#include "common/expect.h"

namespace hone::ir {
namespace {

TEST(PrinterTest, ParenthesesOnlyWhereNeeded) {
  Var a("a"), b("b"), c("c");
  std::pair<Expr, const char*> table[] = {
      {a + b * c, "a + b*c"},
      {(a + b) * c, "(a + b)*c"},
      {a - (b - c), "a - (b - c)"},
      {a - b - c, "a - b - c"},
      {a / b / c, "a/b/c"},
      {a / (b / c), "a/(b/c)"},
      {a % 4 * 2, "a%4*2"},
      {ShiftRight(a + b, c) * 2, "((a + b) >> c)*2"},
      {ShiftLeft(a * b, 3) + c, "((a*b) << 3) + c"},
      {ShiftLeft(a, 3) < ShiftRight(b, c), "a << 3 < b >> c"},
      {ShiftLeft(ShiftLeft(a, b), ShiftLeft(b, c)), "(a << b) << (b << c)"},
      {a + -3, "a - 3"},
      {a - -3, "a - -3"},
      {(a < b && b < c) || a < c, "a < b && b < c || a < c"},
      {a < b && (b < c || a < c), "a < b && (b < c || a < c)"},
      {MakeNot(a < b), "!(a < b)"},
      {Eq(a < b, b < c), "(a < b) == (b < c)"},
      {Max(Min(a, b), c), "max(min(a, b), c)"},
      {MakeCast(DType::Float(32), a), "f32(a)"},
      {Imm(DType::Float(32), 0.1), "0.1f"},
      {Imm(DType::Float(64), 3), "3.0"},
      {Imm(DType::Float(16), 0.5), "0.5h"},
      {Imm(DType::Float(32), 1e30), "1e+30f"},
      {MakeInt(DType::UInt(64), -1), "u64(18446744073709551615)"},
      {MakeInt(DType::Bool(), 1), "true"},
      {Expr(), "null"},
  };
  for (const auto& [e, text] : table) EXPECT_EQ(ToString(e), text);
}

TEST(PrinterTest, VariablesOfOneNameAreToldApart) {
  Var a("i"), b("i"), c("i_1");
  EXPECT_EQ(ToString(a + b + a + c), "i + i_1 + i + i_1_1");
}

// The example of doc/reference/ir.md.
TEST(PrinterTest, Function) {
  DType f32 = DType::Float(32);
  Buffer x = Buffer::Make("x", f32, 1024, Scope::kArgument), y = Buffer::Make("y", f32, 64, Scope::kArgument, true);
  Buffer acc = Buffer::Make("acc", f32, 16, Scope::kRegister);
  Var row("row.o"), k("k");
  Expr lanes = MakeRamp(0, 1, 16);
  Stmt init = MakeStore(acc, lanes, Imm(f32, 0));
  Stmt update = MakeStore(acc, lanes, MakeLoad(acc, lanes) + MakeLoad(x, MakeRamp(row * 256 + k * 16, 1, 16)));
  Stmt finish = MakeStore(y, MakeRamp(row * 16, 1, 16), Max(MakeLoad(acc, lanes), Imm(f32, 0)));
  Stmt body = MakeAllocate(acc, MakeBlock({init, MakeFor(k, 0, 16, ForKind::kSerial, update), finish}));
  Function f{"row_sums", {x, y}, MakeFor(row, 0, 4, ForKind::kParallel, body)};
  EXPECT_EQ(ToString(f),
            "function row_sums(x: f32[1024], out y: f32[64]) {\n"
            "  for parallel (row.o, 0, 4) {\n"
            "    allocate acc: f32[16] register {\n"
            "      acc[ramp(0, 1, 16)] = broadcast(0.0f, 16);\n"
            "      for (k, 0, 16) {\n"
            "        acc[ramp(0, 1, 16)] = acc[ramp(0, 1, 16)] + x[ramp(row.o*256 + k*16, 1, 16)];\n"
            "      }\n"
            "      y[ramp(row.o*16, 1, 16)] = max(acc[ramp(0, 1, 16)], broadcast(0.0f, 16));\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(PrinterTest, OtherStatements) {
  Buffer y = Buffer::Make("y", DType::Int(64), 8, Scope::kArgument, true);
  Var t("t");
  Stmt s = MakePragma("unroll", 4, MakeIf(t < 3, MakeStore(y, t, 1), MakeIf(t < 5, MakeBarrier(), MakeStore(y, 0, t))));
  Stmt prefetch = MakeEvaluate(MakeCall(DType::Int(64), Intrinsic::kPrefetch, {MakeLoad(y, 3), 2}));
  EXPECT_EQ(ToString(MakeBlock({s, prefetch})),
            "pragma unroll 4 {\n"
            "  if (t < 3) {\n"
            "    y[t] = 1;\n"
            "  } else if (t < 5) {\n"
            "    barrier;\n"
            "  } else {\n"
            "    y[0] = t;\n"
            "  }\n"
            "}\n"
            "prefetch(y[3], 2);\n");
}

}  // namespace
}  // namespace hone::ir
