// Every kind of expression, compiled and interpreted. Values are chosen so that float results are exact: contraction
// may change roundings, and nothing else may differ.
#include <cstdint>

#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::Var;

template <typename T>
void CheckIntegers(DType type, std::vector<T> a, std::vector<T> b) {
  const ExprKind kinds[] = {ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kDiv,
                            ExprKind::kMod, ExprKind::kMin, ExprKind::kMax};
  std::vector<T> all_a, all_b;
  for (T x : a) {
    for (T y : b) all_a.push_back(x), all_b.push_back(y);
  }
  while (all_a.size() % 7 != 0) all_a.push_back(1), all_b.push_back(1);
  auto n = static_cast<int64_t>(all_a.size());
  for (int lanes : {1, 7}) {
    SCOPED_TRACE(testing::Message() << ToString(type) << " lanes " << lanes);
    auto in_a = Argument("a", type, n);
    auto in_b = Argument("b", type, n);
    auto out = Output("out", type, n * 7);
    Var i("i");
    std::vector<Stmt> stores;
    for (ExprKind kind : kinds) {
      Expr index = At(Expr(i) * lanes, lanes);
      Expr value = ir::MakeBinary(kind, MakeLoad(in_a, index), MakeLoad(in_b, index));
      stores.push_back(MakeStore(out, At(Expr(i) * lanes + n * static_cast<int64_t>(stores.size()), lanes), value));
    }
    ir::Function f{"f", {in_a, in_b, out}, Loop(i, n / lanes, ir::MakeBlock(stores))};
    ExpectAgrees(f, {ToBytes(all_a), ToBytes(all_b), Bytes(all_a.size() * sizeof(T) * 7)});
  }
}

TEST(Expr, IntegersOfEveryWidth) {
  CheckIntegers<int64_t>(DType::Int(64), {-9, -8, -1, 0, 1, 7, 8, INT64_MAX, INT64_MIN},
                         {-8, -3, -1, 1, 2, 3, 8, INT64_MAX});
  CheckIntegers<int32_t>(DType::Int(32), {-9, -8, -1, 0, 1, 7, 8, INT32_MAX, INT32_MIN}, {-8, -3, -1, 1, 2, 3, 8});
  CheckIntegers<int8_t>(DType::Int(8), {-128, -9, -1, 0, 1, 127}, {-8, -1, 1, 3, 127});
  CheckIntegers<uint8_t>(DType::UInt(8), {0, 1, 7, 200, 255}, {1, 3, 100, 255});
  CheckIntegers<uint32_t>(DType::UInt(32), {0, 1, 7, 4000000000U}, {1, 3, 4000000000U});
}

// By every amount that the type allows, each lane by its own, and by constants.
template <typename T>
void CheckShifts(DType type, const std::vector<T>& a) {
  std::vector<T> values, amounts;
  for (T x : a) {
    for (int by = 0; by < type.bits; ++by) values.push_back(x), amounts.push_back(static_cast<T>(by));
  }
  const auto n = static_cast<int64_t>(values.size());
  for (ExprKind kind : {ExprKind::kShiftLeft, ExprKind::kShiftRight}) {
    for (int lanes : {1, 4, 8}) {
      SCOPED_TRACE(testing::Message() << ToString(type) << " kind " << static_cast<int>(kind) << " lanes " << lanes);
      const auto f = Elementwise(type, type, n, lanes, [&](Expr x, Expr y) { return ir::MakeBinary(kind, x, y); });
      ExpectAgrees(f, {ToBytes(values), ToBytes(amounts), Bytes(values.size() * sizeof(T))});
      const Expr by = ir::MakeBroadcast(ir::MakeInt(type, type.bits - 3), lanes);
      const auto constant = Elementwise(type, type, n, lanes, [&](Expr x, Expr) { return MakeBinary(kind, x, by); });
      ExpectAgrees(constant, {ToBytes(values), ToBytes(amounts), Bytes(values.size() * sizeof(T))});
    }
  }
}

