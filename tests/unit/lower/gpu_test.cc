// What becomes of schedules for a GPU: the final form as text, and its values by the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ir/device_kernels.h"
#include "ir/interpreter.h"
#include "ir/printer.h"
#include "lower/lower.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;
using Vars = std::vector<Var>;

Result<ir::Function> LowerGpu(const std::vector<Tensor>& inputs, const Tensor& out, const std::string& steps) {
  HONE_ASSIGN_OR_RETURN(schedule::Schedule s, schedule::Schedule::Create({out}));
  HONE_ASSIGN_OR_RETURN(std::vector<Step> parsed, ParseSteps(steps));
  HONE_RETURN_IF_ERROR(s.ApplyAll(parsed));
  std::vector<Tensor> args = inputs;
  args.push_back(out);
  LowerOptions options;
  options.gpu = true;
  options.verify = true;
  return Lower(s, args, options);
}

std::string Text(const std::vector<Tensor>& inputs, const Tensor& out, const std::string& steps) {
  Result<ir::Function> f = LowerGpu(inputs, out, steps);
  return f.ok() ? ir::ToString(f->body) : f.status().message();
}

struct Add {
  Tensor a = te::Placeholder("a", {100});
  Tensor out = te::Compute("out", {100}, {"i"}, [&](const Vars& x) { return a(x[0]) + ir::Imm(DType::Float(32), 1); });
};

TEST(GpuLower, BlocksAndThreadsWithATail) {
  Add m;
  EXPECT_EQ(Text({m.a}, m.out, "split out i [32] -> o t\nbind out o blockIdx.x\nbind out t threadIdx.x\n"),
            "for blockIdx.x (blockIdx.x, 0, 4) {\n"
            "  for threadIdx.x (threadIdx.x, 0, 32) {\n"
            "    if (blockIdx.x*32 + threadIdx.x < 100) {\n"
            "      out[blockIdx.x*32 + threadIdx.x] = a[blockIdx.x*32 + threadIdx.x] + 1.0f;\n"
            "    }\n"
            "  }\n"
            "}\n");
}

struct MatMul {
  explicit MatMul(int64_t n = 32, int64_t m = 48, int64_t k = 24) : n(n), m(m), depth(k) {
    a = te::Placeholder("a", {n, k});
    b = te::Placeholder("b", {k, m});
    ir::IterVar r = te::ReduceAxis(k, "k");
    c = te::Compute("c", {n, m}, {"i", "j"},
                    [&](const Vars& x) { return te::Sum(a(x[0], r.var) * b(r.var, x[1]), {r}); });
    out = te::Compute("out", {n, m}, {"i", "j"},
                      [&](const Vars& x) { return Max(c(x[0], x[1]), ir::Imm(DType::Float(32), 0)); });
  }
  // Runs it by the interpreter in every order; the first thing that is wrong.
  std::string Run(const std::string& steps, std::string* text = nullptr) {
    Result<ir::Function> f = LowerGpu({a, b}, out, steps);
    if (!f.ok()) return f.status().message();
    if (text) *text = ir::ToString(f->body);
    if (Result<ir::DeviceProgram> p = ir::SplitKernels(*f); !p.ok()) return p.status().message();
    std::vector<float> x(n * depth), y(depth * m), z(n * m);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) - 5;
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * 5 % 13) - 6;
    for (auto order : {ir::ParallelOrder::kForward, ir::ParallelOrder::kReversed, ir::ParallelOrder::kShuffled}) {
      std::fill(z.begin(), z.end(), -1e9f);
      Status status = ir::Run(*f, {{x.data(), n * depth}, {y.data(), depth * m}, {z.data(), n * m}}, {order, 5});
      if (!status.ok()) return status.message() + "\n" + ir::ToString(f->body);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < m; ++j) {
          float want = 0;
          for (int64_t k = 0; k < depth; ++k) want += x[i * depth + k] * y[k * m + j];
          if (z[i * m + j] != std::max(want, 0.f))
            return fmt::format("out[{}, {}] is {}, not {}\n{}", i, j, z[i * m + j], want, ir::ToString(f->body));
        }
      }
    }
    return "";
  }
  int64_t n, m, depth;
  Tensor a, b, c, out;
};

