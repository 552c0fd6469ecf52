#include "compile/compile.h"

#include "base/rng.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "propose/propose.h"
#include "schedule/schedule.h"
#include "unit/op/kernel_case.h"

namespace hone::compile {
namespace {

Result<CompiledKernel> Compile(const char* text, bool keep_text = false) {
  Workload w = Must(op::ParseChecked(text));
  Target target = *HostTarget();
  CompileOptions options{.symbol = "k", .keep_text = keep_text, .verify = true};
  return CompileKernel(w, target, Must(propose::Instantiate(w, target, *propose::DefaultConfig(w, target))), options);
}

TEST(Compile, ArgumentsKnowTheirSources) {
  const CompiledKernel k = Must(Compile("conv2d(f32[1,17,8,8], f32[17,17,3,3], pad=1) + bias + add + relu"));
  // data, packed weight, packed bias (17 channels do not fill the last block), residual, out.
  ASSERT_EQ(k.kernel_args.size(), 5u);
  using Kind = ArgSource::Kind;
  const std::pair<Kind, int> expected[] = {
      {Kind::kOperand, 0}, {Kind::kPrepared, 0}, {Kind::kPrepared, 1}, {Kind::kOperand, 3}, {Kind::kOperand, 4}};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(k.kernel_args[i].kind, expected[i].first) << i;
    EXPECT_EQ(k.kernel_args[i].index, expected[i].second) << i;
  }
  EXPECT_EQ(k.kernel.symbol, "k");
  ASSERT_EQ(k.kernel.args.size(), 5u);
  EXPECT_TRUE(k.kernel.args[4].written);
  EXPECT_FALSE(k.kernel.args[1].written);

