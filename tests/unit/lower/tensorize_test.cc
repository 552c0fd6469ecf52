// `tensorize S axis mma_tf32`: a product of matrices on warps gives what its definition says, in any order of threads;
// and what is no such product is refused in words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/interpreter.h"
#include "ir/printer.h"
#include "lower/lower.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;
using Vars = std::vector<Var>;

Result<ir::Function> LoweredTo(const Tensor& out, const std::vector<Tensor>& args, const std::string& steps) {
  HONE_ASSIGN_OR_RETURN(schedule::Schedule s, schedule::Schedule::Create({out}));
  HONE_ASSIGN_OR_RETURN(std::vector<Step> parsed, ParseSteps(steps));
  HONE_RETURN_IF_ERROR(s.ApplyAll(parsed));
  LowerOptions options;
  options.gpu = options.verify = true;
  return Lower(s, args, options);
}

// out[i, j] = sum over k of a[i, k] * b[k, j]; of a whole multiple of what a block has. Values are small integers.
struct MatMul {
  MatMul(int64_t n, int64_t m, int64_t depth) : n(n), m(m), depth(depth) {
    a = te::Placeholder("a", {depth, n});
    b = te::Placeholder("b", {depth, m});
    const ir::IterVar k = te::ReduceAxis(depth, "k");
    c = te::Compute("c", {n, m}, {"i", "j"},
                    [&](const Vars& x) { return te::Sum(a(k.var, x[0]) * b(k.var, x[1]), {k}); });
    out = te::Compute("out", {n, m}, {"i", "j"},
                      [&](const Vars& x) { return c(x[0], x[1]) + ir::Imm(DType::Float(32), 1); });
  }
  Result<ir::Function> Lowered(const std::string& steps) const { return LoweredTo(out, {a, b, out}, steps); }
  // The first thing that is wrong.
  std::string Run(const std::string& steps, std::string* text = nullptr) const {
    const Result<ir::Function> f = Lowered(steps);
    if (!f.ok()) return f.status().message();
    if (text) *text = ir::ToString(f->body);
    std::vector<float> x(depth * n), y(depth * m), z(n * m);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) - 5;
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * 5 % 13) - 6;
    for (auto order : {ir::ParallelOrder::kForward, ir::ParallelOrder::kReversed, ir::ParallelOrder::kShuffled}) {
      std::fill(z.begin(), z.end(), -1e9f);
      const Status ran = ir::Run(*f, {{x.data(), depth * n}, {y.data(), depth * m}, {z.data(), n * m}}, {order, 5});
      if (!ran.ok()) return ran.message() + "\n" + ir::ToString(f->body);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < m; ++j) {
          float want = 1;
          for (int64_t k = 0; k < depth; ++k) want += x[k * n + i] * y[k * m + j];
          if (z[i * m + j] != want) return fmt::format("out[{}, {}] is {}, not {}", i, j, z[i * m + j], want);
        }
      }
    }
    return "";
  }
  int64_t n, m, depth;
  Tensor a, b, c, out;
};

// `rows`: of out, after the blocks; `columns` likewise.
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
  EXPECT_EQ(MatMul(16, 8, 16).Run(Steps("[2,8]", "[1,1,4,2]", "tensorize c km mma_tf32\n"), &text), "");
  EXPECT_NE(text.find("c[ramp(0, 1, 4)] = mma_tf32(a.fragments[ramp(0, 1, 4)], b.fragments[ramp(0, 1, 2)], "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("mma_tf32("), std::string::npos);
}

TEST(Tensorize, TilesOfWarpsByWayOfSharedMemory) {
  const std::string on = "tensorize c km mma_tf32\n";
  std::string text;
  EXPECT_EQ(MatMul(64, 64, 48).Run(Steps("[2,32]", "[2,2,4,2]", kShared + on), &text), "");
  EXPECT_NE(text.find("mma_tf32("), std::string::npos);
  EXPECT_EQ(MatMul(96, 32, 32).Run(Steps("[6,16]", "[4,1,4,2]", on)), "");
  EXPECT_EQ(MatMul(32, 48, 32).Run(Steps("[4,8]", "[3,1,4,2]", on)), "") << "an odd number of columns";
  const std::string twice = std::string(kShared) + "double_buffer as\ndouble_buffer bs\n" + on;
  EXPECT_EQ(MatMul(64, 64, 64).Run(Steps("[2,32]", "[2,2,4,2]", twice)), "");
  EXPECT_EQ(MatMul(64, 64, 96).Run(Steps("[2,32]", "[2,2,4,2]", twice + "pragma as fo stages 3\n")), "");
}

TEST(Tensorize, IsRefusedWhereItIsNoProductOfWarps) {
  const auto why = [](const std::string& rows, const std::string& columns, const std::string& more = "") {
    return MatMul(96, 96, 32).Run(Steps(rows, columns, more + "tensorize c km mma_tf32\n"));
  };
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(why("[2,8]", "[1,1,8,2]"), "4 threads along x and a multiple of 8 along y");
  expect(why("[2,4]", "[1,1,4,2]"), "4 threads along x and a multiple of 8 along y");
  expect(why("[3,8]", "[1,1,4,2]"), "pairs of rows and pairs of columns");
  expect(why("[2,8]", "[3,1,4,1]"), "pairs of rows and pairs of columns");
  // A tile is fetched by twice the threads that add up.
  const std::string wide = std::string(kShared) + "tensorize c km mma_tf32\n";
  expect(MatMul(64, 64, 32).Run(Steps("[2,16]", "[4,1,4,2]", wide)), "not all threads of the block come there");
  // A tail: the sums would be under a condition.
  const std::string tail = MatMul(90, 96, 32).Run(Steps("[2,8]", "[1,1,4,2]", "tensorize c km mma_tf32\n"));
  expect(tail, "tensorize mma_tf32: ");
  // What one thread holds, the other threads of its warp cannot read.
  expect(why("[2,8]", "[1,1,4,2]", "cache_read b register c -> bl\ncompute_at bl c ki\n"), "a factor is private");
  expect(why("[2,8]", "[1,1,4,2]", "cache_read a register c -> al\ncompute_at al c ki\n"), "a factor is private");
}

// A second loop of the reduction inside of k is neither rows nor columns: pairs of it would be two halves of one sum.
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
    const Result<ir::Function> f = LoweredTo(out, {a, b, out}, steps);
    ASSERT_FALSE(f.ok()) << ir::ToString(f->body);
    EXPECT_NE(f.status().message().find("`h` counts not one of rows and columns"), std::string::npos)
        << f.status().message();
  }
}

}  // namespace
}  // namespace hone::lower
