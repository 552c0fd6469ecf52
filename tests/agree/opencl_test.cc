// C text for devices gives exactly the te DAG's values for any steps: run by OpenCL (usually PoCL's CPU), and accepted
// by NVRTC without a warning.
#include <fmt/format.h>

#include "agree/on_opencl.h"
#include "agree/opencl_trials.h"
#include "agree/trial.h"
#include "base/rng.h"
#include "codegen/opencl/codegen.h"
#include "common/nvrtc.h"
#include "ir/printer.h"

namespace hone::agree {
namespace {

constexpr int kRandom = 1, kTiled = 2;

Target DeviceTarget(const TargetKind& kind, const std::string& arch = "") {
  Target target;
  target.kind = &kind;
  target.cpu = arch;
  return target;
}

// Seeds differ from those of the interpreter's test. Leaves out schedules that exceed the device.
std::vector<Trial> Trials(const Prepared& prepared, int problem) {
  std::vector<Trial> trials;
  for (int i = 0; i < kRandom + kTiled; ++i) {
    const uint64_t seed = Mix64(problem * 1000 + 750 + i);
    const Steps kind = i < kRandom ? Steps::kGpu : Steps::kTiled;
    std::optional<Trial> trial = MakeTrial(prepared, seed, 4 + 7 * i + problem % 11, fmt::format("kernel{}", i), kind);
    if (!trial) continue;
    const Status status = codegen::CompileToOpenCl({trial->function}, DeviceTarget(OpenClKind())).status();
    if (status.kind() == StatusKind::kUnsupported && status.message().find(" needs ") != std::string::npos) continue;
    EXPECT_TRUE(status.ok()) << status.message() << "\n" << trial->context << ir::ToString(trial->function);
    trials.push_back(*std::move(trial));
  }
  EXPECT_GE(trials.size(), static_cast<size_t>(kRandom + kTiled) / 2) << "the others need more than a device has";
  return trials;
}

std::vector<ir::Function> Functions(const std::vector<Trial>& trials) {
  std::vector<ir::Function> functions;
  for (const Trial& trial : trials) functions.push_back(trial.function);
  return functions;
}

class AgreeDevice : public OnOpenCl<int> {
 protected:
  static void CompileByNvrtc(const std::string& arch) {
    if (const std::string why = NoNvrtcFor(arch); !why.empty()) GTEST_SKIP() << why;
    const Prepared prepared = Prepare(AllProblems()[GetParam()], GetParam());
    codegen::CudaOptions options;
    options.warnings_fail = true;
    const auto code =
        codegen::CompileToCuda(Functions(Trials(prepared, GetParam())), DeviceTarget(CudaKind(), arch), options);
    ASSERT_TRUE(code.ok()) << arch << ": " << code.status().message();
    for (const codegen::KernelResources& r : code->resources) EXPECT_GT(r.registers, 0) << arch << ": " << r.symbol;
  }
};

TEST_P(AgreeDevice, OpenClWithDefinition) {
  if (why_not_.kind() == StatusKind::kNotFound) GTEST_SKIP() << why_not_.message();
  ASSERT_TRUE(why_not_.ok()) << why_not_.message();
  const Prepared prepared = Prepare(AllProblems()[GetParam()], GetParam());
  const std::vector<Trial> trials = Trials(prepared, GetParam());
  ASSERT_FALSE(trials.empty());
  ExpectAgreeOnOpenCl(device_.get(), prepared, trials);
}

TEST_P(AgreeDevice, NvrtcWithoutAWarning) {
  for (const char* arch : {"sm_80", "sm_90"}) CompileByNvrtc(arch);
}
TEST_P(AgreeDevice, NvrtcForSm70WithoutAWarning) { CompileByNvrtc("sm_70"); }

INSTANTIATE_TEST_SUITE_P(All, AgreeDevice, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
