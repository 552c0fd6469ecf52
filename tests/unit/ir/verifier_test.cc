#include "ir/verifier.h"

#include "common/expect.h"
#include "types.h"

namespace hone::ir {
namespace {

class VerifierTest : public testing::Test {
 protected:
  std::string Problem(const Stmt& body, const VerifyOptions& options = {}) {
    return Verify({"test", {in, out}, body}, options).message();
  }
  void ExpectProblem(const char* what, const Stmt& body, const VerifyOptions& options = {}) {
    EXPECT_THAT(Problem(body, options), HasSubstr(what));
  }
  Stmt Set(Expr index) { return MakeStore(out, index, Imm(kF32, 0)); }
  // A store of `value` that bypasses the makers' checks.
  Stmt Raw(Expr value) { return Stmt(new Store(out, 0, std::move(value))); }

  Var i{"i"}, j{"j"};
  Expr one = Imm(kF32, 1);
  Buffer in = Buffer::Make("in", kF32, 16, Scope::kArgument);
  Buffer out = Buffer::Make("out", kF32, 16, Scope::kArgument, true);
  Buffer tmp = Buffer::Make("tmp", kF32, 4, Scope::kScratch);
};

TEST_F(VerifierTest, AcceptsAWellFormedFunction) {
  Stmt inner = MakeBlock({MakeStore(tmp, 3, MakeLoad(in, i)), Set(i)});
  Stmt two = MakeBlock(
      {MakeFor(i, 0, 4, ForKind::kParallel, MakeAllocate(tmp, inner)), MakeFor(i, 0, 4, ForKind::kUnrolled, Set(i))});
  EXPECT_EQ(Problem(two), "");
  Expr behind = MakeCall(DType::Int(64), Intrinsic::kPrefetch, {MakeLoad(in, 99), 3});
  EXPECT_EQ(Problem(MakeEvaluate(behind)), "");
}

TEST_F(VerifierTest, Variables) {
  ExpectProblem("used outside its scope", Set(i));
  ExpectProblem("used outside its scope", MakeBlock({MakeFor(i, 0, 4, ForKind::kSerial, Set(i)), Set(i)}));
  ExpectProblem("used outside its scope", MakeFor(i, 0, i, ForKind::kSerial, Set(0)));
  ExpectProblem("bound again", MakeFor(i, 0, 4, ForKind::kSerial, MakeFor(i, 0, 4, ForKind::kSerial, Set(i))));
  Var narrow("n", DType::Int(32));
  ExpectProblem("not i64",
                MakeFor(narrow, MakeInt(DType::Int(32), 0), MakeInt(DType::Int(32), 4), ForKind::kSerial, Set(0)));
}

TEST_F(VerifierTest, Buffers) {
  ExpectProblem("neither a parameter nor allocated", MakeStore(tmp, 0, one));
  ExpectProblem("neither a parameter nor allocated",
                MakeBlock({MakeAllocate(tmp, MakeStore(tmp, 0, one)), MakeStore(tmp, 0, one)}));
  ExpectProblem("allocated again", MakeAllocate(tmp, MakeAllocate(tmp, MakeStore(tmp, 0, one))));
  ExpectProblem("not marked written", MakeStore(in, 0, one));
  EXPECT_THAT(Verify({"test", {tmp}, MakeBlock({})}).message(), HasSubstr("scope"));
  EXPECT_THAT(Verify({"test", {in, in}, MakeBlock({})}).message(), HasSubstr("twice"));
  EXPECT_THAT(Verify({"9test", {in}, MakeBlock({})}).message(), HasSubstr("identifier"));
}

TEST_F(VerifierTest, ConstantIndices) {
  ExpectProblem("out of range", Set(16));
  ExpectProblem("out of range", Set(-1));
  ExpectProblem("out of range", MakeStore(out, 0, MakeLoad(in, 16)));
  ExpectProblem("out of range", MakeStore(out, MakeRamp(13, 1, 4), one));
  ExpectProblem("out of range", MakeStore(out, MakeRamp(5, -2, 4), one));
  EXPECT_EQ(Problem(MakeStore(out, MakeRamp(6, -2, 4), one)), "");
}

TEST_F(VerifierTest, TypesAndLanes) {
  Expr f64 = Imm(DType::Float(64), 1);
  ExpectProblem("operands have different types", Raw(Expr(new Binary(ExprKind::kAdd, kF32, one, f64))));
  ExpectProblem("wrong type", Raw(Expr(new Binary(ExprKind::kLt, kF32, one, one))));
  ExpectProblem("`%` on floats", Raw(Expr(new Binary(ExprKind::kMod, kF32, one, one))));
  ExpectProblem("other lanes", Raw(MakeBroadcast(one, 4)));
  ExpectProblem("another type", Raw(f64));
  ExpectProblem("number of lanes", Stmt(new Store(out, MakeRamp(0, 1, 4), Expr(new Cast(kF32.WithLanes(4), Expr(3))))));
  ExpectProblem("select's condition", Raw(Expr(new Select(one, one, one))));
  ExpectProblem("broadcast of a vector",
                MakeStore(out, MakeRamp(0, 1, 4), Expr(new Broadcast(MakeBroadcast(one, 2), 4))));
  ExpectProblem("on something other than floats", MakeEvaluate(MakeCall(DType::Int(64), Intrinsic::kExp, {Expr(1)})));
  EXPECT_EQ(Problem(Raw(MakeCall(kF32, Intrinsic::kTf32, {one}))), "");
  ExpectProblem("tf32 of something other than f32", MakeEvaluate(MakeCall(DType::Float(64), Intrinsic::kTf32, {f64})));
  ExpectProblem("not a scalar bool", Stmt(new If(Expr(1), Set(0), Stmt())));
  ExpectProblem("division by 0", Set(Expr(1) / Expr(0)));
  ExpectProblem("a shift of floats", Raw(Expr(new Binary(ExprKind::kShiftLeft, kF32, one, one))));
  ExpectProblem("more bits than the type has", Set(ShiftRight(Expr(1), Expr(64))));
  ExpectProblem("more bits than the type has", Set(ShiftLeft(Expr(1), Expr(-1))));
  EXPECT_EQ(Problem(MakeFor(i, 0, 4, ForKind::kSerial, Set(ShiftRight(Expr(i), Expr(63))))), "");
}

TEST_F(VerifierTest, Shape) {
  ExpectProblem("block directly in a block", Stmt(new Block({Stmt(new Block({Set(0)})), Set(1)})));
  ExpectProblem("has no body", Stmt(new For(i, 0, 4, ForKind::kSerial, Stmt())));
  ExpectProblem("prefetch inside",
                Raw(MakeCast(kF32, MakeCall(DType::Int(64), Intrinsic::kPrefetch, {MakeLoad(in, 0), 1}))));
  ExpectProblem("locality", MakeEvaluate(MakeCall(DType::Int(64), Intrinsic::kPrefetch, {MakeLoad(in, 0), 4})));
  TensorHandle t(new TensorNode("t", kF32, {4}));
  ExpectProblem("tensor expression", Raw(Expr(new Access(t, {Expr(0)}))));
}

TEST_F(VerifierTest, ForTheBackend) {
  Stmt vector = MakeFor(i, 0, 4, ForKind::kVectorized, Set(i)), unrolled = MakeFor(i, 0, 4, ForKind::kUnrolled, Set(i));
  EXPECT_EQ(Problem(vector), "");
  ExpectProblem("left for the backend", vector, {.for_codegen = true});
  ExpectProblem("left for the backend", unrolled, {.for_codegen = true});
  EXPECT_EQ(Problem(MakeFor(i, 0, 4, ForKind::kParallel, Set(i)), {.for_codegen = true}), "");
}

}  // namespace
}  // namespace hone::ir