  ASSERT_TRUE(k.has_prepare);
  EXPECT_EQ(k.prepare.symbol, "k_prepare");
  ASSERT_EQ(k.prepared.size(), 2u);
  EXPECT_EQ(k.prepared[1].elements % 8, 0);
  ASSERT_EQ(k.prepare_args.size(), 4u);  // weight and bias as inputs, both packed as outputs
  EXPECT_EQ(k.prepare_args[0].index, 1);
  EXPECT_EQ(k.prepare_args[1].index, 2);
  EXPECT_EQ(k.prepare_args[2].kind, Kind::kPrepared);
  EXPECT_TRUE(k.prepare.args[3].written);
  // An argument has the size of its operand or prepared constant.
  EXPECT_EQ(k.prepare.args[2].elements, k.prepared[0].elements);
  EXPECT_EQ(k.kernel.args[1].elements, k.prepared[0].elements);
}

TEST(Compile, WithoutConstantsThereIsNoPrepare) {
  CompiledKernel k = Must(Compile("add(f32[1,17,8,8], f32[1,17,8,8]) + relu"));
  EXPECT_FALSE(k.has_prepare);
  EXPECT_TRUE(k.prepared.empty());
  ASSERT_EQ(k.kernel_args.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(k.kernel_args[i].index, i);
}

// The prepare function runs once, so packed data would be that of another run.
TEST(Compile, OnlyConstantsArePacked) {
  const Target target = *HostTarget();
  for (const auto& [text, step] : {std::pair("dense(f32[3,16], f32[16,16])", Relayout("data", {"d1", "d0"}, "turned")),
                                   std::pair("add(f32[4,16], f32[4,16])", Relayout("data1", {"d0"}, "turned"))}) {
    const Workload w = Must(op::ParseChecked(text));
    Candidate candidate = Must(propose::Instantiate(w, target, *propose::DefaultConfig(w, target)));
    candidate.steps.insert(candidate.steps.begin(), step);
    const Status status = LowerKernel(w, target, candidate, {}).status();
    EXPECT_EQ(status.message(), "`" + step.stage + "` differs between runs: only constants can be packed");
  }
}

TEST(Compile, TextOnlyIfAskedFor) {
  CompiledKernel k = Must(Compile("dense(f32[1,16], f32[16,16])"));
  EXPECT_TRUE(k.llvm_ir.empty() && k.assembly.empty() && k.program.empty());
  EXPECT_FALSE(k.object.empty());
  k = Must(Compile("dense(f32[1,16], f32[16,16])", true));
  EXPECT_THAT(k.llvm_ir, HasSubstr("k_prepare"));
  EXPECT_THAT(k.program, HasSubstr("acc"));
  EXPECT_FALSE(k.assembly.empty());
}

TEST(Compile, IsDeterministic) {
  const char* text = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1) + bias";
  EXPECT_EQ(Must(Compile(text)).object, Must(Compile(text)).object);
}

TEST(Compile, ACacheOfPrepareFunctionsChangesNothing) {
  const Target target = *HostTarget();
  PrepareCache cache;
  Rng rng(5);
  int points = 0;
  for (const char* text :
       {"conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2, pad=1) + bias + relu",
        "conv2d(f32[1,17,8,8], f32[33,17,3,3], pad=1) + bias + relu6", "dense(f32[3,64], f32[33,64]) + bias"}) {
    const Workload w = Must(op::ParseChecked(text));
    const search::TaskSpace space = Must(propose::MakeTaskSpace(w, target));
    for (int i = 0; i < 10; ++i) {
      const auto index = space.SampleLegal(rng, 1000);
      if (!index) continue;
      const Candidate candidate = Must(propose::Instantiate(w, target, space.At(*index)));
      const CompiledKernel alone = Must(CompileKernel(w, target, candidate, {}));
      const CompiledKernel cached = Must(CompileKernel(w, target, candidate, {.prepare_cache = &cache}));
      ASSERT_TRUE(cached.prepare_object == alone.prepare_object) << text << " " << space.At(*index).Text();
      EXPECT_EQ(ArtifactDigest(cached), ArtifactDigest(alone));
      ++points;
    }
  }
  EXPECT_GT(points, 20);
  EXPECT_LT(cache.size(), static_cast<size_t>(points));
}

TEST(Compile, AFullCacheOfPrepareFunctionsBeginsAnew) {
  PrepareCache cache;
  const Target target = *HostTarget();
  const Workload w = Must(op::ParseChecked("dense(f32[3,64], f32[33,64]) + bias"));
  const Candidate candidate = Must(propose::Instantiate(w, target, Must(propose::DefaultConfig(w, target))));
  const CompiledKernel first = Must(CompileKernel(w, target, candidate, {.prepare_cache = &cache}));
  ASSERT_EQ(cache.size(), 1u);
  const std::string text = cache.begin()->first;
  for (size_t i = 1; i < kMostPrepares; ++i) cache[std::to_string(i)];
  Must(CompileKernel(w, target, candidate, {.prepare_cache = &cache}));
  EXPECT_EQ(cache.size(), kMostPrepares) << "a hit";
  cache.erase(text);
  cache["another"];
  EXPECT_EQ(Must(CompileKernel(w, target, candidate, {.prepare_cache = &cache})).prepare_object, first.prepare_object);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(cache.contains(text));
}

// The digest covers the function that packs constants.
TEST(Compile, TheDigestIsOfAllCode) {
  CompiledKernel k = Must(Compile("dense(f32[1,16], f32[16,16])"));
  const std::string digest = ArtifactDigest(k);
  ASSERT_FALSE(k.prepare_object.empty());
  k.prepare_object.back() ^= 1;
  EXPECT_NE(ArtifactDigest(k), digest);
}

// For every point, the accumulators of a tile must be accessed at constant indices, so that code generation can keep
// them in registers; in memory they cost a factor of ten.
TEST(Compile, AccumulatorsOfEveryLegalPointAreRegisters) {
  const char* workloads[] = {
      "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) + bias + relu",
      "conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1)",
      "conv2d(f32[1,512,7,7], f32[512,512,3,3], pad=1)",
      "conv2d(f32[1,64,56,56], f32[128,64,1,1], stride=2)",
      "conv2d(f32[1,80,35,35], f32[200,80,1,1])",
      "conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2, pad=3, in=nchw)",
      "conv2d(f32[2,48,13,29], f32[112,48,3,3], pad=1)",
      "conv2d(f32[1,64,17,17], f32[64,32,1,7], pad=0,3,0,3, groups=2)",
      "conv2d(f32[1,96,29,29], f32[96,1,3,3], stride=2, pad=1, groups=96)",
      "dense(f32[1,512], f32[1000,512])",
      "dense(f32[13,100], f32[70,100])",
  };
  for (int threads : {2, 5}) {
    Target target = *HostTarget();
    target.vector_bytes = 64;
    target.vector_registers = 32;
    target.threads = threads;
    for (const char* text : workloads) {
      Workload w = *op::ParseChecked(text);
      search::TaskSpace space = *propose::MakeTaskSpace(w, target);
      Rng rng(5);
      for (int i = 0; i < 12; ++i) {
        std::optional<PointIndex> index = space.SampleLegal(rng);
        ASSERT_TRUE(index.has_value()) << text;
        Config config = space.At(*index);
        const Candidate candidate = *propose::Instantiate(w, target, config);
        const op::Computation computation = *op::Compute(w, target, candidate.algorithm);
        schedule::Schedule schedule = *schedule::Schedule::Create(computation.outputs);
        Must(schedule.ApplyAll(candidate.steps));
        std::string program = ir::ToString(Must(lower::Lower(schedule, schedule.Arguments(computation.inputs), {})));
        size_t at = program.find("allocate acc");
        ASSERT_NE(at, std::string::npos);
        for (; at != std::string::npos; at = program.find("allocate acc", at + 1)) {
          std::string line = program.substr(at, program.find('\n', at) - at);
          EXPECT_THAT(line, HasSubstr("register")) << "\n" << text << "\n" << config.Text();
        }
      }
    }
  }
}

TEST(Compile, AConfigOfAnotherShapeIsRefused) {
  Workload w = *op::ParseChecked("dense(f32[1,16], f32[16,16])");
  Target target = *HostTarget();
  Config config = *propose::DefaultConfig(*op::ParseChecked("softmax(f32[1,16])"), target);
  EXPECT_EQ(LowerLoops(w, target, config).status().kind(), StatusKind::kInvalid);
}

// A cost model's view of a GPU schedule: blocks and threads are loops around everything that a thread does.
TEST(Compile, LoopsOfAGpuKeepTheirThreads) {
  Workload w = *op::ParseChecked("conv2d(f32[1,16,14,14], f32[32,16,3,3], pad=1,1,1,1) + bias + relu");
  Target target = *Target::Parse("opencl -threads=256 -block=256x256x64");
  Config config = Must(propose::DefaultConfig(w, target));
  ir::Function loops = Must(LowerLoops(w, target, config));
  const std::string text = ir::ToString(loops);
  EXPECT_THAT(text, HasSubstr("for blockIdx.x"));
  EXPECT_THAT(text, HasSubstr("for threadIdx.x (threadIdx.x"));
  EXPECT_THAT(text, HasSubstr("shared"));
}

// A single thread would take a second for the weights of a late layer, in every candidate.
TEST(Compile, ADevicePacksConstantsWithAllItsThreads) {
  const Target target = *Target::Parse("opencl -threads=256 -block=256x256x64");
  for (const char* text :
       {"conv2d(f32[1,64,14,14], f32[64,64,3,3], pad=1,1,1,1)", "conv2d(f32[1,32,9,9], f32[20,32,1,1])"}) {
    const Workload w = *op::ParseChecked(text);
    int packing = 0;
    for (const op::Template* t : (*op::FindOperator(w))->Templates(w, target)) {
      const search::Space space = *t->MakeSpace(w, target);
      const CompiledKernel kernel =
          Must(CompileKernel(w, target, Must(propose::Instantiate(w, target, *t->Default(space, w, target))), {}));
      if (!kernel.has_prepare) continue;
      ++packing;
      int64_t threads = 0;
      for (const Launch& launch : kernel.prepare.launches) {
        threads +=
            launch.grid[0] * launch.grid[1] * launch.grid[2] * launch.block[0] * launch.block[1] * launch.block[2];
      }
      int64_t elements = 0;
      for (const PreparedConstant& c : kernel.prepared) elements += c.elements;
      EXPECT_GE(threads, elements) << t->name();
    }
    EXPECT_GT(packing, 0) << text;
  }
}

// A row whose last vector is not full is computed in vectors as well, by code of its own for the tail.
TEST(Compile, RowsOfAnyLengthStayVectors) {
  Target target = *HostTarget();
  target.vector_bytes = 64, target.threads = 2;
  for (const char* text : {"exp(f32[3,197])", "add(f32[5,19], f32[5,1])", "relu(f32[19])", "prelu(f32[5,19], f32[19])",
                           "slice(f32[7,25], begin=1,2, end=6,21)", "matmul(f32[2,5,64], f32[2,64,33])"}) {
    const Workload w = Must(op::ParseChecked(text));
    const Candidate candidate = Must(propose::Instantiate(w, target, Must(propose::DefaultConfig(w, target))));
    const std::string program = Must(CompileKernel(w, target, candidate, {.keep_text = true})).program;
    EXPECT_THAT(program, HasSubstr("ramp(")) << text << "\n" << program;
    EXPECT_THAT(program, Not(HasSubstr("for (v.i"))) << text << "\n" << program;
    EXPECT_THAT(program, Not(HasSubstr("for (j.i"))) << text << "\n" << program;
  }
}

}  // namespace
}  // namespace hone::compile
