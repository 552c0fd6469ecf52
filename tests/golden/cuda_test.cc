// The CUDA text of six small kernels, byte for byte. Each was reviewed line by line: which thread has which element,
// that no access leaves its array, where the block must meet; tests/agree runs the same forms.
#include "codegen/cuda/codegen.h"
#include "common/expect.h"
#include "golden/golden.h"
#include "propose/propose.h"
#include "unit/op/gpu_case.h"

namespace hone {
namespace {

// Checks the point of the layer's template with these knobs; without knobs, the default point of its sketch.
void Check(const char* name, const char* workload, const std::string& template_name, std::vector<KnobValue> values) {
  const Target target = *Target::Parse("cuda -arch=sm_80");
  const Workload w = *op::ParseChecked(workload);
  Config config;
  config.template_name = template_name;
  config.values = std::move(values);
  if (config.values.empty()) config = Must(propose::DefaultConfig(w, target));
  ASSERT_EQ(config.template_name, template_name);
  const compile::LoweredKernel kernel = Must(testing::LowerGpu(w, target, config));
  const codegen::CudaCode code = Must(codegen::WriteCuda({kernel.functions[0]}, target));
  ExpectGolden(code.source, std::string("cuda/") + name + ".cu");
}

KnobValue Split4(const char* name, int64_t v, int64_t t, int64_t i) {
  KnobValue value;
  value.name = name;
  value.kind = KnobKind::kSplit;
  value.numbers = {-1, v, t, i};
  return value;
}
KnobValue Number(const char* name, int64_t number) {
  KnobValue value;
  value.name = name;
  value.numbers = {number};
  return value;
}

TEST(GoldenCuda, Elementwise) { Check("relu", "relu(f32[2,3,7,5])", "gpu_stages", {}); }

TEST(GoldenCuda, PoolingWithPadding) {
  Check("max_pool", "max_pool2d(f32[1,2,9,9], kernel=3x3, stride=2x2, pad=1,1,1,1)", "gpu_stages", {});
}

TEST(GoldenCuda, ReductionAcrossAWarp) {
  Check("dense_rows", "dense(f32[1,100], f32[6,100]) + bias + relu", "dense_gpu_rows",
        {Number("lanes", 32), Number("outputs", 2), Number("unroll", 2)});
}

// 8 filters x 16 pixels per block, of 8 x 4 threads; the next step is fetched during the current one.
TEST(GoldenCuda, ImplicitGemmWithTwoBuffers) {
  Check("gemm", "conv2d(f32[1,8,6,6], f32[16,8,3,3], pad=1,1,1,1) + bias + relu", "conv2d_gpu_gemm",
        {Split4("tile_f", 1, 4, 2), Split4("tile_p", 2, 8, 1), Number("tile_k", 8), Number("split_k", 1),
         Number("stages", 2), Number("unroll", 2)});
}

// Three tiles at once, copied by cp.async.
TEST(GoldenCuda, ImplicitGemmWithThreeStages) {
  Check("gemm_stages", "conv2d(f32[1,8,6,6], f32[16,8,3,3], pad=1,1,1,1)", "conv2d_gpu_gemm",
        {Split4("tile_f", 1, 4, 2), Split4("tile_p", 2, 8, 1), Number("tile_k", 8), Number("split_k", 1),
         Number("stages", 3), Number("unroll", 2)});
}

// 16 filters x 16 pixels per block of two warps, side by side along the pixels; in the third block, 12 pixels are
// beyond 36.
TEST(GoldenCuda, ImplicitGemmOnTensorCores) {
  Check("gemm_tensor", "conv2d(f32[1,8,6,6], f32[16,8,3,3], pad=1,1,1,1) + bias + relu", "conv2d_gpu_tensor",
        {Number("rows", 1), Number("columns", 1), Number("warps_f", 1), Number("warps_p", 2), Number("tile_k", 16),
         Number("split_k", 1), Number("stages", 3), Number("unroll", 2)});
}

}  // namespace
}  // namespace hone
