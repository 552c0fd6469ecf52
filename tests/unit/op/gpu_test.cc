// Templates for GPUs: which apply, their resources, and knobs that few points have, in the interpreter.
// tests/agree/gpu_templates_test.cc tests each template on many shapes.
#include "codegen/cuda/codegen.h"
#include "common/expect.h"
#include "ir/device_kernels.h"
#include "propose/propose.h"
#include "search/space/gpu_use.h"
#include "unit/op/gpu_case.h"

namespace hone::op {
namespace {

Target Gpu(const std::string& more = "") { return *Target::Parse("opencl -threads=256 -block=256x256x64 " + more); }

std::string Names(const std::vector<const Template*>& templates) {
  std::string names;
  for (const Template* t : templates) names += std::string(names.empty() ? "" : " ") + t->name();
  return names;
}

TEST(GpuConv2d, WinogradOfEveryTile) {
  const Target target = Gpu();
  for (const char* text :
       {"conv2d(f32[1,5,19,23], f32[6,5,3,3], pad=1,1,1,1) + bias + relu", "conv2d(f32[2,4,16,17], f32[9,4,3,3]) + add",
        "conv2d(f32[1,3,20,17], f32[4,3,5,5], pad=2,2,2,2)"}) {
    testing::GpuPoints p(text, target, "conv2d_gpu_winograd");
    std::map<int64_t, int> seen;
    for (int i = 0; i < 200; ++i) {
      const Config config = p.Draw();
      if (++seen[config.Number("m")] > 2) continue;
      EXPECT_EQ(testing::CheckGpu(p.w, target, config, i), "");
    }
    EXPECT_EQ(seen.size(), p.space.knobs()[0].size());
  }
}

// The alignment of vectors decides how they are stored, not what is legal: if the number of pixels is not a multiple of
// 4, a thread's 4 are stored one by one.
TEST(GpuConv2d, VectorsOnlyWhereTheyAreAligned) {
  const Target target = *Target::Parse("cuda -arch=sm_80");
  const auto stored_as_vectors = [&](const char* text) {
    testing::GpuPoints p(text, target, "conv2d_gpu_gemm");
    int points = 0, vectors = 0;
    for (int i = 0; i < 2000 && points < 4; ++i) {
      const Config config = p.Draw();
      if (config.Sizes("tile_p")[3] != 4 || config.Number("split_k") != 1) continue;
      ++points;
      const auto lowered = Must(testing::LowerGpu(p.w, target, config));
      const auto code = Must(codegen::WriteCuda(lowered.functions, target));
      vectors += code.source.find("*(float4*)(out + ") != std::string::npos ||
                 code.source.find("*(float2*)(out + ") != std::string::npos;
    }
    EXPECT_EQ(points, 4) << text;
    return vectors;
  };
  EXPECT_GT(stored_as_vectors("conv2d(f32[1,8,8,8], f32[16,8,3,3], pad=1,1,1,1)"), 0);
  EXPECT_EQ(stored_as_vectors("conv2d(f32[1,8,7,13], f32[16,8,3,3], pad=1,1,1,1)"), 0);
}

// cp.async needs CUDA and sm_80: the interpreter executes its meaning.
TEST(GpuConv2d, ThreeAndFourStages) {
  const Target target = *Target::Parse("cuda -arch=sm_80");
  testing::GpuPoints p("conv2d(f32[1,20,9,7], f32[12,20,3,3], pad=1,1,1,1) + bias", target, "conv2d_gpu_gemm");
  std::map<int64_t, int> seen;
  for (int i = 0; i < 200 && seen[3] + seen[4] < 6; ++i) {
    const Config config = p.Draw();
    const int64_t stages = config.Number("stages");
    if (stages < 3 || seen[stages] == 3) continue;
    ++seen[stages];
    EXPECT_EQ(testing::CheckGpu(p.w, target, config, i), "");
  }
  EXPECT_EQ(seen[3] + seen[4], 6);
  const search::Space older = *p.t->MakeSpace(p.w, *Target::Parse("cuda -arch=sm_75"));
  EXPECT_EQ(older.size() * 2, p.space.size()) << "one and two stages only";
}

TEST(GpuConv2d, LongReductionsAreSplit) {
  const Target target = Gpu();
  testing::GpuPoints p("conv2d(f32[2,72,4,4], f32[8,72,2,2]) + bias + relu", target, "conv2d_gpu_gemm");
  int checked = 0;
  for (int i = 0; i < 1000 && checked < 4; ++i) {
    const Config config = p.Draw();
    if (config.Number("split_k") == 1) continue;
    EXPECT_EQ(testing::CheckGpu(p.w, target, config, i), "");
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

TEST(GpuTemplates, OfEachKindOfConvolution) {
  const auto names = [](const char* text) {
    const Workload w = *ParseChecked(text);
    return Names((*FindOperator(w))->Templates(w, Gpu()));
  };
  EXPECT_EQ(names("conv2d(f32[1,8,7,7], f32[8,8,3,3])"),
            "conv2d_gpu_gemm conv2d_nchw.cuda conv2d_gpu_winograd conv2d_nchw_winograd.cuda");
  EXPECT_EQ(names("conv2d(f32[1,8,7,7], f32[8,8,3,3], stride=2x2)"), "conv2d_gpu_gemm conv2d_nchw.cuda");
  EXPECT_EQ(names("conv2d(f32[1,8,5,5], f32[3,8,3,3])"), "") << "27 values are less than a warp";
  EXPECT_EQ(names("conv2d(f32[1,8,7,7], f32[8,1,3,3], groups=8)"), "depthwise_conv2d_nchw.cuda");
  EXPECT_EQ(names("conv2d(f32[1,8,9,9], f32[8,1,3,3], groups=8)"), "depthwise_conv2d_nchw.cuda conv_gpu_tiles");
  EXPECT_EQ(names("conv2d(f32[1,2,3,3], f32[2,1,3,3], groups=2)"), "") << "no block of a warp has factors";
  EXPECT_EQ(names("conv2d(f32[1,8,7,7], f32[8,4,3,3], groups=2)"), "") << "25 pixels are less than a warp";
  EXPECT_EQ(names("conv2d(f32[1,8,9,9], f32[8,4,3,3], groups=2)"), "conv_gpu_tiles");
  EXPECT_EQ(names("conv3d(f32[1,8,5,9,9], f32[8,8,3,3,3])"), "conv_gpu_tiles");
  EXPECT_EQ(names("matmul(f32[2,64,32], f32[2,32,64])"), "batch_matmul.cuda");
  EXPECT_EQ(names("matmul(f32[2,64,32], f32[32,64])"), "") << "the batch is broadcast";
}

// AutoTVM's tile: 4 if 8 divides the input's rows, else 2.
TEST(GpuConv2d, WinogradOfAutoTvm) {
  const Target target = Gpu();
  for (const char* text :
       {"conv2d(f32[1,5,16,11], f32[8,5,3,3], pad=1,1,1,1) + bias + relu",
        "conv2d(f32[2,6,14,14], f32[12,6,3,3], pad=1,1,1,1)", "conv2d(f32[1,4,24,20], f32[8,4,5,5])"}) {
    testing::GpuPoints p(text, target, "conv2d_nchw_winograd.cuda");
    for (int i = 0; i < 4; ++i) EXPECT_EQ(testing::CheckGpu(p.w, target, p.Draw(), i), "");
    search::Space off = p.space, two = p.space;
    p.t->Limit(p.w, {.winograd = 0}, &off);
    p.t->Limit(p.w, {.winograd = 2}, &two);
    const Config legal = p.Draw();
    EXPECT_EQ(off.Reject(legal).value_or("").substr(0, 8), "numerics");
    const bool four = p.w.inputs[0].shape[2] % 8 == 0;
    EXPECT_EQ(two.Reject(legal).value_or("").substr(0, 8), four ? "numerics" : "");
  }
}

// By hand: tiles of 8 filters (2 virtual threads x 2 threads x 2), 4 x 4 pixels (2 threads x 2 each way), a step of the
// reduction of 4 channels and the whole 3 x 3 window at stride 2: the input's part is (3*2+3) x (3*2+3) pixels.
TEST(GpuLimits, UseIsWhatTheFormulaSays) {
  const Workload w = *ParseChecked("conv2d(f32[1,16,17,17], f32[16,16,3,3], stride=2x2)");
  const Target small = Gpu("-shared=2447 -warp=8"), enough = Gpu("-shared=2448 -warp=8");
  const auto reject = [&](const Target& target) {
    const Template* t = (*FindOperator(w))->Templates(w, target)[1];
    const search::Space space = *t->MakeSpace(w, target);
    Config config = space.At(0);
    for (KnobValue& v : config.values) {
      if (v.name == "tile_f") v.numbers = {-1, 2, 2, 2};
      if (v.name == "tile_y" || v.name == "tile_x") v.numbers = {-1, 1, 2, 2};
      if (v.name == "tile_rc") v.numbers = {-1, 4};
      if (v.name == "tile_ry" || v.name == "tile_rx") v.numbers = {-1, 3};
    }
    EXPECT_TRUE(space.IndexOf(config).ok());
    return space.Reject(config).value_or("");
  };
  // 4 bytes x 4 channels x (9 x 9 + 8 x 3 x 3) = 2448.
  EXPECT_EQ(reject(small), "device: shared_memory: 2448 bytes, the device has 2447");
  EXPECT_EQ(reject(enough), "");
}

// The formula's shared memory is at least what the kernel requests.
TEST(GpuLimits, TheKernelTakesNoMoreThanTheFormulaSays) {
  for (const char* text : {"conv2d(f32[1,8,14,14], f32[16,8,3,3], pad=1,1,1,1) + bias + relu",
                           "conv2d(f32[1,16,14,14], f32[16,1,3,3], groups=16, pad=1,1,1,1)",
                           "conv2d(f32[2,5,13,11], f32[7,5,3,3], stride=2x2)", "dense(f32[32,48], f32[40,48])"}) {
    const Workload w = *ParseChecked(text);
    for (const Template* t : (*FindOperator(w))->Templates(w, Gpu())) {
      const search::Space space = *t->MakeSpace(w, Gpu());
      Rng rng(11);
      for (int i = 0; i < 12; ++i) {
        const std::optional<PointIndex> index = space.SampleLegal(rng);
        if (!index || space.size() == 1) break;
        const Config config = space.At(*index);
        const compile::LoweredKernel f = Must(testing::LowerGpu(w, Gpu(), config));
        const ir::DeviceProgram program = *ir::SplitKernels(f.functions[0]);
        for (const ir::DeviceKernel& kernel : program.kernels) {
          search::GpuUse use;
          for (int k = 0; k < 3; ++k) use.threads[k] = kernel.block[k], use.blocks[k] = kernel.grid[k];
          use.shared_bytes = kernel.shared_bytes - 16;  // rounding up each buffer's start may add this
          const std::optional<std::string> why = search::ExceedsDevice(use, Gpu().limits);
          EXPECT_FALSE(why.has_value()) << config.Text() << ": " << *why;
        }
      }
    }
  }
}

// With the shared memory of sm_90, kernels above the 48 KiB of all devices are legal, and correct.
TEST(GpuLimits, MoreSharedMemoryThanAllHave) {
  const Target usual = *Target::Parse("cuda -arch=sm_90"), all = *Target::Parse("cuda -arch=sm_90 -shared=232448");
  for (const char* name : {"conv2d_gpu_gemm", "conv2d_nchw.cuda"}) {
    testing::GpuPoints p("conv2d(f32[1,32,16,16], f32[64,32,3,3], pad=1,1,1,1) + relu", all, name);
    const search::Space less = *p.t->MakeSpace(p.w, usual);
    int found = 0;
    for (int i = 0; i < 20000 && found < 2; ++i) {
      const Config config = p.Draw();
      const std::string why = less.Reject(config).value_or("");
      if (why.find("device: shared_memory: ") != 0) continue;
      ++found;
      const auto lowered = Must(testing::LowerGpu(p.w, all, config));
      const ir::DeviceProgram program = *ir::SplitKernels(lowered.functions[0]);
      int64_t most = 0;
      for (const ir::DeviceKernel& kernel : program.kernels) most = std::max(most, kernel.shared_bytes);
      EXPECT_GT(most, 49152) << config.Text();
      EXPECT_LE(most, 232448) << config.Text();
      EXPECT_EQ(testing::CheckGpu(p.w, all, config, 5), "");
    }
    EXPECT_EQ(found, 2) << name;
  }
}

// All legal points are equally likely, whether drawn by parts or not.
TEST(GpuSampling, DrawsEachLegalPointAlike) {
  const Workload w = *ParseChecked("dense(f32[32,4], f32[12,4])");
  const Target target = *Target::Parse("opencl -threads=64 -warp=16");
  const Template* t = (*FindOperator(w))->Templates(w, target)[1];
  const search::Space space = *t->MakeSpace(w, target);
  std::vector<PointIndex> legal;
  space.ForEach(0, space.size(), [&](PointIndex index, bool is_legal) {
    if (is_legal) legal.push_back(index);
    return true;
  });
  ASSERT_GT(legal.size(), 100U);
  ASSERT_LT(legal.size(), space.size() / 2);
  std::vector<int> seen(space.size());
  Rng rng(5);
  const int draws = 40 * static_cast<int>(legal.size());
  for (int i = 0; i < draws; ++i) ++seen[*space.SampleLegal(rng)];
  double chi = 0;
  for (PointIndex index : legal) chi += (seen[index] - 40.0) * (seen[index] - 40.0) / 40;
  int drawn = 0;
  for (PointIndex index : legal) drawn += seen[index];
  EXPECT_EQ(drawn, draws) << "only legal points";
  // Chi squared with n - 1 degrees of freedom: mean n - 1, deviation sqrt(2 n); 5 deviations.
  const double n = static_cast<double>(legal.size());
  EXPECT_LT(chi, n - 1 + 5 * std::sqrt(2 * n));
}

// A maximum is NaN if any of its values is: in one thread's part, and where threads combine theirs.
TEST(GpuValues, NanStaysInMaxima) {
  for (const char* text : {"max_pool2d(f32[1,4,5,5], kernel=3x3, pad=1,1,1,1)", "global_max_pool(f32[1,4,3,3])",
                           "reduce_max(f32[3,200], axes=1)", "reduce_min(f32[200])"}) {
    SCOPED_TRACE(text);
    const Workload w = *ParseChecked(text);
    std::vector<std::vector<float>> operands = testing::MakeGpuOperands(w, Gpu(), 5);
    for (size_t at : {size_t{0}, operands[0].size() / 2}) operands[0][at] = NAN;
    std::vector<float> reference = operands.back();
    (*FindOperator(w))->Reference(w, Gpu(), {operands[0].data(), reference.data()});
    EXPECT_GT(std::count_if(reference.begin(), reference.end(), [](float v) { return std::isnan(v); }), 0);
    Must(testing::RunOnInterpreter(w, Gpu(), *propose::DefaultConfig(w, Gpu()), 3, &operands));
    for (size_t i = 0; i < reference.size(); ++i) {
      EXPECT_TRUE(std::isnan(reference[i]) ? std::isnan(operands.back()[i]) : operands.back()[i] == reference[i]) << i;
    }
  }
}

}  // namespace
}  // namespace hone::op
