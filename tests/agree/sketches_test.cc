// Random computations have a sketch, and random points of all their sketches give exactly the values of the definition,
// by the interpreter, by machine code, and by OpenCL.
#include <fmt/format.h>

#include <map>

#include "agree/on_opencl.h"
#include "agree/opencl_trials.h"
#include "agree/random_dag.h"
#include "agree/trial.h"
#include "base/file.h"
#include "base/rng.h"
#include "codegen/llvm/codegen.h"
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "runtime/host/loader.h"
#include "schedule/schedule.h"
#include "sketch/sketch.h"

namespace hone::agree {
namespace {

constexpr int kDags = 200, kMostStages = 12, kGroups = 8;

struct Counts {
  int64_t drawn = 0, refused = 0;
};

Target Machine(uint64_t seed) {
  Target target = Must(HostTarget());
  target.threads = 1 + static_cast<int>(seed % 3);
  return target;
}
Target OpenCl() { return Must(Target::Parse("opencl -threads=256 -block=256x256x64")); }
Target Gpu(uint64_t seed) {
  return seed % 2 == 0 ? OpenCl() : Must(Target::Parse("cuda -arch=sm_80 -multiprocessors=108"));
}

// A legal point of each sketch, and its default. Refused ones are counted.
std::vector<Trial> Draw(const Prepared& prepared, const Target& target, uint64_t seed, int points, Counts* counts) {
  std::vector<Trial> trials;
  const std::vector<sketch::Sketch> sketches = sketch::MakeSketches(prepared.problem.outputs, {}, target);
  EXPECT_FALSE(sketches.empty()) << prepared.problem.name;
  for (const sketch::Sketch& sketch : sketches) {
    const search::Space space = sketch::SpaceOf(sketch);
    Rng rng(seed);
    for (int i = 0; i < points; ++i) {
      const auto index = space.SampleLegal(rng);
      if (!index) ADD_FAILURE() << prepared.problem.name << ": no legal point of " << sketch.name;
      if (!index) break;
      const Config config = i == 0 ? Must(sketch::BestByEstimate(sketch, space)) : space.At(*index);
      ++counts->drawn;
      schedule::Schedule schedule = Must(schedule::Schedule::Create(prepared.problem.outputs));
      Status status;
      const std::vector<Step> steps = Must(sketch::StepsOf(sketch, config));
      for (const Step& step : steps) {
        if (status.ok()) status = schedule.Apply(step);
      }
      lower::LowerOptions options{.gpu = target.family() == kGpuFamily};
      options.name = fmt::format("kernel{}", trials.size());
      options.verify = true;
      const Result<ir::Function> function =
          status.ok() ? lower::Lower(schedule, prepared.Args(), options) : Result<ir::Function>(status);
      const std::string context = fmt::format("{}, {}\n{}", prepared.problem.name, config.Text(), StepsText(steps));
      if (!function.ok()) {
        ++counts->refused;
        ADD_FAILURE() << function.status().message() << "\n" << context;
        continue;
      }
      trials.push_back({*function, context});
    }
  }
  return trials;
}

class RandomDags : public OnOpenCl<int> {};

// In any order of what may run at the same time.
void ExpectAgreeOnInterpreter(const Prepared& prepared, const Trial& trial, uint64_t seed) {
  Buffers buffers(prepared);
  const Status status = ir::Run(trial.function, buffers.arguments(), {ir::ParallelOrder::kShuffled, seed});
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << trial.context << ir::ToString(trial.function);
  ASSERT_EQ(buffers.Difference(), "") << trial.context << ir::ToString(trial.function);
}

TEST_P(RandomDags, EachRulesPointsAgreeOnTheInterpreter) {
  Counts counts;
  for (int dag = GetParam(); dag < kDags; dag += kGroups) {
    const uint64_t seed = static_cast<uint64_t>(dag);
    const Prepared prepared = Prepare(RandomDag(seed, kMostStages), seed);
    for (const Trial& trial : Draw(prepared, Machine(seed), seed, 4, &counts)) {
      ExpectAgreeOnInterpreter(prepared, trial, seed);
    }
  }
  EXPECT_GE(counts.drawn, kDags / kGroups * 4);
  EXPECT_EQ(counts.refused, 0) << "of " << counts.drawn;
}

TEST_P(RandomDags, EachRulesKernelsForGpusAgreeOnTheInterpreter) {
  Counts counts;
  for (int dag = GetParam(); dag < kDags; dag += kGroups) {
    const uint64_t seed = static_cast<uint64_t>(dag) + 2000;
    const Prepared prepared = Prepare(RandomDag(seed, kMostStages), seed);
    for (const Trial& trial : Draw(prepared, Gpu(seed), seed, 3, &counts)) {
      const Result<ir::DeviceProgram> kernels = ir::SplitKernels(trial.function);
      ASSERT_TRUE(kernels.ok()) << kernels.status().message() << "\n" << trial.context;
      ExpectAgreeOnInterpreter(prepared, trial, seed);
    }
  }
  EXPECT_GE(counts.drawn, kDags / kGroups * 3);
  EXPECT_EQ(counts.refused, 0) << "of " << counts.drawn;
}

TEST_P(RandomDags, EachRulesKernelsForGpusAgreeOnOpenCl) {
  if (why_not_.kind() == StatusKind::kNotFound) GTEST_SKIP() << why_not_.message();
  ASSERT_TRUE(why_not_.ok()) << why_not_.message();
  Counts counts;
  for (int dag = GetParam(); dag < kDags; dag += 4 * kGroups) {
    const uint64_t seed = static_cast<uint64_t>(dag) + 3000;
    const Prepared prepared = Prepare(RandomDag(seed, kMostStages), seed);
    ExpectAgreeOnOpenCl(device_.get(), prepared, Draw(prepared, OpenCl(), seed, 2, &counts));
  }
}

TEST_P(RandomDags, EachRulesPointsAgreeAsMachineCode) {
  Counts counts;
  runtime::ThreadPool pool = Must(runtime::ThreadPool::Create(2, /*pin=*/false));
  for (int dag = GetParam(); dag < kDags; dag += 4 * kGroups) {
    const uint64_t seed = static_cast<uint64_t>(dag) + 1000;
    const Prepared prepared = Prepare(RandomDag(seed, kMostStages), seed);
    const Target target = Machine(seed);
    const std::vector<Trial> trials = Draw(prepared, target, seed, 3, &counts);
    std::vector<ir::Function> functions;
    for (const Trial& trial : trials) functions.push_back(trial.function);
    const codegen::ObjectCode code = Must(codegen::CompileToObject(functions, target, {}));
    const TempDir dir = Must(TempDir::Create());
    const std::string path = dir.Join("kernels.so");
    Must(codegen::LinkShared({{"kernels", code.object}}, {}, path));
    const runtime::LoadedModule module = Must(runtime::LoadedModule::Open(path));
    for (size_t i = 0; i < trials.size(); ++i) {
      runtime::KernelRunner runner = Must(runtime::KernelRunner::Create(module, code.entries[i], &pool));
      Buffers buffers(prepared);
      runner.Run(buffers.pointers());
      ASSERT_EQ(buffers.Difference(), "") << trials[i].context << ir::ToString(trials[i].function);
    }
  }
}

TEST(RandomDagsTogether, MeetEachRule) {
  std::map<std::string, int> met;
  for (uint64_t seed = 0; seed < kDags; ++seed) {
    const Problem problem = RandomDag(seed, kMostStages);
    for (const Target& target : {Machine(seed), Gpu(seed)}) {
      for (const sketch::Sketch& sketch : sketch::MakeSketches(problem.outputs, {}, target)) ++met[sketch.name];
    }
  }
  for (const sketch::DerivationRule& rule : sketch::Rules()) {
    if (!rule.direct) continue;  // algorithms_test.cc has these
    EXPECT_GE(met[rule.name], 3) << rule.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomDags, testing::Range(0, kGroups));

}  // namespace
}  // namespace hone::agree
