#include "agree/trial.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agree/steps.h"
#include "lower/lower.h"
#include "task/tensor_data.h"

namespace hone::agree {

std::vector<te::Tensor> Prepared::Args() const {
  std::vector<te::Tensor> args = problem.inputs;
  args.insert(args.end(), problem.outputs.begin(), problem.outputs.end());
  return args;
}

Prepared Prepare(const Problem& problem, uint64_t seed) {
  Prepared prepared{problem, {}};
  Rng rng(seed);
  for (const te::Tensor& t : problem.inputs) {
    int64_t size = 1;
    for (int64_t e : t.shape()) size *= e;
    std::vector<double>& values = prepared.values[t.name()];
    const double least = t.type().is_uint() ? 0 : -4;
    for (int64_t i = 0; i < size; ++i) values.push_back(static_cast<double>(rng.UniformInt(9)) + least);
  }
  EvaluateDag(problem.outputs, &prepared.values);
  return prepared;
}

std::optional<Trial> MakeTrial(const Prepared& prepared, uint64_t seed, int steps, const std::string& name,
                               Steps kind) {
  Result<schedule::Schedule> schedule = schedule::Schedule::Create(prepared.problem.outputs);
  if (!schedule.ok()) {
    ADD_FAILURE() << schedule.status().message();
    return std::nullopt;
  }
  Rng rng(seed);
  const bool gpu = kind != Steps::kCpu;
  if (kind == Steps::kTiled)
    ApplyTiledSteps(&rng, &*schedule);
  else
    ApplyRandomSteps(steps, gpu, &rng, &*schedule);
  Trial trial;
  trial.context = fmt::format("{} seed {}\n{}", prepared.problem.name, seed, StepsText(schedule->history()));
  lower::LowerOptions options;
  options.name = name;
  options.verify = true;
  options.gpu = gpu;
  Result<ir::Function> f = lower::Lower(*schedule, prepared.Args(), options);
  if (!f.ok()) {
    std::vector<std::string> expected = {"the vectorized loop", "tensorize dot4"};
    if (gpu)
      expected.insert(expected.end(), {"is tensorized with dot4", "cannot be bound to blocks",
                                       "must stand outside its reduce loops", "bound to virtual threads"});
    const std::string message = f.status().message();
    if (std::none_of(expected.begin(), expected.end(),
                     [&](const std::string& e) { return message.find(e) != std::string::npos; })) {
      ADD_FAILURE() << f.status().message() << "\n" << trial.context;
    }
    return std::nullopt;
  }
  trial.function = *f;
  return trial;
}

Buffers::Buffers(const Prepared& prepared) : prepared_(prepared) {
  const std::vector<te::Tensor> args = prepared.Args();
  for (size_t i = 0; i < args.size(); ++i) {
    const std::vector<double>& values = prepared.values.at(args[i].name());
    Buffer b;
    b.size = static_cast<int64_t>(values.size());
    const DType type = args[i].type();
    b.store.resize(values.size() * static_cast<size_t>(type.bytes()) + 64);
    const uintptr_t address = reinterpret_cast<uintptr_t>(b.store.data());
    b.data = b.store.data() + (64 - address % 64) % 64;
    const bool input = i < prepared.problem.inputs.size();
    FromDoubles(input ? values : std::vector<double>(values.size(), type.bytes() == 1 ? 113 : -77777), type, b.data);
    buffers_.push_back(std::move(b));
  }
}

std::vector<void*> Buffers::pointers() const {
  std::vector<void*> result;
  for (const Buffer& b : buffers_) result.push_back(b.data);
  return result;
}

std::vector<int64_t> Buffers::bytes() const {
  std::vector<int64_t> result;
  const std::vector<te::Tensor> args = prepared_.Args();
  for (size_t i = 0; i < args.size(); ++i) result.push_back(buffers_[i].size * args[i].type().bytes());
  return result;
}

std::vector<ir::RunArgument> Buffers::arguments() const {
  std::vector<ir::RunArgument> result;
  for (const Buffer& b : buffers_) result.push_back({b.data, b.size});
  return result;
}

std::string Buffers::Difference() const {
  const std::vector<te::Tensor> args = prepared_.Args();
  for (size_t i = 0; i < args.size(); ++i) {
    const std::vector<double>& want = prepared_.values.at(args[i].name());
    const std::vector<double> got = ToDoubles(args[i].type(), buffers_[i].data, buffers_[i].size);
    for (size_t k = 0; k < want.size(); ++k) {
      if (got[k] == want[k]) continue;
      return fmt::format("{}[{}] is {}, not {}", args[i].name(), k, got[k], want[k]);
    }
  }
  return "";
}

}  // namespace hone::agree