TEST(Expr, ShiftsOfEveryWidth) {
  CheckShifts<int64_t>(DType::Int(64), {-9, -1, 0, 1, 12345, INT64_MAX, INT64_MIN});
  CheckShifts<int32_t>(DType::Int(32), {-9, -1, 0, 1, 12345, INT32_MAX, INT32_MIN});
  CheckShifts<int8_t>(DType::Int(8), {-128, -9, -1, 0, 1, 127});
  CheckShifts<uint8_t>(DType::UInt(8), {0, 1, 7, 200, 255});
  CheckShifts<uint32_t>(DType::UInt(32), {0, 1, 7, 4000000000U});
}

// Lanes spread over a block, or each element in several lanes: one load if all lie in an aligned block, or are no
// farther from each other than there are lanes; else lane by lane.
TEST(Expr, LoadsOfAPatternOfLanes) {
  constexpr int kLanes = 4;
  for (int64_t size : {28, 30}) {
    for (int64_t scale : {4, 2}) {
      for (int64_t group : {1, 2, 4}) {
        for (int64_t offset : {-3, 0, 1, 5, 100}) {  // 100: repeats elements, and ends with the buffer's last one
          SCOPED_TRACE(testing::Message() << size << " " << scale << " " << group << " " << offset);
          auto in = Argument("in", DType::Float(32), size);
          auto out = Output("out", DType::Float(32), 8);
          Var i("i");
          const Expr width = ir::MakeBroadcast(Expr(group), kLanes);
          Expr lanes = ir::MakeRamp(Expr(0), Expr(1), kLanes) / width;
          if (offset < 100) lanes = lanes * width;
          const int64_t from = offset < 100 ? offset : size - scale - (kLanes - 1) / group - 9;
          const Expr base = ir::MakeBroadcast(Expr(i) * scale + 8, kLanes);
          const Stmt store = MakeStore(out, At(Expr(i) * kLanes, kLanes),
                                       MakeLoad(in, base + lanes + ir::MakeBroadcast(Expr(from), kLanes)));
          std::vector<float> values;
          for (int64_t k = 0; k < size; ++k) values.push_back(static_cast<float>(k) + 0.5f);
          ExpectAgrees({"f", {in, out}, Loop(i, 2, store)}, {ToBytes(values), Bytes(8 * sizeof(float))});
        }
      }
    }
  }
}

// For constants, code generation uses other methods: shifts, masks, multiplications.
TEST(Expr, FloorDivisionByConstants) {
  std::vector<int64_t> a;
  for (int64_t x = -20; x <= 20; ++x) a.push_back(x);
  a.push_back(INT64_MAX);
  for (int64_t d : {-16, -7, -2, -1, 1, 2, 3, 7, 16}) {
    for (ExprKind kind : {ExprKind::kDiv, ExprKind::kMod}) {
      for (int lanes : {1, 3}) {
        SCOPED_TRACE(testing::Message() << "by " << d);
        auto f = Elementwise(DType::Int(64), DType::Int(64), static_cast<int64_t>(a.size()), lanes,
                             [&](Expr x, Expr) { return ir::MakeBinary(kind, x, ir::MakeBroadcast(Expr(d), lanes)); });
        ExpectAgrees(f, {ToBytes(a), ToBytes(a), Bytes(a.size() * 8)});
      }
    }
  }
}

