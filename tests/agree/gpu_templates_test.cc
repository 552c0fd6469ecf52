// Every template and every rule of sketches for GPUs gives the result of its operator's reference at any point of its
// space: run by the interpreter, which also reports races between threads and barriers that some threads do not reach,
// and by OpenCL (usually PoCL's CPU). The kernels that pack constants are included.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agree/gpu_workloads.h"
#include "agree/on_device.h"
#include "agree/on_opencl.h"
#include "codegen/opencl/codegen.h"
#include "common/expect.h"
#include "propose/propose.h"
#include "unit/op/gpu_case.h"

namespace hone::agree {
namespace {

constexpr int kInterpreted = 2, kOnDevice = 1;  // points of each workload, in addition to the default

struct Point {
  Workload workload;
  Config config;
  compile::LoweredKernel kernel;
  std::string Text() const { return workload.Text() + "\n" + config.Text() + "\n"; }
};

// The default and some points of each workload that has the source; few may lack a legal point. Their kernels are
// named "point0", "point1", ...
std::vector<Point> Draw(const std::string& name, const Target& target, int points, uint64_t seed) {
  std::vector<Point> drawn;
  int wanted = 0, sampled = 0;
  Rng rng(seed);
  for (const Workload& w : GpuWorkloadsOf(name, target)) {
    const GpuSource source = *FindGpuSource(name, w, target);
    const search::Space* space = &source.space;
    std::vector<Config> configs;
    if (const Result<Config> preferred = source.preferred(); preferred.ok()) configs.push_back(*preferred);
    const size_t defaults = configs.size();
    for (int i = 0; i < points && space->size() > 1; ++i) {
      ++wanted;
      if (const std::optional<PointIndex> index = space->SampleLegal(rng)) configs.push_back(space->At(*index));
    }
    sampled += static_cast<int>(configs.size() - defaults);
    for (const Config& config : configs) {
      Result<compile::LoweredKernel> kernel =
          testing::LowerGpu(w, target, Must(source.candidate(config)), fmt::format("point{}", drawn.size()));
      EXPECT_TRUE(kernel.ok()) << w.Text() << "\n" << config.Text() << "\n" << kernel.status().message();
      if (kernel.ok()) drawn.push_back({w, config, *std::move(kernel)});
    }
  }
  EXPECT_GE(sampled, wanted * 9 / 10) << "the other workloads have no legal point";
  return drawn;
}

// Built without tuning.
TEST(AgreeGpuWorkloads, EachHasADefault) {
  for (const char* text : {"cuda -arch=sm_61", "cuda -arch=sm_90", "opencl"}) {
    const Target target = *Target::Parse(text);
    for (const std::string& workload : SmallGpuWorkloads()) {
      const Result<Workload> w = op::ParseChecked(workload);
      ASSERT_TRUE(w.ok()) << workload << ": " << w.status().message();
      EXPECT_TRUE(propose::DefaultConfig(*w, target).ok()) << workload << " for " << text;
    }
  }
}

class AgreeGpuTemplates : public OnOpenCl<std::string> {};

TEST_P(AgreeGpuTemplates, InterpreterWithReference) {
  const Target target = *Target::Parse("cuda -arch=sm_90");  // supports all templates
  const std::vector<Point> points = Draw(GetParam(), target, kInterpreted, 1);
  ASSERT_FALSE(points.empty()) << "no workload of gpu_workloads.cc has it";
  uint64_t seed = 0;
  for (const Point& p : points) {
    std::vector<std::vector<float>> operands = testing::MakeGpuOperands(p.workload, target, ++seed);
    const Status ran = testing::RunOnInterpreter(p.kernel, seed, &operands);
    ASSERT_TRUE(ran.ok()) << p.Text() << ran.message();
    ASSERT_EQ(testing::DiffersFromReference(p.workload, target, operands), "") << p.Text();
  }
}

TEST_P(AgreeGpuTemplates, OpenClWithReference) {
  if (why_not_.kind() == StatusKind::kNotFound) GTEST_SKIP() << why_not_.message();
  ASSERT_TRUE(why_not_.ok()) << why_not_.message();
  const Target target = *Target::Parse("opencl -threads=256 -block=256x256x64");
  const std::vector<Point> points = Draw(GetParam(), target, kOnDevice, 2);
  if (points.empty()) {
    EXPECT_EQ(GetParam(), "conv2d_gpu_tensor") << "all others have a point here: that one is for CUDA alone";
    return;
  }
  // One program, as compiling each point separately would take most of the time.
  std::vector<ir::Function> functions;
  for (const Point& p : points) functions.insert(functions.end(), p.kernel.functions.begin(), p.kernel.functions.end());
  const Result<Artifact> artifact = codegen::CompileToOpenCl(functions, target);
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const auto module = device_->Load(*artifact);
  ASSERT_TRUE(module.ok()) << module.status().message() << "\n" << artifact->bytes;
  uint64_t seed = 100;
  for (const Point& p : points) {
    std::vector<std::vector<float>> operands = testing::MakeGpuOperands(p.workload, target, ++seed);
    const Status ran = RunOnDevice(device_.get(), module->get(), p.kernel, p.kernel.functions[0].name, &operands);
    ASSERT_TRUE(ran.ok()) << p.Text() << ran.message();
    ASSERT_EQ(testing::DiffersFromReference(p.workload, target, operands), "") << p.Text() << artifact->bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, AgreeGpuTemplates, ::testing::ValuesIn(GpuSourceNames()),
                         [](const ::testing::TestParamInfo<std::string>& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace hone::agree
