// The expectations are worked out by hand from the definitions in search/feature/store_features.h.
#include "search/feature/store_features.h"

#include "common/expect.h"
#include "search/feature/store_accesses.h"

namespace hone::search {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::ForKind;
using ir::MakeFor;
using ir::MakeLoad;
using ir::MakeStore;
using ir::Scope;
using ir::Var;

constexpr size_t kVector = 16, kUnroll = 27, kParallel = 38, kGpu = 49, kBuffers = 57, kIntensity = 147,
                 kAllocation = 157, kOuter = 161;

float Log(double x) { return static_cast<float>(std::log2(1 + x)); }

void ExpectRow(const std::vector<float>& row, size_t first, const std::vector<float>& expected) {
  ASSERT_GE(row.size(), first + expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(row[first + i], expected[i], 1e-5) << first << " + " << i;
}

Buffer Floats(const char* name, int64_t size, Scope scope = Scope::kArgument) {
  return Buffer::Make(name, DType::Float(32), size, scope, true);
}

// parallel i < 4: for k < 3: c[i] = c[i] + a[i*3 + k] * b[k]
TEST(StoreFeaturesTest, MatrixTimesVector) {
  const Var i("i"), k("k");
  const Buffer a = Floats("a", 12), b = Floats("b", 3), c = Floats("c", 4);
  const Expr sum = MakeLoad(c, i) + MakeLoad(a, i * Expr(3) + k) * MakeLoad(b, k);
  const ir::Function f{"f",
                       {a, b, c},
                       MakeFor(i, Expr(0), Expr(4), ForKind::kParallel,
                               MakeFor(k, Expr(0), Expr(3), ForKind::kSerial, MakeStore(c, i, sum)))};
  const std::vector<float> row = StoreFeatures(f);
  ASSERT_EQ(row.size(), kStoreColumns);
  // 12 multiply-adds; an addition and a multiplication of integers in the index of `a`.
  ExpectRow(row, 0, {Log(12), 0, 0, 0, 0, 0, 0, 0, Log(12), Log(12), 0, 0, 0, 0, 0, 0});
  for (const size_t kind : {kVector, kUnroll}) ExpectRow(row, kind, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  ExpectRow(row, kParallel, {Log(1), Log(4), Log(4), 1, 0, 0, 0, 0, 0, 0, 0});
  ExpectRow(row, kGpu, {0, 0, 0, 0, 0, 0, 0, 0});
  // One line each, so by bytes, which are equal: in the order of the expression. `c` stays for 3 iterations, between
  // which an element of each buffer is touched; nothing uses `a` again; `b` is read in each of 4 iterations of i.
  ExpectRow(row, kBuffers,
            {0, 0, 1, Log(48), Log(16), Log(1), Log(1), 1, 0, 0, Log(1), Log(12), Log(3), Log(16), Log(16.0 / 3),
             Log(1.0 / 3), Log(1.0 / 3), Log(1)});
  ExpectRow(row, kBuffers + 18,
            {1, 0, 0, Log(48), Log(48), Log(1), Log(1), 0, 0, 1, 0, 0, 0, Log(96), Log(96), Log(2), Log(2), Log(1)});
  ExpectRow(row, kBuffers + 36,
            {1, 0, 0, Log(48), Log(12), Log(1), Log(1), 1, 0, 0, Log(3), Log(28), Log(4), Log(12), Log(3), Log(0.25),
             Log(0.25), Log(1)});
  ExpectRow(row, kBuffers + 54, std::vector<float>(36, 0));
  // (2 operations, 12 bytes), (6, 28), (24, 76)
  const double one = 2.0 / 12, two = 6.0 / 28, three = 24.0 / 76;
  ExpectRow(row, kIntensity,
            {Log(one + 0.1 * (two - one)), Log(one + 0.7 * (two - one)), Log(two + 1.2 / 18 * (three - two))});
  ExpectRow(row, kIntensity + 9, {Log(three)});
  ExpectRow(row, kAllocation, {0, 0, 0, 0});
  ExpectRow(row, kOuter, {Log(12), Log(2), 0});
}

// for o < 4: allocate t[8]; unrolled r < 2: vectorized v < 8: t[v] = exp(x[o*8 + v]); for w < 8: y[o*8 + w] = t[w]
TEST(StoreFeaturesTest, ARowABufferWithItsAllocationAndItsLoops) {
  const Var o("o"), r("r"), v("v"), w("w");
  const Buffer x = Floats("x", 32), y = Floats("y", 32), t = Floats("t", 8, Scope::kScratch);
  const Expr value = ir::MakeCall(DType::Float(32), ir::Intrinsic::kExp, {MakeLoad(x, o * Expr(8) + v)});
  const ir::Stmt fill = MakeFor(r, Expr(0), Expr(2), ForKind::kUnrolled,
                                MakeFor(v, Expr(0), Expr(8), ForKind::kVectorized, MakeStore(t, v, value)));
  const ir::Stmt copy = MakeFor(w, Expr(0), Expr(8), ForKind::kSerial, MakeStore(y, o * Expr(8) + w, MakeLoad(t, w)));
  const ir::Function f{
      "f",
      {x, y},
      MakeFor(o, Expr(0), Expr(4), ForKind::kSerial,
              ir::MakePragma("auto_unroll_max_step", Expr(16), ir::MakeAllocate(t, ir::MakeBlock({fill, copy}))))};
  const std::vector<float> rows = StoreFeatures(f);
  ASSERT_EQ(rows.size(), 2 * kStoreColumns);
  const std::vector<float> first(rows.begin(), rows.begin() + kStoreColumns),
      second(rows.begin() + kStoreColumns, rows.end());
  EXPECT_EQ(first[5], Log(64)) << "functions";
  ExpectRow(first, kVector, {Log(1), Log(8), Log(8), 1, 0, 0, 0, 0, 0, 0, 0});
  ExpectRow(first, kUnroll, {Log(1), Log(2), Log(2), 0, 0, 0, 1, 0, 0, 0, 0});  // the inner of two reductions
  ExpectRow(first, kAllocation, {Log(32), Log(128), Log(4), Log(16)});
  ExpectRow(first, kOuter, {Log(64), Log(3), Log(16)});
  // `t` comes back through the copy, 8 iterations later, and `x` is read twice.
  EXPECT_EQ(second[5], 0);
  ExpectRow(second, kAllocation, {0, 0, 0, 0});
  ExpectRow(second, kOuter, {Log(32), Log(2), Log(16)});
}

TEST(StoreFeaturesTest, OperationsOfAllStoresToABufferCount) {
  const Var i("i"), k("k"), j("j");
  const Buffer a = Floats("a", 12), c = Floats("c", 4);
  const ir::Stmt zero =
      MakeFor(i, Expr(0), Expr(4), ForKind::kSerial, MakeStore(c, i, MakeLoad(a, i) / MakeLoad(a, i)));
  const ir::Stmt sum = MakeFor(
      j, Expr(0), Expr(4), ForKind::kSerial,
      MakeFor(k, Expr(0), Expr(3), ForKind::kSerial, MakeStore(c, j, MakeLoad(c, j) + MakeLoad(a, j * Expr(3) + k))));
  const std::vector<float> row = StoreFeatures({"f", {a, c}, ir::MakeBlock({zero, sum})});
  ASSERT_EQ(row.size(), kStoreColumns);
  EXPECT_EQ(row[3], Log(4)) << "divisions of the first store";
  EXPECT_EQ(row[1], Log(12)) << "additions of the second";
  ExpectRow(row, kOuter, {Log(12), Log(2), 0});  // of the second
}

TEST(StoreFeaturesTest, ThreadsOfAGpu) {
  const Var b("b"), t("t");
  const Buffer a = Floats("a", 256);
  const ir::Function f{"f",
                       {a},
                       MakeFor(b, Expr(0), Expr(8), ForKind::kBlockX,
                               MakeFor(t, Expr(0), Expr(32), ForKind::kThreadX,
                                       MakeStore(a, b * Expr(32) + t, ir::Imm(DType::Float(32), 0))))};
  ExpectRow(StoreFeatures(f), kGpu, {1, Log(8), Log(1), Log(1), Log(32), Log(1), Log(1), Log(1)});
}

TEST(StoreAccessesTest, ElementsAndRunsOfWindowsAndBlocks) {
  const std::vector<StoreLoop> loops = {{0, ForKind::kSerial, 5}, {1, ForKind::kSerial, 3}, {2, ForKind::kSerial, 8}};
  const auto access = [](std::vector<int64_t> strides) {
    return StoreAccess{Floats("a", 1000), false, std::move(strides), {true, true, true}};
  };
  EXPECT_EQ(access({8, 8, 1}).Elements(loops, 0), 56) << "rows 0 .. 6 of a window of 3 rows";
  EXPECT_EQ(access({8, 8, 1}).Elements(loops, 1), 24);
  EXPECT_EQ(access({8, 8, 1}).Run(loops), 56) << "several whole rows";
  EXPECT_EQ(access({100, 10, 1}).Elements(loops, 0), 120);
  EXPECT_EQ(access({100, 10, 1}).Run(loops), 8);
  EXPECT_EQ(access({2, 0, 20}).Run(loops), 1);
  EXPECT_EQ(access({0, 0, 1}).Elements(loops, 0), 120) << "other uses of a variable: all different";
  EXPECT_EQ(access({500, 500, 1}).Elements(loops, 0), 56) << "rows 0 .. 6, however far apart";
}

}  // namespace
}  // namespace hone::search
