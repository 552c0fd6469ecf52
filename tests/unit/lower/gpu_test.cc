// Lowered schedules for a GPU: the final form as text, and its values in the interpreter.
#include <array>

#include "unit/lower/lower_case.h"

namespace hone::lower {
namespace {

struct Add {
  Tensor a = te::Placeholder("a", {100});
  Tensor out = te::Compute("out", {100}, {"i"}, [&](const Vars& x) { return a(x[0]) + ir::Imm(DType::Float(32), 1); });
};

TEST(GpuLower, BlocksAndThreadsWithATail) {
  Add m;
  EXPECT_EQ(LoweredText({m.a}, m.out, "split out i [32] -> o t\nbind out o blockIdx.x\nbind out t threadIdx.x\n", true),
            "for blockIdx.x (blockIdx.x, 0, 4)\n"
            "  for threadIdx.x (threadIdx.x, 0, 32)\n"
            "    if (blockIdx.x*32 + threadIdx.x < 100)\n"
            "      out[blockIdx.x*32 + threadIdx.x] = a[blockIdx.x*32 + threadIdx.x] + 1.0f;\n");
}

struct MatMul : GpuProduct {
  explicit MatMul(int64_t n = 32, int64_t m = 48, int64_t k = 24) : GpuProduct(n, m, k) {}
};

// Tiles of 16 x 16 by 4 x 4 threads, two virtual threads along j, accumulators in registers, inputs through shared
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

void ExpectRightWithTails(const std::string& steps) {
  for (auto [n, w, k] : std::vector<std::array<int64_t, 3>>{{33, 47, 25}, {1, 1, 1}, {16, 100, 7}, {5, 16, 9}}) {
    MatMul odd(n, w, k);
    EXPECT_EQ(odd.Run(steps), "") << n << " " << w << " " << k;
  }
}

TEST(GpuLower, TiledProduct) {
  MatMul m;
  std::string text;
  EXPECT_EQ(m.Run(kTiled, &text), "");
  // At the loop's head, as the previous iteration may still read, and between filling and use.
  EXPECT_EQ(Count(text, "barrier"), 2) << text;
  EXPECT_EQ(Count(text, "if ("), 0) << text;
  EXPECT_THAT(text, HasSubstr("bs[ramp("));
  // 2 * 8 accumulators of two virtual threads; one copy of the inputs' tiles for both.
  EXPECT_THAT(text, HasSubstr("allocate c: f32[16]"));
  EXPECT_THAT(text, HasSubstr("allocate as: f32[128] shared"));
  ExpectRightWithTails(kTiled);
}

TEST(GpuLower, ATileOverTheEdgeHasNoConditionInItsInnerLoops) {
  MatMul m(33, 47, 24);
  std::string text;
  EXPECT_EQ(m.Run(kTiled, &text), "");
  EXPECT_EQ(Count(Inner(text), "c["), 4) << text;
  EXPECT_THAT(Inner(text).substr(0, Inner(text).rfind("c[")), Not(HasSubstr("if ("))) << text;
  EXPECT_THAT(text, HasSubstr("if_then_else(blockIdx.y"));  // zeros where `a` has no rows
}

TEST(GpuLower, EachRootStageIsAKernel) {
  MatMul m(20, 24, 6);
  const std::string steps =
      "split c i [8] -> io ii\nbind c io blockIdx.x\nbind c ii threadIdx.y\nbind c j threadIdx.x\n"
      "fuse out i j -> f\nsplit out f [32] -> fo fi\nbind out fo blockIdx.x\nbind out fi threadIdx.x\n";
  EXPECT_EQ(m.Run(steps), "");
  ir::Function f = Must(m.Lowered(steps));
  ir::DeviceProgram program = Must(ir::SplitKernels(f));
  ASSERT_EQ(program.kernels.size(), 2u);
  ASSERT_EQ(program.workspaces.size(), 1u);
  EXPECT_EQ(program.workspaces[0]->size, 20 * 24);
  EXPECT_EQ(program.kernels[0].grid[0], 3);
  EXPECT_EQ(program.kernels[0].block[0], 24);
  EXPECT_EQ(program.kernels[0].block[1], 8);
  EXPECT_EQ(program.kernels[1].grid[0], 15);
  EXPECT_EQ(program.kernels[1].params.size(), 2u);
}

TEST(GpuLower, PaddingOfSharedMemoryChangesStridesOnly) {
  MatMul m;
  std::string text;
  EXPECT_EQ(m.Run(std::string(kTiled) + "storage_align as d0 32 9\n", &text), "");
  EXPECT_THAT(text, HasSubstr("allocate as: f32[144] shared"));  // 16 rows of 8, 9 apart
}

TEST(GpuLower, Refusals) {
  MatMul m;
  auto refuse = [&](const std::string& steps) { return m.Lowered(steps).status().message(); };
  EXPECT_THAT(refuse("compute_at c out j\nbind c i blockIdx.x\n"), HasSubstr("`i` cannot be bound to blocks"));
  EXPECT_THAT(refuse("reorder c k i j\nbind c k threadIdx.x\n"), HasSubstr("must stand outside its reduce loops"));
  EXPECT_THAT(refuse("fuse out i j -> f\nbind out f vthread\n"), HasSubstr("at most 256"));
  // The same for a CPU.
  for (const char* steps : {"bind out i blockIdx.x\n", "bind out i vthread\n", "set_scope c shared\n",
                            "split c k [8] -> ko ki\ntensorize c ki mma_tf32\n"}) {
    const Status refused = LowerSteps({m.a, m.b}, m.out, steps, false).status();
    EXPECT_EQ(refused.kind(), StatusKind::kUnsupported) << steps;
    EXPECT_THAT(refused.message(), HasSubstr("only a GPU has that"));
  }
}

TEST(GpuLower, DoubleBuffered) {
  MatMul m;
  std::string text;
  const std::string steps = std::string(kTiled) + "double_buffer as\ndouble_buffer bs\n";
  EXPECT_EQ(m.Run(steps, &text), "");
  EXPECT_EQ(Count(text, "barrier"), 1) << text;
  EXPECT_THAT(text, HasSubstr("allocate as: f32[256] shared"));
  ExpectRightWithTails(steps);
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