// Tiles of 16 x 16 by 4 x 4 threads, two virtual threads along j, accumulators in registers, inputs by way of shared
// memory.
const char kTiled[] =
    "split out i [4,4] -> bi ti ii\n"
    "split out j [2,4,2] -> bj vj tj ji\n"
    "reorder out bi bj vj ti tj ii ji\n"
    "bind out bi blockIdx.y\n"
    "bind out bj blockIdx.x\n"
    "bind out vj vthread\n"
    "bind out ti threadIdx.y\n"
    "bind out tj threadIdx.x\n"
    "compute_at c out tj\n"
    "set_scope c register\n"
    "split c k [8] -> ko ki\n"
    "reorder c ko ki i j\n"
    "cache_read a shared c -> as\n"
    "cache_read b shared c -> bs\n"
    "compute_at as c ko\n"
    "compute_at bs c ko\n"
    "fuse as d0 d1 -> f\n"
    "split as f [4,4] -> fo fy fx\n"
    "bind as fy threadIdx.y\n"
    "bind as fx threadIdx.x\n"
    "fuse bs d0 d1 -> f\n"
    "split bs f [4,4,2] -> fo fy fx fv\n"
    "bind bs fy threadIdx.y\n"
    "bind bs fx threadIdx.x\n"
    "vectorize bs fv\n";

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// The innermost loops of the accumulation, which begin at `ki`.
std::string Inner(const std::string& text) {
  const size_t at = text.find("for (ki");
  return text.substr(at, text.find("out[", at) - at);
}

TEST(GpuLower, TiledProduct) {
  MatMul m;
  std::string text;
  EXPECT_EQ(m.Run(kTiled, &text), "");
  // At the loop's head, as the last round may still read, and between filling and use.
  EXPECT_EQ(Count(text, "barrier"), 2) << text;
  EXPECT_EQ(Count(text, "if ("), 0) << text;
  EXPECT_NE(text.find("bs[ramp("), std::string::npos) << text;
  // 2 * 8 accumulators of two virtual threads; one copy of the inputs' tiles for both.
  EXPECT_NE(text.find("allocate c: f32[16]"), std::string::npos) << text;
  EXPECT_NE(text.find("allocate as: f32[128] shared"), std::string::npos) << text;
  for (auto [n, w, k] : std::vector<std::array<int64_t, 3>>{{33, 47, 25}, {1, 1, 1}, {16, 100, 7}, {5, 16, 9}}) {
    MatMul odd(n, w, k);
    EXPECT_EQ(odd.Run(kTiled), "") << n << " " << w << " " << k;
  }
}

TEST(GpuLower, ATileOverTheEdgeHasNoConditionInItsInnerLoops) {
  MatMul m(33, 47, 24);
  std::string text;
  EXPECT_EQ(m.Run(kTiled, &text), "");
  EXPECT_EQ(Count(Inner(text), "c["), 4) << text;
  EXPECT_EQ(Inner(text).substr(0, Inner(text).rfind("c[")).find("if ("), std::string::npos) << text;
  EXPECT_NE(text.find("if_then_else(blockIdx.y"), std::string::npos) << text;  // zeros where `a` has no rows
}

