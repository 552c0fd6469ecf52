#include "interpreter/interpreter.h"

#include "common/evaluate.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "types.h"

namespace hone::ir {
namespace {

class InterpreterTest : public testing::Test {
 protected:
  Status RunBody(const Stmt& body, const RunOptions& options = {}) {
    Function f{"test", {in, out}, body};
    return ir::Run(f, {{x.data(), 16}, {y.data(), 16}}, options);
  }
  void SetUp() override {
    for (int k = 0; k < 16; ++k) x.push_back(static_cast<float>(k) * 0.5f);
    y.assign(16, -1.0f);
  }
  Var i{"i"}, j{"j"};
  Buffer in = Buffer::Make("in", kF32, 16, Scope::kArgument);
  Buffer out = Buffer::Make("out", kF32, 16, Scope::kArgument, true);
  std::vector<float> x, y;
};

int64_t Int(const Expr& e) { return EvaluateExpr(e, {})->ints[0]; }

TEST_F(InterpreterTest, IntegerSemantics) {
  Var n("n");
  auto at = [&](const Expr& e, int64_t value) { return EvaluateExpr(e, {{n, value}})->ints[0]; };
  EXPECT_EQ(at(n / 2, -7), -4);
  EXPECT_EQ(at(n % 2, -7), 1);
  EXPECT_EQ(at(MakeCast(DType::Int(8), n), 200), -56);
  EXPECT_EQ(at(MakeCast(DType::UInt(8), n), -1), 255);
  EXPECT_EQ(at(MakeCast(DType::Int(32), n) * MakeInt(DType::Int(32), 65536), 65536), 0);
  EXPECT_EQ(at(MakeNot(n < 3), 3), 1);
  EXPECT_EQ(at(MakeSelect(n < 3, 1, 2), 5), 2);
  Result<Value> by_zero = EvaluateExpr(Expr(5) / n, {{n, 0}});
  EXPECT_FALSE(by_zero.ok());
}

TEST_F(InterpreterTest, Vectors) {
  Value v = *EvaluateExpr(MakeRamp(3, -2, 4) + MakeBroadcast(Expr(i), 4), {{i, 10}});
  EXPECT_EQ(v.type, DType::Int(64, 4));
  EXPECT_EQ(v.ints, (std::vector<int64_t>{13, 11, 9, 7}));
  Value less = *EvaluateExpr(MakeRamp(0, 1, 4) < 2, {});
  EXPECT_EQ(less.ints, (std::vector<int64_t>{1, 1, 0, 0}));
}

TEST_F(InterpreterTest, FloatSemantics) {
  Var n("n");
  auto f = [&](const Expr& e) { return EvaluateExpr(e, {{n, 1}})->floats[0]; };
  Expr one = MakeCast(kF32, n), zero = one - one, nan = zero / zero;
  EXPECT_EQ(f(Min(nan, one)), 1);
  EXPECT_TRUE(std::isnan(f(Max(one, nan))));
  EXPECT_EQ(f(one / 3), static_cast<double>(1.0f / 3.0f));
  // 1 + 2^-24 + 2^-24: two roundings give 1; a single one (fma) keeps the product's low bits.
  Expr e = Imm(kF32, 1.0 + std::ldexp(1, -12));
  Expr product = MakeCast(kF32, n) * e;
  EXPECT_EQ(f(MakeCall(kF32, Intrinsic::kFma, {product, product, one * -1})),
            static_cast<double>(std::fma(1.000244140625f, 1.000244140625f, -1.0f)));
  EXPECT_NE(f(product * product - 1), f(MakeCall(kF32, Intrinsic::kFma, {product, product, one * -1})));
  EXPECT_EQ(f(MakeCall(kF32, Intrinsic::kRound, {one * Imm(kF32, 2.5)})), 2);  // ties to even
  EXPECT_EQ(f(MakeCall(kF32, Intrinsic::kAbs, {one * -3})), 3);
  EXPECT_FLOAT_EQ(static_cast<float>(f(MakeCall(kF32, Intrinsic::kExp, {one}))), 2.7182817f);
}

TEST_F(InterpreterTest, IfThenElseEvaluatesOnlyTheChosenSide) {
  Expr guarded = MakeIfThenElse(i < 16, MakeLoad(in, i), Imm(kF32, 0));
  ASSERT_TRUE(RunBody(MakeFor(i, 10, 10, ForKind::kSerial, MakeStore(out, i - 10, guarded))).ok());
  EXPECT_EQ(y[5], 7.5f);
  EXPECT_EQ(y[6], 0.0f);
  // A select evaluates both sides: the same program is out of bounds.
  Expr both = MakeSelect(i < 16, MakeLoad(in, i), Imm(kF32, 0));
  EXPECT_FALSE(RunBody(MakeFor(i, 10, 10, ForKind::kSerial, MakeStore(out, i - 10, both))).ok());
}

TEST_F(InterpreterTest, OutOfBoundsNamesBufferAndIndex) {
  Status load = RunBody(MakeFor(i, 0, 17, ForKind::kSerial, MakeStore(out, 0, MakeLoad(in, i))));
  EXPECT_EQ(load.message(), "test: load of `in` at index 16: out of bounds, size 16; in `out[0] = in[i];`");
  Status store = RunBody(MakeStore(out, MakeRamp(-1, 1, 4), Imm(kF32.WithLanes(4), 0)));
  EXPECT_THAT(store.message(), HasSubstr("store to `out` at index -1"));
  EXPECT_THAT(RunBody(MakeStore(in, 0, Imm(kF32, 0))).message(), HasSubstr("a parameter that is not written"));
}

TEST_F(InterpreterTest, ReadingWhatWasNeverWrittenFails) {
  Buffer tmp = Buffer::Make("tmp", kF32, 4, Scope::kScratch);
  Stmt copy = MakeStore(out, i, MakeLoad(tmp, 0));
  Stmt fill = MakeStore(tmp, 0, MakeLoad(in, i));
  EXPECT_TRUE(RunBody(MakeFor(i, 0, 4, ForKind::kSerial, MakeAllocate(tmp, MakeBlock({fill, copy})))).ok());
  // Each entry of the allocation starts undefined again.
  Stmt once = MakeIf(i < 1, fill);
  Status status = RunBody(MakeFor(i, 0, 4, ForKind::kSerial, MakeAllocate(tmp, MakeBlock({once, copy}))));
  EXPECT_THAT(status.message(), HasSubstr("load of `tmp` at index 0: not written before"));
}

TEST_F(InterpreterTest, OrderOfParallelLoopsShowsDependences) {
  // out[i] = out[i-1] + 1 depends on the order; out[i] = in[i] does not.
  Stmt chain = MakeFor(i, 1, 15, ForKind::kParallel, MakeStore(out, i, MakeLoad(out, i - 1) + 1));
  Stmt free = MakeFor(i, 0, 16, ForKind::kParallel, MakeStore(out, i, MakeLoad(in, i)));
  std::vector<float> start = y;
  auto result = [&](const Stmt& s, ParallelOrder order) {
    y = start;
    EXPECT_TRUE(RunBody(s, {order, 7}).ok());
    return y;
  };
  EXPECT_NE(result(chain, ParallelOrder::kForward), result(chain, ParallelOrder::kReversed));
  EXPECT_NE(result(chain, ParallelOrder::kForward), result(chain, ParallelOrder::kShuffled));
  EXPECT_EQ(result(free, ParallelOrder::kForward), result(free, ParallelOrder::kReversed));
  EXPECT_EQ(result(free, ParallelOrder::kForward), result(free, ParallelOrder::kShuffled));
  // Serial loops keep their order.
  Stmt serial = MakeFor(i, 1, 15, ForKind::kSerial, MakeStore(out, i, MakeLoad(out, i - 1) + 1));
  EXPECT_EQ(result(serial, ParallelOrder::kForward), result(serial, ParallelOrder::kReversed));
}

TEST_F(InterpreterTest, EveryElementTypeGoesThroughMemory) {
  struct Case {
    DType type;
    double value;
  } table[] = {{DType::Int(8), -5},      {DType::Int(16), -500},
               {DType::Int(32), -70000}, {DType::Int(64), -7e10},
               {DType::UInt(8), 250},    {DType::UInt(16), 65000},
               {DType::UInt(32), 4e9},   {DType::UInt(64), 5e18},
               {DType::Bool(), 1},       {DType::Float(16), 0.333251953125},
               {DType::Float(32), 0.5},  {DType::Float(64), 0.1}};
  for (const Case& c : table) {
    Buffer a = Buffer::Make("a", c.type, 4, Scope::kArgument, true);
    Buffer b = Buffer::Make("b", c.type, 4, Scope::kScratch);
    std::vector<char> memory(64, 0);
    Stmt body = MakeAllocate(
        b,
        MakeBlock(
            {MakeStore(b, 2, Imm(c.type, c.value)), MakeStore(a, 3, MakeLoad(b, 2)),
             MakeStore(a, 1, MakeSelect(Eq(MakeLoad(a, 3), Imm(c.type, c.value)), MakeLoad(a, 3), Imm(c.type, 0)))}));
    Must(ir::Run({"f", {a}, body}, {{memory.data(), 4}}));
    size_t bytes = static_cast<size_t>(c.type.element_bytes());
    EXPECT_EQ(std::string(&memory[bytes], bytes), std::string(&memory[3 * bytes], bytes)) << hone::ToString(c.type);
    EXPECT_NE(std::string(&memory[bytes], bytes), std::string(bytes, '\0')) << hone::ToString(c.type);
  }
}

TEST_F(InterpreterTest, LoopsOfEveryKind) {
  for (ForKind kind : {ForKind::kSerial, ForKind::kParallel, ForKind::kVectorized, ForKind::kUnrolled, ForKind::kBlockX,
                       ForKind::kThreadX, ForKind::kVThread}) {
    y.assign(16, 0);
    // Loops over blocks and threads begin at 0.
    const bool device = kind == ForKind::kBlockX || kind == ForKind::kThreadX;
    ASSERT_TRUE(RunBody(device ? MakeFor(i, 0, 3, kind, MakeStore(out, i + 2, MakeLoad(in, i + 2)))
                               : MakeFor(i, 2, 3, kind, MakeStore(out, i, MakeLoad(in, i))))
                    .ok());
    EXPECT_EQ(y[4], 2.0f);
    EXPECT_EQ(y[5], 0.0f);
  }
  EXPECT_TRUE(RunBody(MakeFor(i, 0, -3, ForKind::kSerial, MakeStore(out, 99, Imm(kF32, 0)))).ok());
  EXPECT_TRUE(RunBody(MakeBarrier()).ok());
}

TEST_F(InterpreterTest, BadCalls) {
  Function f{"test", {in, out}, MakeBlock({})};
  EXPECT_FALSE(ir::Run(f, {{x.data(), 16}}).ok());
  EXPECT_FALSE(ir::Run(f, {{x.data(), 16}, {y.data(), 15}}).ok());
  EXPECT_FALSE(RunBody(MakeStore(out, i, Imm(kF32, 0))).ok());  // i is not bound
  EXPECT_EQ(Int(Expr(2) + 3), 5);
}

}  // namespace
}  // namespace hone::ir
