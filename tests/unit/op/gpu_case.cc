#include "unit/op/gpu_case.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/rng.h"
#include "ir/device_kernels.h"
#include "ir/interpreter.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "schedule/schedule.h"

namespace hone::testing {
namespace {

using Values = std::map<std::string, std::vector<float>*>;

int64_t Elements(const te::Tensor& t) {
  int64_t n = 1;
  for (int64_t extent : t.shape()) n *= extent;
  return n;
}

Status RunFunction(const ir::Function& f, const std::vector<te::Tensor>& args, const Values& values, uint64_t seed) {
  std::vector<ir::RunArgument> arguments;
  for (const te::Tensor& t : args) {
    std::vector<float>& v = *values.at(t.name());
    if (static_cast<int64_t>(v.size()) != Elements(t)) {
      return Status::Invalid(fmt::format("{} has {} elements, not {}", t.name(), Elements(t), v.size()));
    }
    arguments.push_back({v.data(), Elements(t)});
  }
  const ir::ParallelOrder orders[] = {ir::ParallelOrder::kShuffled, ir::ParallelOrder::kReversed,
                                      ir::ParallelOrder::kForward};
  return ir::Run(f, arguments, {orders[seed % 3], seed});
}

}  // namespace

std::vector<std::vector<float>> MakeGpuOperands(const Workload& workload, const Target& target, uint64_t seed) {
  std::vector<std::vector<float>> values;
  Rng rng(seed);
  for (const op::Operand& operand : (*op::FindOperator(workload))->Operands(workload, target)) {
    std::vector<float> v(static_cast<size_t>(operand.PhysicalElements()), std::numeric_limits<float>::quiet_NaN());
    if (operand.role != op::OperandRole::kOutput) {
      for (float& x : v) x = static_cast<float>(static_cast<int>(rng.UniformInt(17)) - 8) / 8;
    }
    values.push_back(std::move(v));
  }
  return values;
}

Result<ir::Function> LowerGpu(const Workload& workload, const Target& target, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const op::Instance instance, op::Instantiate(workload, target, config));
  HONE_ASSIGN_OR_RETURN(schedule::Schedule schedule, schedule::Schedule::Create(instance.outputs));
  HONE_RETURN_IF_ERROR(schedule.ApplyAll(instance.steps));
  lower::LowerOptions options;
  options.gpu = true;
  options.verify = true;
  return lower::Lower(schedule, instance.args, options);
}

Status RunOnInterpreter(const Workload& workload, const Target& target, const Config& config, uint64_t seed,
                        std::vector<std::vector<float>>* operands) {
  HONE_ASSIGN_OR_RETURN(op::Instance instance, op::Instantiate(workload, target, config));
  Values values;
  for (size_t i = 0; i < instance.placeholders.size(); ++i) {
    values[instance.placeholders[i].name()] = &(*operands)[i];
  }
  values[instance.outputs[0].name()] = &operands->back();
  std::map<std::string, std::vector<float>> packed;
  HONE_ASSIGN_OR_RETURN(auto prepare, schedule::PrepareSchedule(instance.outputs));
  lower::LowerOptions options;
  options.verify = true;
  if (prepare) {
    std::vector<te::Tensor> args = prepare->inputs();
    for (const te::Tensor& t : prepare->outputs()) {
      packed[t.name()].assign(static_cast<size_t>(Elements(t)), std::numeric_limits<float>::quiet_NaN());
      values[t.name()] = &packed[t.name()];
      args.push_back(t);
    }
    HONE_ASSIGN_OR_RETURN(const ir::Function f, lower::Lower(*prepare, args, options));
    HONE_RETURN_IF_ERROR(RunFunction(f, args, values, seed).WithContext("prepare"));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Function f, LowerGpu(workload, target, config));
  HONE_RETURN_IF_ERROR(ir::SplitKernels(f).status());
  Status status = RunFunction(f, instance.args, values, seed);
  return status.ok() ? status : status.WithContext(ir::ToString(f.body));
}

std::string CheckGpu(const Workload& workload, const Target& target, const Config& config, uint64_t seed) {
  std::vector<std::vector<float>> operands = MakeGpuOperands(workload, target, seed);
  const Status status = RunOnInterpreter(workload, target, config, seed, &operands);
  const std::string point = workload.Text() + "\n" + config.Text() + "\n";
  if (!status.ok()) return point + status.message();
  std::vector<std::vector<float>> expected = operands;
  std::vector<float*> pointers;
  for (std::vector<float>& v : expected) pointers.push_back(v.data());
  (*op::FindOperator(workload))->Reference(workload, target, pointers);
  for (size_t i = 0; i < expected.back().size(); ++i) {
    const float want = expected.back()[i], got = operands.back()[i];
    if (std::abs(want - got) <= 1e-4F * std::max(1.0F, std::abs(want)) || want == got) continue;
    return fmt::format("{}element {} is {}, not {}", point, i, got, want);
  }
  return "";
}

}  // namespace hone::testing
