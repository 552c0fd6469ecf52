// Kernels judged by their machine code (sass.h): reading it, on texts; and the budget of integer instructions of each
// template, on what NVRTC makes, if nvdisasm or cuobjdump is installed.
#include "agree/sass.h"

#include <fmt/format.h>

#include <cmath>

#include "agree/gpu_workloads.h"
#include "base/text.h"
#include "common/expect.h"
#include "common/nvrtc.h"
#include "compile/compile.h"
#include "target/cuda_arch.h"

namespace hone::agree {
namespace {

// A loop of 8 trips with an inner one of 3; the loop's last trip skips the load. As nvdisasm prints it.
constexpr char kNested[] = R"(
//--------------------- .text.mul --------------------------
	.section	.text.mul,"ax",@progbits
.text.mul:
        /*0000*/                   IMAD.MOV.U32 R4, RZ, RZ, RZ ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/                   ISETP.GT.AND P2, PT, R0, 0x1b, PT ;
        /*0030*/               @P2 EXIT ;
.L_x_1:
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   ISETP.GE.U32.AND P1, PT, R4.reuse, 0x7, PT ;
        /*0060*/               @P1 BRA `(.L_x_2) ;
        /*0070*/                   LDG.E.128.CONSTANT R8, [R2.64] ;
.L_x_2:
        /*0080*/                   CS2R R6, SRZ ;
.L_x_3:
        /*0090*/                   LDS.128 R12, [R7.X4] ;
        /*00a0*/                   FFMA R20, R12.reuse, R13, R20 ;
        /*00b0*/                   FFMA R21, R12, R14, R21 ;
        /*00c0*/                   IADD3 R7, R7, 0x2, RZ ;
        /*00d0*/                   ISETP.NE.AND P0, PT, R7, 0x6, PT ;
        /*00e0*/               @P0 BRA `(.L_x_3) ;
        /*00f0*/                   IADD3 R4, R4, 0x1, RZ ;
        /*0100*/                   ISETP.NE.AND P0, PT, R4, 0x8, PT ;
        /*0110*/              @!P0 CALL.REL.NOINC `(.L_x_4) ;
        /*0120*/                   BRA `(.L_x_1) ;
.L_x_4:
        /*0130*/                   STG.E [R2.64], R20 ;
        /*0140*/                   EXIT ;
.L_x_5:
        /*0150*/                   BRA `(.L_x_5);
        /*0160*/                   NOP;
)";

TEST(SassTest, CountsALoopWithItsInnerLoops) {
  const auto kernels = ParseSass(kNested);
  ASSERT_EQ(kernels.size(), 1U);
  const SassCode& code = kernels.at("mul");
  ASSERT_EQ(code.size(), 23U);
  EXPECT_EQ(code[3].predicate, "P2");
  EXPECT_EQ(code[9].opcode, "LDS.128");
  EXPECT_EQ(code[9].operands, (std::vector<std::string>{"R12", "[R7.X4]"}));
  const SassLoop loop = SteadyLoop(code, 80);
  EXPECT_TRUE(loop.known);
  EXPECT_EQ(loop.begin, 4);
  EXPECT_EQ(loop.end, 19);
  EXPECT_EQ(loop.trips, 8);
  EXPECT_EQ(loop.Count(SassKind::kFma), 6);
  EXPECT_EQ(loop.Count(SassKind::kShared), 3);
  EXPECT_EQ(loop.Count(SassKind::kGlobal), 7.0 / 8) << "not in the last trip";
  EXPECT_EQ(loop.Count(SassKind::kBarrier), 1);
  EXPECT_EQ(loop.Count(SassKind::kInteger), 1 + 1 + 3 * 2 + 2);
  EXPECT_EQ(loop.Count(SassKind::kControl), 1 + 3 + 1 + 7.0 / 8);
  EXPECT_DOUBLE_EQ(loop.IntegerPer(64), 10 / (6.0 / 64));
}

TEST(SassTest, TheBusiestPortLimitsTheShare) {
  const SassLoop loop = SteadyLoop(ParseSass(kNested).at("mul"), 80);
  // Three reads of 128 bits take 8 cycles each, the load as many; 6 FMA take 2 each.
  EXPECT_STREQ(loop.Port(), "lsu");
  EXPECT_DOUBLE_EQ(loop.Cycles(), 3 * 8 + 7.0 / 8 * 8);
  EXPECT_DOUBLE_EQ(LoopShare(loop, 80), 12 / 31.0);
  EXPECT_DOUBLE_EQ(LoopShare(SteadyLoop(ParseSass(kNested).at("mul"), 90), 90), 6 / 31.0) << "twice as many FMA units";
  // 100 blocks of 64 threads, 48 useful FMA each; the store takes 4 more cycles. Of 108 multiprocessors 8 have no
  // block.
  const Launch launch{"mul", {100, 1, 1}, {64, 1, 1}, 0, 0, {}};
  EXPECT_DOUBLE_EQ(KernelShare(loop, 80, launch, 2.0 * 48 * 100 * 64, 108), 96 / (31.0 * 8 + 4) * 100 / 108);
  EXPECT_DOUBLE_EQ(KernelShare(loop, 80, launch, 48 * 100 * 64, 108), 48 / (31.0 * 8 + 4) * 100 / 108)
      << "half is padding";
}

// cuobjdump has addresses instead of labels. The counter is set again before it is compared, as compilers rotate loops.
TEST(SassTest, ReadsCuobjdumpAndMma) {
  constexpr char kText[] = R"(
	code for sm_80
		Function : sums
        /*0000*/                   HFMA2.MMA R1, -RZ, RZ, 0, 1.78813934326171875e-07 ;   /* 0x0000000000017802 */
                                                                                        /* 0x000fe40000000f00 */
        /*0010*/                   HMMA.1688.F32.TF32 R16, R20.reuse, R2, R16 ;         /* 0x00000a0000017a02 */
        /*0020*/                   HMMA.1688.F32.TF32 R12, R20, R28, R12 ;              /* 0x00000a0000017a02 */
        /*0030*/              @!P1 IMAD.IADD.U32 R2, R2, 0x1, R46 ;                     /* 0x00000a0000017a02 */
        /*0040*/                   UIADD3 UR4, UR4, 0x1, URZ ;                          /* 0x00000a0000017a02 */
        /*0050*/                   IADD3 R1, R1, -0x1, RZ ;                             /* 0x00000a0000017a02 */
        /*0060*/                   ISETP.GT.AND P0, PT, R1, RZ, PT ;                    /* 0x00000a0000017a02 */
        /*0070*/               @P0 BRA 0x10 ;                                           /* 0x00000a0000017a02 */
        /*0080*/                   EXIT ;                                               /* 0x00000a0000017a02 */
)";
  const SassLoop loop = SteadyLoop(ParseSass(kText).at("sums"), 80);
  EXPECT_EQ(loop.trips, 3) << "1.8e-7 is 3 as bits of half precision";
  EXPECT_EQ(loop.Count(SassKind::kMma), 2);
  EXPECT_EQ(loop.Count(SassKind::kUniform), 1);
  EXPECT_EQ(loop.IntegerPer(64), 1.5);
  EXPECT_DOUBLE_EQ(LoopShare(loop, 80), 1);
  EXPECT_DOUBLE_EQ(LoopShare(SteadyLoop(ParseSass(kText).at("sums"), 90), 90), 4 / 6.4);
}

TEST(SassTest, ALoopWithoutAKnownEndIsNotJudged) {
  const std::string text = ReplaceAll(kNested, "ISETP.NE.AND P0, PT, R4, 0x8, PT", "ISETP.NE.AND P0, PT, R4, R0, PT");
  EXPECT_FALSE(SteadyLoop(ParseSass(text).at("mul"), 80).known);
  const std::string inner = ReplaceAll(kNested, "ISETP.NE.AND P0, PT, R7, 0x6, PT", "ISETP.NE.AND P0, PT, R7, R0, PT");
  const SassLoop loop = SteadyLoop(ParseSass(inner).at("mul"), 80);
  EXPECT_FALSE(loop.known);
  EXPECT_EQ(KernelShare(loop, 80, {"mul", {100, 1, 1}, {64, 1, 1}, 0, 0, {}}, 1e6, 108), 0);
}

TEST(SassTest, ResidentBlocksAreLimitedByEachResource) {
  EXPECT_EQ(ResidentBlocks(80, 256, 32, 0), 8) << "threads";
  EXPECT_EQ(ResidentBlocks(86, 256, 32, 0), 6);
  EXPECT_EQ(ResidentBlocks(80, 256, 128, 0), 2) << "registers";
  EXPECT_EQ(ResidentBlocks(80, 32, 16, 0), 32) << "blocks";
  EXPECT_EQ(ResidentBlocks(80, 64, 32, 40 << 10), 4) << "shared memory, with 1 KiB of the system's";
  EXPECT_EQ(ResidentBlocks(90, 64, 32, 227 << 10), 1);
}

// Integer instructions in the steady loop for each mma or 64 FMA. The points are those that are tuned first; the budget
// is what NVRTC 13.0 makes of them, and a tenth. Lower a budget when the code gets better.
struct Budget {
  const char* source;
  const char* workload;
  double sm_80, sm_90;
};
constexpr char kConv[] = "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1,1,1,1) + bias + relu";
constexpr char kDepthwise[] = "conv2d(f32[1,32,28,28], f32[32,1,3,3], groups=32, pad=1,1,1,1) + bias + relu6";
constexpr char kGroups[] = "conv2d(f32[1,64,32,32], f32[64,16,3,3], groups=4, pad=1,1,1,1) + bias + relu";
const Budget kBudgets[] = {
    {"conv2d_gpu_gemm", kConv, 64.1, 64.5},
    {"conv2d_nchw.cuda", kConv, 148.5, 148.2},
    {"conv2d_gpu_winograd", kConv, 70.2, 71.3},
    {"conv2d_nchw_winograd.cuda", kConv, 12.1, 14.3},
    {"conv2d_gpu_tensor", kConv, 13.8, 13.5},
    {"gpu_sums", kConv, 20.2, 20},
    {"depthwise_conv2d_nchw.cuda", kDepthwise, 336.4, 328.6},
    {"conv_gpu_tiles", kGroups, 227, 282.6},
    {"dense_gpu_rows", "dense(f32[1,512], f32[1000,512]) + bias", 300, 229},
    {"dense_small_batch.gpu", "dense(f32[1,512], f32[1000,512]) + bias", 300, 229},
    {"dense_large_batch.gpu", "dense(f32[128,512], f32[512,512]) + bias", 24.7, 23.6},
    {"batch_matmul.cuda", "matmul(f32[4,128,64], f32[4,64,128])", 47.3, 49.5},
};

class SassBudget : public testing::TestWithParam<Budget> {};

TEST_P(SassBudget, IntegerInstructionsForTheWork) {
  const Budget& budget = GetParam();
  const Workload workload = Must(op::ParseChecked(budget.workload));
  for (const auto& [arch, most] : {std::pair("sm_80", budget.sm_80), {"sm_90", budget.sm_90}}) {
    SCOPED_TRACE(arch);
    if (const std::string why = NoNvrtcFor(arch); !why.empty()) GTEST_SKIP() << why;
    const Target target =
        Must(Target::Parse(fmt::format("cuda -arch={} -multiprocessors=108 -shared={}", arch, CudaSharedBytes(arch))));
    const auto source = FindGpuSource(budget.source, workload, target);
    ASSERT_TRUE(source) << budget.source;
    const Candidate candidate = Must(source->candidate(Must(source->preferred())));
    const auto kernel = Must(compile::CompileKernel(workload, target, candidate, {}));
    const auto kernels = Disassemble(kernel.object);
    if (kernels.status().kind() == StatusKind::kNotFound) GTEST_SKIP() << kernels.status().message();
    ASSERT_TRUE(kernels.ok()) << kernels.status().message();
    double least = INFINITY;  // of its kernels: that with most work for its overhead
    for (const Launch& launch : kernel.kernel.launches) {
      ASSERT_TRUE(kernels->count(launch.symbol)) << launch.symbol;
      const SassLoop loop = SteadyLoop(kernels->at(launch.symbol), CudaArchNumber(arch));
      EXPECT_TRUE(loop.known) << launch.symbol;
      least = std::min(least, loop.IntegerPer(64));
    }
    EXPECT_LE(least, most);
    EXPECT_GE(least, 0.7 * most) << "better than the budget, which should be lowered";
  }
}

INSTANTIATE_TEST_SUITE_P(Templates, SassBudget, testing::ValuesIn(kBudgets),
                         [](const auto& info) { return ReplaceAll(info.param.source, ".", "_"); });

// A template that is added gets a budget.
TEST(SassBudgets, CoverEveryTemplate) {
  std::set<std::string> have;
  for (const Budget& budget : kBudgets) have.insert(budget.source);
  const std::set<std::string> no_products = {"gpu_rows", "gpu_stages"};  // they have hardly any FMA
  for (const std::string& name : GpuSourceNames()) EXPECT_TRUE(have.count(name) || no_products.count(name)) << name;
}

}  // namespace
}  // namespace hone::agree
