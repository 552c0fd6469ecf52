// Machine code gives exactly what the te DAG says, whatever the steps; with two threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agree/trial.h"
#include "base/file.h"
#include "base/rng.h"
#include "codegen/llvm/codegen.h"
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
  Result<Target> target = HostTarget();
  ASSERT_TRUE(target.ok()) << target.status().message();
  Result<codegen::ObjectCode> code = codegen::CompileToObject(functions, *target, {});
  ASSERT_TRUE(code.ok()) << code.status().message();
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  const std::string path = dir->Join("kernels.so");
  Status linked = codegen::LinkShared({{"kernels", code->object}}, {}, path);
  ASSERT_TRUE(linked.ok()) << linked.message();
  Result<runtime::LoadedModule> module = runtime::LoadedModule::Open(path);
  ASSERT_TRUE(module.ok()) << module.status().message();
  Result<runtime::ThreadPool> pool = runtime::ThreadPool::Create(2, /*pin=*/false);
  ASSERT_TRUE(pool.ok()) << pool.status().message();
  for (size_t i = 0; i < trials.size(); ++i) {
    Result<runtime::KernelRunner> runner = runtime::KernelRunner::Create(*module, code->entries[i], &*pool);
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    Buffers buffers(prepared);
    runner->Run(buffers.pointers());
    ASSERT_EQ(buffers.Difference(), "") << trials[i].context << ir::ToString(trials[i].function);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Agree, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
