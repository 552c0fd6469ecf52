// Machine code gives exactly the te DAG's values for any steps, with two threads.
#include <fmt/format.h>

#include "agree/trial.h"
#include "base/file.h"
#include "base/rng.h"
#include "codegen/llvm/codegen.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "runtime/host/loader.h"

namespace hone::agree {
namespace {

constexpr int kSchedulesPerProblem = 12;

class Agree : public testing::TestWithParam<int> {};

TEST_P(Agree, LlvmWithDefinition) {
  const Prepared prepared = Prepare(AllProblems()[GetParam()], GetParam());
  std::vector<Trial> trials;
  std::vector<ir::Function> functions;
  for (int i = 0; i < kSchedulesPerProblem; ++i) {
    // Other seeds than the interpreter's test has.
    const uint64_t seed = Mix64(GetParam() * 1000 + 500 + i);
    std::optional<Trial> trial = MakeTrial(prepared, seed, i == 0 ? 0 : 4 + 3 * i, fmt::format("kernel{}", i));
    ASSERT_FALSE(HasFailure());
    if (!trial) continue;
    functions.push_back(trial->function);
    trials.push_back(*std::move(trial));
  }
  EXPECT_GE(trials.size(), kSchedulesPerProblem * 9U / 10) << "lowering refused the others";
  const Target target = Must(HostTarget());
  const codegen::ObjectCode code = Must(codegen::CompileToObject(functions, target, {}));
  const TempDir dir = Must(TempDir::Create());
  const std::string path = dir.Join("kernels.so");
  Must(codegen::LinkShared({{"kernels", code.object}}, {}, path));
  const runtime::LoadedModule module = Must(runtime::LoadedModule::Open(path));
  runtime::ThreadPool pool = Must(runtime::ThreadPool::Create(2, /*pin=*/false));
  for (size_t i = 0; i < trials.size(); ++i) {
    runtime::KernelRunner runner = Must(runtime::KernelRunner::Create(module, code.entries[i], &pool));
    Buffers buffers(prepared);
    runner.Run(buffers.pointers());
    ASSERT_EQ(buffers.Difference(), "") << trials[i].context << ir::ToString(trials[i].function);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Agree, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