TEST(Expr, FloatArithmeticAndComparison) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> some = {-inf, -4.5F, -1,   -0.0F, 0.0F,
                             1,    2.25F, 1024, inf,   std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> a, b;
  for (float x : some) {
    for (float y : some) a.push_back(x), b.push_back(y);
  }
  auto n = static_cast<int64_t>(a.size());
  for (ExprKind kind : {ExprKind::kMin, ExprKind::kMax, ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe,
                        ExprKind::kGt, ExprKind::kGe}) {
    for (int lanes : {1, 5, 20}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << " lanes " << lanes);
      bool compare = kind >= ExprKind::kEq;
      auto f = Elementwise(DType::Float(32), compare ? DType::Bool() : DType::Float(32), n, lanes,
                           [&](Expr x, Expr y) { return ir::MakeBinary(kind, x, y); });
      ExpectAgrees(f, {ToBytes(a), ToBytes(b), Bytes(a.size() * (compare ? 1 : 4))});
    }
  }
  // The sign and payload of a computed NaN are undefined: use finite numbers.
  std::vector<float> finite = {-4.5F, -1, -0.5F, 0.25F, 1, 2.25F, 1024, 3};
  std::vector<float> other = {2, 4, -8, 0.5F, 1, -2, 16, 2};
  for (ExprKind kind : {ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kDiv}) {
    auto f = Elementwise(DType::Float(32), DType::Float(32), 8, 8,
                         [&](Expr x, Expr y) { return ir::MakeBinary(kind, x, y); });
    ExpectAgrees(f, {ToBytes(finite), ToBytes(other), Bytes(32)});
    auto fma = Elementwise(DType::Float(32), DType::Float(32), 8, 4,
                           [&](Expr x, Expr y) { return ir::MakeBinary(kind, x * y, y + x * x); });
    if (kind != ExprKind::kDiv) ExpectAgrees(fma, {ToBytes(finite), ToBytes(other), Bytes(32)});
  }
}

TEST(Expr, SelectNotAndLogic) {
  std::vector<int32_t> a = {-2, -1, 0, 1, 2, 3}, b = {2, 1, 0, -1, -2, 3};
  for (int lanes : {1, 2, 3}) {
    auto f = Elementwise(DType::Int(32), DType::Int(32), 6, lanes, [](Expr x, Expr y) {
      Expr c = x < y;
      Expr d = ir::MakeNot(x > Expr(0)) || (ir::Eq(x, y) && y >= Expr(3));
      return ir::MakeSelect(c && d, x * 10, y - x);
    });
    ExpectAgrees(f, {ToBytes(a), ToBytes(b), Bytes(24)});
  }
}

TEST(Expr, Casts) {
  std::vector<float> floats = {-3.75F, -1, -0.5F, 0, 0.5F, 1.99F, 100, 127};
  for (DType to : {DType::Int(8), DType::Int(32), DType::Int(64), DType::Float(64), DType::Float(16), DType::Bool()}) {
    for (int lanes : {1, 8}) {
      SCOPED_TRACE(ToString(to));
      auto f = Elementwise(DType::Float(32), to, 8, lanes,
                           [&](Expr x, Expr) { return ir::MakeCast(to.WithLanes(lanes), x); });
      std::vector<Bytes> args = {ToBytes(floats), ToBytes(floats), Bytes(8 * static_cast<size_t>(to.element_bytes()))};
      // f16 needs help from the C library where the CPU cannot convert.
      if (to.bits == 16) {
        EXPECT_EQ(RunCompiled(f, args, HostForTest()), RunInterpreted(f, args));
      } else {
        ExpectAgrees(f, args);
      }
    }
  }
  std::vector<int32_t> ints = {INT32_MIN, -129, -1, 0, 1, 127, 300, INT32_MAX};
  for (DType to : {DType::Int(8), DType::UInt(8), DType::Int(64), DType::UInt(64), DType::Float(32), DType::Bool()}) {
    auto f = Elementwise(DType::Int(32), to, 8, 4, [&](Expr x, Expr) { return ir::MakeCast(to.WithLanes(4), x); });
    ExpectAgrees(f, {ToBytes(ints), ToBytes(ints), Bytes(8 * static_cast<size_t>(to.element_bytes()))});
  }
  std::vector<uint8_t> bytes = {0, 1, 127, 128, 200, 255, 3, 4};
  for (DType to : {DType::Int(8), DType::Int(32), DType::Float(32)}) {
    auto f = Elementwise(DType::UInt(8), to, 8, 8, [&](Expr x, Expr) { return ir::MakeCast(to.WithLanes(8), x); });
    ExpectAgrees(f, {ToBytes(bytes), ToBytes(bytes), Bytes(8 * static_cast<size_t>(to.element_bytes()))});
  }
}

