// A lowered function, run by the interpreter, gives exactly what its te DAG says, whatever the steps. Inputs are small
// integers, so that every sum is exact in f32 in any order. The interpreter also reports accesses out of bounds and reads
// of what was never written.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agree/problems.h"
#include "agree/random_steps.h"
#include "agree/te_eval.h"
#include "ir/interpreter.h"
#include "ir/printer.h"
#include "lower/lower.h"

namespace hone::agree {
namespace {

constexpr int kSchedulesPerProblem = 60;

std::vector<double> RandomIntegers(const te::Tensor& t, Rng* rng) {
  int64_t size = 1;
  for (int64_t e : t.shape()) size *= e;
  std::vector<double> values(size);
  for (double& v : values) v = static_cast<double>(rng->UniformInt(9)) - 4;
  return values;
}

class Agree : public testing::TestWithParam<int> {};

void RunOne(const Problem& problem, const Values& expected, const schedule::Schedule& schedule, uint64_t seed) {
  std::string context = fmt::format("{} seed {}\n{}", problem.name, seed, StepsText(schedule.history()));
  std::vector<te::Tensor> args = problem.inputs;
  args.insert(args.end(), problem.outputs.begin(), problem.outputs.end());
  lower::LowerOptions options;
  Result<ir::Function> f = lower::Lower(schedule, args, options);
  if (!f.ok() && f.status().message().find("vectorized loop") != std::string::npos) return;  // more lanes than allowed
  ASSERT_TRUE(f.ok()) << f.status().message() << "\n" << context;
  std::vector<std::vector<float>> buffers;
  std::vector<ir::RunArgument> run;
  for (const te::Tensor& t : args) {
    const std::vector<double>& v = expected.at(t.name());
    buffers.emplace_back(v.begin(), v.end());
    const bool output = buffers.size() > problem.inputs.size();
    if (output) std::fill(buffers.back().begin(), buffers.back().end(), -77.f);
  }
  for (auto& b : buffers) run.push_back({b.data(), static_cast<int64_t>(b.size())});
  Status status = ir::Run(*f, run, {ir::ParallelOrder::kShuffled, seed});
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << context << ir::ToString(*f);
  for (size_t i = problem.inputs.size(); i < args.size(); ++i) {
    const std::vector<double>& want = expected.at(args[i].name());
    for (size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(buffers[i][k], want[k]) << args[i].name() << "[" << k << "] of " << context << ir::ToString(*f);
    }
  }
}

TEST_P(Agree, InterpreterWithDefinition) {
  Problem problem = AllProblems()[GetParam()];
  Rng rng(1000 + GetParam());
  Values values;
  for (const te::Tensor& t : problem.inputs) values[t.name()] = RandomIntegers(t, &rng);
  EvaluateDag(problem.outputs, &values);
  for (int i = 0; i < kSchedulesPerProblem; ++i) {
    const uint64_t seed = Mix64(GetParam() * 1000 + i);
    Rng steps(seed);
    Result<schedule::Schedule> schedule = schedule::Schedule::Create(problem.outputs);
    ASSERT_TRUE(schedule.ok()) << schedule.status().message();
    if (i > 0) ApplyRandomSteps(4 + i % 30, &steps, &*schedule);
    RunOne(problem, values, *schedule, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Agree, testing::Range(0, static_cast<int>(AllProblems().size())),
                         [](const testing::TestParamInfo<int>& p) { return AllProblems()[p.param].name; });

}  // namespace
}  // namespace hone::agree
