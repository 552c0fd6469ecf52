// A lowered function, run by the interpreter, gives exactly what its te DAG says, whatever the steps. The interpreter
// also reports accesses out of bounds, reads of what was never written, and (by its order of iterations) dependent
// parallel loops.
#include "ir/interpreter.h"

#include <gtest/gtest.h>

#include "agree/trial.h"
#include "base/rng.h"
#include "ir/printer.h"

namespace hone::agree {
namespace {

constexpr int kSchedulesPerProblem = 60;

class Agree : public testing::TestWithParam<int> {};

TEST_P(Agree, InterpreterWithDefinition) {
  const Prepared prepared = Prepare(AllProblems()[GetParam()], GetParam());
  int ran = 0;
  for (int i = 0; i < kSchedulesPerProblem; ++i) {
    const uint64_t seed = Mix64(GetParam() * 1000 + i);
    std::optional<Trial> trial = MakeTrial(prepared, seed, i == 0 ? 0 : 4 + i % 30, "kernel");
    ASSERT_FALSE(HasFailure());
    if (!trial) continue;
    Buffers buffers(prepared);
    std::vector<ir::RunArgument> run;
    for (size_t k = 0; k < buffers.sizes().size(); ++k) run.push_back({buffers.pointers()[k], buffers.sizes()[k]});
    Status status = ir::Run(trial->function, run, {ir::ParallelOrder::kShuffled, seed});
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << trial->context << ir::ToString(trial->function);
    ASSERT_EQ(buffers.Difference(), "") << trial->context << ir::ToString(trial->function);
    ++ran;
  }
  EXPECT_GE(ran, kSchedulesPerProblem * 9 / 10) << "lowering refused the others";
}

INSTANTIATE_TEST_SUITE_P(All, Agree, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