TEST(GpuLower, EachRootStageIsAKernel) {
  MatMul m(20, 24, 6);
  const std::string steps =
      "split c i [8] -> io ii\nbind c io blockIdx.x\nbind c ii threadIdx.y\nbind c j threadIdx.x\n"
      "fuse out i j -> f\nsplit out f [32] -> fo fi\nbind out fo blockIdx.x\nbind out fi threadIdx.x\n";
  EXPECT_EQ(m.Run(steps), "");
  Result<ir::Function> f = LowerGpu({m.a, m.b}, m.out, steps);
  ASSERT_TRUE(f.ok()) << f.status().message();
  Result<ir::DeviceProgram> program = ir::SplitKernels(*f);
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_EQ(program->kernels.size(), 2u);
  ASSERT_EQ(program->workspaces.size(), 1u);
  EXPECT_EQ(program->workspaces[0]->size, 20 * 24);
  EXPECT_EQ(program->kernels[0].grid[0], 3);
  EXPECT_EQ(program->kernels[0].block[0], 24);
  EXPECT_EQ(program->kernels[0].block[1], 8);
  EXPECT_EQ(program->kernels[1].grid[0], 15);
  EXPECT_EQ(program->kernels[1].params.size(), 2u);
}

TEST(GpuLower, PaddingOfSharedMemoryChangesStridesOnly) {
  MatMul m;
  std::string text;
  EXPECT_EQ(m.Run(std::string(kTiled) + "storage_align as d0 32 9\n", &text), "");
  EXPECT_NE(text.find("allocate as: f32[144] shared"), std::string::npos) << text;  // 16 rows of 8, 9 apart
}

TEST(GpuLower, Refusals) {
  MatMul m;
  auto refuse = [&](const std::string& steps) { return LowerGpu({m.a, m.b}, m.out, steps).status().message(); };
  EXPECT_NE(refuse("compute_at c out j\nbind c i blockIdx.x\n").find("`i` cannot be bound to blocks"),
            std::string::npos);
  EXPECT_NE(refuse("reorder c k i j\nbind c k threadIdx.x\n").find("must stand outside its reduce loops"),
            std::string::npos);
  EXPECT_NE(refuse("fuse out i j -> f\nbind out f vthread\n").find("at most 256"), std::string::npos);
  // And for a CPU.
  for (const char* steps : {"bind out i blockIdx.x\n", "bind out i vthread\n", "set_scope c shared\n",
                            "split c k [8] -> ko ki\ntensorize c ki mma_tf32\n"}) {
    Result<schedule::Schedule> s = schedule::Schedule::Create({m.out});
    ASSERT_TRUE(s.ok() && s->ApplyAll(*ParseSteps(steps)).ok());
    Result<ir::Function> f = Lower(*s, {m.a, m.b, m.out}, {});
    EXPECT_EQ(f.status().kind(), StatusKind::kUnsupported) << steps;
    EXPECT_NE(f.status().message().find("only a GPU has that"), std::string::npos) << f.status().message();
  }
}

TEST(GpuLower, DoubleBuffered) {
  MatMul m;
  std::string text;
  const std::string steps = std::string(kTiled) + "double_buffer as\ndouble_buffer bs\n";
  EXPECT_EQ(m.Run(steps, &text), "");
  EXPECT_EQ(Count(text, "barrier"), 1) << text;
  EXPECT_NE(text.find("allocate as: f32[256] shared"), std::string::npos) << text;
  for (auto [n, w, k] : std::vector<std::array<int64_t, 3>>{{33, 47, 25}, {1, 1, 1}, {16, 100, 7}, {5, 16, 9}}) {
    MatMul odd(n, w, k);
    EXPECT_EQ(odd.Run(steps), "") << n << " " << w << " " << k;
  }
}

TEST(GpuLower, ReductionAcrossThreads) {
  const std::string steps =
      "fuse out i j -> f\nsplit out f [2] -> fo fy\nbind out fo blockIdx.x\nbind out fy threadIdx.y\n"
      "compute_at c out fy\n"
      "split c k [8] -> ko ki\nreorder c i j ko ki\nbind c ki threadIdx.x\n";
  std::string text;
  MatMul m(4, 6, 24);
  EXPECT_EQ(m.Run(steps, &text), "");
  EXPECT_EQ(m.Run(steps + "set_scope c register\n", &text), "");
  MatMul odd(3, 5, 7);
  EXPECT_EQ(odd.Run(steps), "");
  EXPECT_EQ(odd.Run(steps + "set_scope c register\n"), "");
}

}  // namespace
}  // namespace hone::lower
