#include "unit/op/kernel_case.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/rng.h"
#include "codegen/llvm/codegen.h"
#include "op/shapes.h"

namespace hone::testing {

std::vector<float*> OperandData::Pointers() {
  std::vector<float*> pointers;
  for (std::vector<float>& v : values) pointers.push_back(v.data());
  return pointers;
}

Result<OperandData> MakeOperandData(const Workload& workload, const Target& target, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload.op));
  OperandData data;
  data.operands = op->Operands(workload, target);
  Rng rng(seed);
  for (const op::Operand& operand : data.operands) {
    std::vector<float> stored(operand.PhysicalElements(), std::numeric_limits<float>::quiet_NaN());
    if (operand.role != op::OperandRole::kOutput) {
      std::vector<double> plain(operand.logical.Elements());
      int64_t fan_in = 1;
      if (operand.name == "weight") fan_in = operand.logical.Elements() / operand.logical.shape[0];
      double scale = std::sqrt(1.0 / static_cast<double>(fan_in));
      for (double& v : plain) v = scale * (rng.UniformDouble() * 3.4 - 1.7);
      op::WritePlain(operand, plain, stored.data());
    }
    data.values.push_back(std::move(stored));
  }
  return data;
}

Result<KernelCase> KernelCase::Create(const Workload& workload, const Target& target, const Config& config,
                                      runtime::ThreadPool* pool, bool keep_text) {
  static int serial = 0;
  KernelCase c;
  compile::CompileOptions options;
  options.verify = true;
  options.keep_text = keep_text;
  HONE_ASSIGN_OR_RETURN(c.compiled_, compile::CompileKernel(workload, target, config, options));
  std::string path = std::filesystem::temp_directory_path() /
                     ("hone-case-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".so");
  Status linked = codegen::LinkShared({{"kernel", c.compiled_.object}}, {}, path);
  Result<runtime::LoadedModule> module = linked.ok() ? runtime::LoadedModule::Open(path) : linked;
  std::filesystem::remove(path);
  HONE_RETURN_IF_ERROR(module.status());
  c.module_.push_back(*std::move(module));
  HONE_ASSIGN_OR_RETURN(runtime::KernelRunner kernel,
                        runtime::KernelRunner::Create(c.module_[0], c.compiled_.kernel, pool));
  c.runners_.push_back(std::move(kernel));
  if (c.compiled_.has_prepare) {
    HONE_ASSIGN_OR_RETURN(runtime::KernelRunner prepare,
                          runtime::KernelRunner::Create(c.module_[0], c.compiled_.prepare, pool));
    c.runners_.push_back(std::move(prepare));
  }
  return c;
}

Status KernelCase::Load(const OperandData& data) {
  operands_.clear(), prepared_.clear(), args_.clear();
  for (const std::vector<float>& values : data.values) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer, runtime::AlignedBuffer::Create(values.size() * 4, true));
    std::memcpy(buffer.data(), values.data(), values.size() * 4);
    operands_.push_back(std::move(buffer));
  }
  for (const compile::PreparedConstant& p : compiled_.prepared) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer,
                          runtime::AlignedBuffer::Create(p.elements * p.type.bytes(), true));
    std::memset(buffer.data(), 0xff, buffer.bytes());
    prepared_.push_back(std::move(buffer));
  }
  auto resolve = [&](const std::vector<compile::ArgSource>& sources) {
    std::vector<void*> args;
    for (const compile::ArgSource& s : sources) {
      bool operand = s.kind == compile::ArgSource::Kind::kOperand;
      args.push_back((operand ? operands_[s.index] : prepared_[s.index]).data());
    }
    return args;
  };
  args_ = resolve(compiled_.kernel_args);
  kernel_ = &runners_[0];
  if (compiled_.has_prepare) runners_[1].Run(resolve(compiled_.prepare_args));
  return Status::Ok();
}

Difference Compare(const std::vector<float>& reference, const float* output) {
  Difference d;
  for (size_t i = 0; i < reference.size(); ++i) {
    double error =
        std::abs(static_cast<double>(output[i]) - reference[i]) / std::max(1.0, std::abs(double{reference[i]}));
    if (!(error <= d.worst)) d = {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, i};
  }
  return d;
}

}  // namespace hone::testing
