// A function lowered for a GPU, run by the interpreter, gives exactly what its te DAG says, whatever the steps. The
// interpreter also reports races between threads and barriers that some threads do not come to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agree/trial.h"
#include "base/rng.h"
#include "ir/device_kernels.h"
#include "ir/interpreter.h"
#include "ir/printer.h"

namespace hone::agree {
namespace {

constexpr int kSchedulesPerProblem = 40;
constexpr int kTiledPerProblem = 24;

class AgreeGpu : public testing::TestWithParam<int> {};

void Check(int problem, int schedules, Steps kind) {
  const Prepared prepared = Prepare(AllProblems()[problem], problem);
  int ran = 0;
  for (int i = 0; i < schedules; ++i) {
    const uint64_t seed = Mix64(problem * 1000 + 250 + i);
    std::optional<Trial> trial = MakeTrial(prepared, seed, i == 0 ? 0 : 4 + i % 40, "kernel", kind);
    ASSERT_FALSE(testing::Test::HasFailure());
    if (!trial) continue;
    Result<ir::DeviceProgram> program = ir::SplitKernels(trial->function);
    ASSERT_TRUE(program.ok()) << program.status().message() << "\n" << trial->context;
    Buffers buffers(prepared);
    std::vector<ir::RunArgument> run;
    for (size_t k = 0; k < buffers.sizes().size(); ++k) run.push_back({buffers.pointers()[k], buffers.sizes()[k]});
    Status status = ir::Run(trial->function, run, {ir::ParallelOrder::kShuffled, seed});
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << trial->context << ir::ToString(trial->function);
    ASSERT_EQ(buffers.Difference(), "") << trial->context << ir::ToString(trial->function);
    ++ran;
  }
  EXPECT_GE(ran, schedules * 6 / 10) << "lowering refused the others";
}

TEST_P(AgreeGpu, RandomSteps) { Check(GetParam(), kSchedulesPerProblem, Steps::kGpu); }
TEST_P(AgreeGpu, TiledSteps) { Check(GetParam(), kTiledPerProblem, Steps::kTiled); }

INSTANTIATE_TEST_SUITE_P(All, AgreeGpu, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
