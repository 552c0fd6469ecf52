// `tensorize S axis mma_tf32`: a product of matrices on warps gives the defined result, in any order of threads; other
// loops are rejected with a reason.
#include "unit/lower/lower_case.h"

namespace hone::lower {
namespace {

// With extents that are multiples of a block's.
struct WarpProduct : GpuProduct {
  WarpProduct(int64_t n, int64_t m, int64_t depth) : GpuProduct(n, m, depth, true) {}
};

// `rows` and `columns` of out, after the blocks.
std::string Steps(const std::string& rows, const std::string& columns, const std::string& more) {
  return "split out i " + rows + " -> ib iv it\nsplit out j " + columns +
         " -> jb jv jz jt ji\n"
         "reorder out ib jb iv jv jz it jt ji\nbind out ib blockIdx.y\nbind out jb blockIdx.x\n"
         "bind out iv vthread\nbind out jv vthread\nbind out jz threadIdx.z\nbind out it threadIdx.y\n"
         "bind out jt threadIdx.x\nunroll out ji\n"
         "compute_at c out jt\nset_scope c register\nsplit c k [2,8] -> ko ki km\nreorder c ko ki km i j\n" +
         more;
}
const char* const kShared =
    "cache_read a shared c -> as\ncache_read b shared c -> bs\ncompute_at as c ko\ncompute_at bs c ko\n"
    "fuse as d0 d1 -> f\nsplit as f [32,4] -> fo fy fx\nbind as fy threadIdx.y\nbind as fx threadIdx.x\n"
    "fuse bs d0 d1 -> f\nsplit bs f [32,4] -> fo fy fx\nbind bs fy threadIdx.y\nbind bs fx threadIdx.x\n"
    "storage_align as d0 32 8\nstorage_align bs d0 32 8\n";

TEST(Tensorize, OneProduct) {
  std::string text;
  EXPECT_EQ(WarpProduct(16, 8, 16).Run(Steps("[2,8]", "[1,1,4,2]", "tensorize c km mma_tf32\n"), &text), "");
  EXPECT_THAT(text, HasSubstr("c[ramp(0, 1, 4)] = mma_tf32(a.fragments[ramp(0, 1, 4)], b.fragments[ramp(0, 1, 2)], "));
  EXPECT_THAT(text, HasSubstr("mma_tf32("));
}

TEST(Tensorize, TilesOfWarpsByWayOfSharedMemory) {
  const std::string on = "tensorize c km mma_tf32\n";
  std::string text;
  EXPECT_EQ(WarpProduct(64, 64, 48).Run(Steps("[2,32]", "[2,2,4,2]", kShared + on), &text), "");
  EXPECT_THAT(text, HasSubstr("mma_tf32("));
  EXPECT_EQ(WarpProduct(96, 32, 32).Run(Steps("[6,16]", "[4,1,4,2]", on)), "");
  EXPECT_EQ(WarpProduct(32, 48, 32).Run(Steps("[4,8]", "[3,1,4,2]", on)), "") << "an odd number of columns";
  const std::string twice = std::string(kShared) + "double_buffer as\ndouble_buffer bs\n" + on;
  EXPECT_EQ(WarpProduct(64, 64, 64).Run(Steps("[2,32]", "[2,2,4,2]", twice)), "");
  EXPECT_EQ(WarpProduct(64, 64, 96).Run(Steps("[2,32]", "[2,2,4,2]", twice + "pragma as fo stages 3\n")), "");
}

TEST(Tensorize, IsRefusedWhereItIsNoProductOfWarps) {
  const auto why = [](const std::string& rows, const std::string& columns, const std::string& more = "") {
    return WarpProduct(96, 96, 32).Run(Steps(rows, columns, more + "tensorize c km mma_tf32\n"));
  };
  EXPECT_THAT(why("[2,8]", "[1,1,8,2]"), HasSubstr("4 threads along x and a multiple of 8 along y"));
  EXPECT_THAT(why("[2,4]", "[1,1,4,2]"), HasSubstr("4 threads along x and a multiple of 8 along y"));
  EXPECT_THAT(why("[3,8]", "[1,1,4,2]"), HasSubstr("pairs of rows and pairs of columns"));
  EXPECT_THAT(why("[2,8]", "[3,1,4,1]"), HasSubstr("pairs of rows and pairs of columns"));
  // Twice as many threads fetch a tile as sum it.
  const std::string wide = std::string(kShared) + "tensorize c km mma_tf32\n";
  EXPECT_THAT(WarpProduct(64, 64, 32).Run(Steps("[2,16]", "[4,1,4,2]", wide)),
              HasSubstr("not all threads of the block come there"));
  // A tail: the sums would be under a condition.
  const std::string tail = WarpProduct(90, 96, 32).Run(Steps("[2,8]", "[1,1,4,2]", "tensorize c km mma_tf32\n"));
  EXPECT_THAT(tail, HasSubstr("tensorize mma_tf32: "));
  // A value private to one thread cannot be read by the other threads of its warp.
  EXPECT_THAT(why("[2,8]", "[1,1,4,2]", "cache_read b register c -> bl\ncompute_at bl c ki\n"),
              HasSubstr("a factor is private"));
  EXPECT_THAT(why("[2,8]", "[1,1,4,2]", "cache_read a register c -> al\ncompute_at al c ki\n"),
              HasSubstr("a factor is private"));
}

// A second reduction loop inside k counts neither rows nor columns: its pairs would be two halves of one sum.
TEST(Tensorize, IsRefusedAroundAnotherReduceLoop) {
  for (int64_t taps : {2, 3}) {
    const Tensor a = te::Placeholder("a", {16, 16}), b = te::Placeholder("b", {16, taps, 8});
    const ir::IterVar k = te::ReduceAxis(16, "k"), h = te::ReduceAxis(taps, "h");
    const Tensor c = te::Compute("c", {16, 8}, {"i", "j"}, [&](const Vars& x) {
      return te::Sum(a(k.var, x[0]) * b(k.var, h.var, x[1]), {k, h});
    });
    const Tensor out = te::Compute("out", {16, 8}, {"i", "j"},
                                   [&](const Vars& x) { return c(x[0], x[1]) + ir::Imm(DType::Float(32), 1); });
    const std::string steps = Steps("[2,8]", "[1,1,4,2]", "reorder c ko ki km h i j\ntensorize c km mma_tf32\n");
    EXPECT_THAT(LowerSteps({a, b}, out, steps, true).status().message(),
                HasSubstr("`h` counts not one of rows and columns"));
  }
}

}  // namespace
}  // namespace hone::lower