TEST(Expr, LoadsWithEveryKindOfIndex) {
  auto a = Argument("a", DType::Float(32), 40);
  auto table = Argument("table", DType::Int(64), 4);
  auto out = Output("out", DType::Float(32), 40);
  Var i("i");
  auto store = [&](int at, const Expr& value) {
    return MakeStore(out, At(Expr(i) * 20 + at, value.type().lanes), value);
  };
  Expr gather = MakeLoad(table, ir::MakeRamp(0, 1, 4));
  Stmt body = ir::MakeBlock({
      store(0, MakeLoad(a, ir::MakeRamp(Expr(i) * 3, 2, 4))),         // strided
      store(4, MakeLoad(a, ir::MakeRamp(Expr(i) + 9, -3, 4))),        // backwards
      store(8, MakeLoad(a, ir::MakeBroadcast(Expr(i) * 5 + 1, 4))),   // one element in all lanes
      store(12, MakeLoad(a, ir::MakeRamp(Expr(i), Expr(i) + 1, 4))),  // a stride known at run time
      store(16, MakeLoad(a, gather)),                                 // through a table
  });
  ir::Function f{"f", {a, table, out}, Loop(i, 2, body)};
  std::vector<float> values(40);
  for (int k = 0; k < 40; ++k) values[k] = static_cast<float>(k) * 0.5F;
  ExpectAgrees(f, {ToBytes(values), ToBytes(std::vector<int64_t>{39, 0, 17, 17}), Bytes(160)});
}

TEST(Expr, StoresWithEveryKindOfIndex) {
  auto out = Output("out", DType::Int(32), 64);
  auto flags = Output("flags", DType::Bool(), 16);
  Var i("i");
  Expr lanes = ir::MakeCast(DType::Int(32, 4), ir::MakeRamp(Expr(i) * 100, 7, 4));
  Stmt body = ir::MakeBlock({
      MakeStore(out, ir::MakeRamp(Expr(i) * 32, 1, 4), lanes),
      MakeStore(out, ir::MakeRamp(Expr(i) * 32 + 4, 3, 4), lanes),
      MakeStore(out, ir::MakeRamp(Expr(i) * 32 + 31, -2, 4), lanes),
      MakeStore(flags, ir::MakeRamp(Expr(i) * 8, 1, 8), ir::MakeRamp(Expr(i), 1, 8) < ir::MakeBroadcast(Expr(4), 8)),
      MakeStore(out, Expr(i) * 32 + 20, ir::MakeCast(DType::Int(32), MakeLoad(flags, Expr(i) * 8 + 3))),
  });
  ir::Function f{"f", {out, flags}, Loop(i, 2, body)};
  ExpectAgrees(f, {Bytes(256), Bytes(16)});
}

// Only the chosen side may be evaluated: the other one is out of bounds, directly before the guard page.
TEST(Expr, IfThenElseEvaluatesOneSide) {
  auto a = Argument("a", DType::Float(32), 16);
  auto out = Output("out", DType::Float(32), 32);
  Var i("i");
  Expr inside = Expr(i) >= Expr(8) && Expr(i) < Expr(24);
  Expr far = Expr(i) * 100000 - 800000;
  Expr value = ir::MakeCall(DType::Float(32), ir::Intrinsic::kIfThenElse,
                            {inside, MakeLoad(a, Expr(i) - 8), ir::MakeCast(DType::Float(32), far)});
  ir::Function f{"f", {a, out}, Loop(i, 32, MakeStore(out, Expr(i), value))};
  ExpectAgrees(f, {ToBytes(std::vector<float>(16, 2.5F)), Bytes(128)});
}

