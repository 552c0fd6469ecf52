// A lowered function, run by the interpreter, gives exactly the te DAG's values for any steps, for CPUs and for GPUs.
// The interpreter also reports accesses out of bounds, reads of unwritten memory, dependent parallel loops (by its
// order of iterations), races between threads, and barriers that some threads do not reach.
#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include "agree/trial.h"
#include "base/rng.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"

namespace hone::agree {
namespace {

class Agree : public testing::TestWithParam<int> {
 protected:
  // Up to `most` random steps each; `seed` is that of the first schedule. At least `percent` of them must run.
  static void Check(Steps kind, int schedules, int most, int seed, int percent) {
    const int problem = GetParam();
    const Prepared prepared = Prepare(AllProblems()[problem], problem);
    int ran = 0, tensorized = 0;
    for (int i = 0; i < schedules; ++i) {
      const uint64_t schedule_seed = Mix64(problem * 1000 + seed + i);
      const std::optional<Trial> trial = MakeTrial(prepared, schedule_seed, i == 0 ? 0 : 4 + i % most, "kernel", kind);
      ASSERT_FALSE(HasFailure());
      if (!trial) continue;
      const std::string shown = trial->context + ir::ToString(trial->function);
      if (kind != Steps::kCpu) {
        const Result<ir::DeviceProgram> program = ir::SplitKernels(trial->function);
        ASSERT_TRUE(program.ok()) << program.status().message() << "\n" << shown;
      }
      Buffers buffers(prepared);
      const Status status =
          ir::Run(trial->function, buffers.arguments(), {ir::ParallelOrder::kShuffled, schedule_seed});
      ASSERT_TRUE(status.ok()) << status.message() << "\n" << shown;
      ASSERT_EQ(buffers.Difference(), "") << shown;
      ++ran;
      tensorized += shown.find("= dot4(") != std::string::npos;
    }
    EXPECT_GE(ran, schedules * percent / 100) << "lowering refused the others";
    const bool bytes = kind == Steps::kCpu && prepared.problem.name.starts_with("bytes");
    EXPECT_EQ(tensorized > 0, bytes) << tensorized;
  }
};

TEST_P(Agree, InterpreterWithDefinition) { Check(Steps::kCpu, 60, 30, 0, 90); }
TEST_P(Agree, GpuWithDefinition) { Check(Steps::kGpu, 40, 40, 250, 60); }
TEST_P(Agree, TiledGpuWithDefinition) { Check(Steps::kTiled, 24, 40, 250, 60); }

INSTANTIATE_TEST_SUITE_P(All, Agree, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
