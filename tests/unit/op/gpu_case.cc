#include "unit/op/gpu_case.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "interpreter/interpreter.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"
#include "propose/propose.h"

namespace hone::testing {
namespace {

using Values = std::vector<std::vector<float>>;

Status RunFunction(const ir::Function& f, const std::vector<ArgSource>& sources, Values* operands, Values* prepared,
                   uint64_t seed) {
  HONE_RETURN_IF_ERROR(ir::SplitKernels(f).status());
  std::vector<ir::RunArgument> arguments;
  for (const ArgSource& source : sources) {
    Values& from = source.kind == ArgSource::Kind::kPrepared ? *prepared : *operands;
    std::vector<float>& v = from[static_cast<size_t>(source.index)];
    arguments.push_back({v.data(), static_cast<int64_t>(v.size())});
  }
  const ir::ParallelOrder orders[] = {ir::ParallelOrder::kShuffled, ir::ParallelOrder::kReversed,
                                      ir::ParallelOrder::kForward};
  return ir::Run(f, arguments, {orders[seed % 3], seed});
}

}  // namespace

std::vector<std::vector<float>> MakeGpuOperands(const Workload& workload, const Target& target, uint64_t seed) {
  std::vector<std::vector<float>> values;
  Rng rng(seed);
  for (const Operand& operand : (*op::FindOperator(workload))->Operands(workload, target)) {
    std::vector<float> v(static_cast<size_t>(operand.PhysicalElements()), std::numeric_limits<float>::quiet_NaN());
    if (operand.role != OperandRole::kOutput) {
      for (float& x : v) x = static_cast<float>(static_cast<int>(rng.UniformInt(17)) - 8) / 8;
    }
    values.push_back(std::move(v));
  }
  return values;
}

Result<compile::LoweredKernel> LowerGpu(const Workload& workload, const Target& target, const Candidate& candidate,
                                        const std::string& symbol) {
  compile::CompileOptions options{.symbol = symbol, .verify = true};
  return compile::LowerKernel(workload, target, candidate, options);
}

Result<compile::LoweredKernel> LowerGpu(const Workload& workload, const Target& target, const Config& config,
                                        const std::string& symbol) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(workload, target, config));
  return LowerGpu(workload, target, candidate, symbol);
}

Status RunOnInterpreter(const compile::LoweredKernel& kernel, uint64_t seed,
                        std::vector<std::vector<float>>* operands) {
  Values prepared;
  for (const PreparedConstant& p : kernel.prepared) {
    prepared.emplace_back(static_cast<size_t>(p.elements), std::numeric_limits<float>::quiet_NaN());
  }
  if (kernel.has_prepare) {
    const Status packed = RunFunction(kernel.functions[1], kernel.prepare_args, operands, &prepared, seed);
    if (!packed.ok()) return packed.WithContext("prepare: " + ir::ToString(kernel.functions[1].body));
  }
  Status status = RunFunction(kernel.functions[0], kernel.kernel_args, operands, &prepared, seed);
  return status.ok() ? status : status.WithContext(ir::ToString(kernel.functions[0].body));
}

Status RunOnInterpreter(const Workload& workload, const Target& target, const Config& config, uint64_t seed,
                        std::vector<std::vector<float>>* operands) {
  HONE_ASSIGN_OR_RETURN(const compile::LoweredKernel kernel, LowerGpu(workload, target, config));
  return RunOnInterpreter(kernel, seed, operands);
}

std::string DiffersFromReference(const Workload& workload, const Target& target,
                                 const std::vector<std::vector<float>>& operands) {
  Values expected = operands;
  std::vector<void*> pointers;
  for (std::vector<float>& v : expected) pointers.push_back(v.data());
  (*op::FindOperator(workload))->Reference(workload, target, pointers);
  for (size_t i = 0; i < expected.back().size(); ++i) {
    const float want = expected.back()[i], got = operands.back()[i];
    if (std::abs(want - got) <= 1e-4F * std::max(1.0F, std::abs(want)) || want == got) continue;
    if (std::isnan(want) && std::isnan(got)) continue;
    return fmt::format("element {} is {}, not {}", i, got, want);
  }
  return "";
}

std::string CheckGpu(const Workload& workload, const Target& target, const Config& config, uint64_t seed) {
  const std::string point = workload.Text() + "\n" + config.Text() + "\n";
  const Result<compile::LoweredKernel> kernel = LowerGpu(workload, target, config);
  if (!kernel.ok()) return point + kernel.status().message();
  Values operands = MakeGpuOperands(workload, target, seed);
  const Status status = RunOnInterpreter(*kernel, seed, &operands);
  if (!status.ok()) return point + status.message();
  const std::string differs = DiffersFromReference(workload, target, operands);
  return differs.empty() ? "" : point + differs;
}

GpuPoints::GpuPoints(const std::string& text, const Target& target, const std::string& template_name, uint64_t seed)
    : w(*op::ParseChecked(text)), space(template_name), rng(seed) {
  for (const op::Template* each : (*op::FindOperator(w))->Templates(w, target)) {
    if (each->name() == template_name) t = each;
  }
  if (t == nullptr) throw std::runtime_error(text + " has no " + template_name);
  space = *t->MakeSpace(w, target);
}

}  // namespace hone::testing