// Each lane decides for itself: those outside read nothing, for every kind of load.
TEST(Expr, IfThenElseByLanes) {
  auto a = Argument("a", DType::Float(32), 16);
  auto bits = Argument("bits", DType::Bool(), 16);
  auto out = Output("out", DType::Float(32), 96);
  DType f32x8 = DType::Float(32, 8);
  Var i("i");
  Expr lane = ir::MakeRamp(Expr(i) * 8, 1, 8);  // up to 31: half of them beyond the end
  Expr inside = lane < ir::MakeBroadcast(Expr(16), 8);
  auto choose = [&](const Expr& c, const Expr& x, const Expr& y) {
    return ir::MakeCall(f32x8, ir::Intrinsic::kIfThenElse, {c, x, y});
  };
  Expr two = ir::Imm(f32x8, 2);
  Expr plain = choose(inside, MakeLoad(a, lane) * two, two);
  Expr gather =
      choose(inside && lane >= ir::MakeBroadcast(Expr(3), 8), MakeLoad(a, ir::MakeBroadcast(Expr(15), 8) - lane), two);
  Expr nested = choose(inside, choose(MakeLoad(bits, lane), MakeLoad(a, lane), two),
                       ir::MakeBroadcast(MakeLoad(a, Expr(i) * 0 + 5), 8));
  Stmt body = ir::MakeBlock({MakeStore(out, lane, plain), MakeStore(out, ir::MakeRamp(Expr(i) * 8 + 32, 1, 8), gather),
                             MakeStore(out, ir::MakeRamp(Expr(i) * 8 + 64, 1, 8), nested)});
  ir::Function f{"f", {a, bits, out}, Loop(i, 4, body)};
  std::vector<float> values(16);
  for (int k = 0; k < 16; ++k) values[k] = static_cast<float>(k + 1);
  Bytes flags(16);
  for (int k = 0; k < 16; k += 3) flags[k] = 1;
  std::vector<Bytes> args = {ToBytes(values), flags, Bytes(384)};
  std::vector<float> expected(96);
  for (int k = 0; k < 32; ++k) {
    expected[k] = k < 16 ? values[k] * 2 : 2;
    expected[32 + k] = k < 16 && k >= 3 ? values[15 - k] : 2;
    expected[64 + k] = k >= 16 ? values[5] : flags[k] ? values[k] : 2;
  }
  EXPECT_EQ(FromBytes<float>(RunCompiled(f, args, HostForTest()).at(2)), expected);
#if defined(__x86_64__)
  EXPECT_EQ(FromBytes<float>(RunCompiled(f, args, Baseline()).at(2)), expected);
#endif
}

// An index over a loop of one iteration whose place is read from memory must not be computed before that read.
TEST(Expr, WhatDependsOnABoundValueStaysBehindIt) {
  auto a = Argument("a", DType::Int(64), 8);
  auto out = Output("out", DType::Int(64), 8);
  Var i("i"), k("k");
  Stmt at = MakeFor(k, MakeLoad(a, Expr(i)), 1, ir::ForKind::kSerial,
                    MakeStore(out, Expr(k) * 1, (Expr(k) * 3 + 7) / 2 + Expr(i)));
  ir::Function f{"f", {a, out}, Loop(i, 8, at)};
  ExpectAgrees(f, {ToBytes(std::vector<int64_t>{5, 3, 2, 7, 0, 7, 1, 0}), Bytes(64)});
}

TEST(Expr, FailuresAreMessages) {
  auto out = Output("out", DType::Float(32), 4);
  Var stray("stray");
  ir::Function f{"f", {out}, MakeStore(out, Expr(stray), ir::Imm(DType::Float(32), 1))};
  auto result = CompileToObject({f}, HostForTest(), {});
  EXPECT_THAT(result.status().message(), HasSubstr("variable `stray` is used outside its loop"));
  auto other = Buffer::Make("other", DType::Float(32), 4, Scope::kWorkspace);
  ir::Function g{"g", {out}, MakeStore(other, Expr(0), ir::Imm(DType::Float(32), 1))};
  result = CompileToObject({g}, HostForTest(), {});
  EXPECT_THAT(result.status().message(), HasSubstr("`other`"));
  const ir::Expr rounded = ir::MakeCall(DType::Float(32), ir::Intrinsic::kTf32, {MakeLoad(out, Expr(1))});
  result = CompileToObject({{"h", {out}, MakeStore(out, Expr(0), rounded)}}, HostForTest(), {});
  EXPECT_THAT(result.status().message(), HasSubstr("TF32 is for CUDA alone"));
  Target odd = HostForTest();
  odd.cpu = "zen99";
  EXPECT_FALSE(CompileToObject({f}, odd, {}).ok());
  odd.triple = "pdp11-unknown-unix";
  EXPECT_FALSE(CompileToObject({f}, odd, {}).ok());
}

}  // namespace
}  // namespace hone::codegen
