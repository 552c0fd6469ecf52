#include "unit/op/kernel_case.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/rng.h"
#include "codegen/llvm/codegen.h"
#include "common/expect.h"
#include "op/shapes.h"
#include "propose/propose.h"
#include "target/architecture.h"

namespace hone::testing {

std::vector<void*> OperandData::Pointers() {
  std::vector<void*> pointers;
  for (std::vector<float>& v : values) pointers.push_back(v.data());
  return pointers;
}

namespace {

// The number of products with this operand that an output sums; 1 if it is not a factor of a sum.
int64_t FanIn(const Workload& workload, const Operand& operand) {
  if (operand.name.ends_with("weight")) {
    const bool transposed = workload.op.starts_with("conv_transpose");
    return operand.logical.Elements() / operand.logical.shape[transposed ? 1 : 0];
  }
  return operand.name == "data1" && workload.op == "matmul" ? workload.inputs[0].shape.back() : 1;
}

}  // namespace

Result<OperandData> MakeOperandData(const Workload& workload, const Target& target, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  OperandData data;
  data.operands = op->Operands(workload, target);
  Rng rng(seed);
  for (const Operand& operand : data.operands) {
    std::vector<float> stored(operand.PhysicalElements(), std::numeric_limits<float>::quiet_NaN());
    if (operand.role != OperandRole::kOutput) {
      std::vector<double> plain(operand.logical.Elements());
      double scale = std::sqrt(1.0 / static_cast<double>(FanIn(workload, operand)));
      for (double& v : plain) v = scale * (rng.UniformDouble() * 3.4 - 1.7);
      op::WritePlain(operand, plain, stored.data());
    }
    data.values.push_back(std::move(stored));
  }
  return data;
}

Result<KernelCase> KernelCase::Create(const Workload& workload, const Target& target, const Config& config,
                                      runtime::ThreadPool* pool) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(workload, target, config));
  return Create(workload, target, candidate, pool);
}

Result<KernelCase> KernelCase::Create(const Workload& workload, const Target& target, const Candidate& candidate,
                                      runtime::ThreadPool* pool) {
  static int serial = 0;
  KernelCase c;
  const compile::CompileOptions options{.verify = true};
  HONE_ASSIGN_OR_RETURN(c.compiled_, compile::CompileKernel(workload, target, candidate, options));
  const bool here = CheckRunsHere(target).ok();
  if (!here) {
    HONE_ASSIGN_OR_RETURN(EmulatedKernel emulated, EmulatedKernel::Create(c.compiled_, target.threads));
    c.emulated_.push_back(std::move(emulated));
    if (!c.compiled_.has_prepare) return c;
    HONE_RETURN_IF_ERROR(compile::PrepareHere(workload, target, candidate, options, &c.compiled_));
    c.compiled_.object.clear();
  }
  std::string path = std::filesystem::temp_directory_path() /
                     ("hone-case-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".so");
  std::vector<codegen::LinkInput> objects;
  if (here) {
    compile::AddObjects(c.compiled_, &objects);
  } else {
    objects.push_back({c.compiled_.prepare.symbol, c.compiled_.prepare_object});
  }
  Status linked = codegen::LinkShared(objects, {}, path);
  Result<runtime::LoadedModule> module = linked.ok() ? runtime::LoadedModule::Open(path) : linked;
  std::filesystem::remove(path);
  HONE_RETURN_IF_ERROR(module.status());
  c.module_.push_back(*std::move(module));
  if (c.compiled_.has_prepare) {
    HONE_ASSIGN_OR_RETURN(runtime::KernelRunner prepare,
                          runtime::KernelRunner::Create(c.module_[0], c.compiled_.prepare, pool));
    c.runners_.push_back(std::move(prepare));
  }
  if (here) {
    HONE_ASSIGN_OR_RETURN(runtime::KernelRunner kernel,
                          runtime::KernelRunner::Create(c.module_[0], c.compiled_.kernel, pool));
    c.runners_.push_back(std::move(kernel));
  }
  return c;
}

void KernelCase::Run() {
  if (emulated_.empty()) return runners_.back().Run(args_);
  std::vector<EmulatedKernel::Argument> args;
  for (size_t i = 0; i < args_.size(); ++i) {
    const ArgSource& source = compiled_.kernel_args[i];
    const bool operand = source.kind == ArgSource::Kind::kOperand;
    args.push_back(
        {static_cast<char*>(args_[i]), (operand ? operands_[source.index] : prepared_[source.index]).bytes()});
  }
  const Status run = emulated_[0].Run(args);
  EXPECT_TRUE(run.ok()) << run.message();
}

Status KernelCase::Load(const OperandData& data) {
  std::vector<std::string_view> bytes;
  for (const std::vector<float>& v : data.values)
    bytes.emplace_back(reinterpret_cast<const char*>(v.data()), v.size() * 4);
  return Load(data.operands, bytes);
}

Status KernelCase::Load(const std::vector<Operand>& operands, const std::vector<std::string_view>& bytes) {
  operands_.clear(), prepared_.clear(), args_.clear(), cold_.clear();
  described_ = operands;
  for (const std::string_view values : bytes) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer, runtime::AlignedBuffer::Create(values.size(), true));
    std::memcpy(buffer.data(), values.data(), values.size());
    operands_.push_back(std::move(buffer));
  }
  for (const PreparedConstant& p : compiled_.prepared) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer,
                          runtime::AlignedBuffer::Create(p.elements * p.type.bytes(), true));
    std::memset(buffer.data(), 0xff, buffer.bytes());
    prepared_.push_back(std::move(buffer));
  }
  auto resolve = [&](const std::vector<ArgSource>& sources) {
    std::vector<void*> args;
    for (const ArgSource& s : sources) {
      bool operand = s.kind == ArgSource::Kind::kOperand;
      args.push_back((operand ? operands_[s.index] : prepared_[s.index]).data());
    }
    return args;
  };
  args_ = resolve(compiled_.kernel_args);
  if (compiled_.has_prepare) runners_[0].Run(resolve(compiled_.prepare_args));
  return Status::Ok();
}

bool KernelCase::Intact() const {
  const auto intact = [](const auto& buffer) { return buffer.Intact(); };
  return std::all_of(operands_.begin(), operands_.end(), intact) &&
         std::all_of(prepared_.begin(), prepared_.end(), intact);
}

namespace {

// The constants among a kernel's arguments, with their bytes.
std::vector<std::pair<size_t, int64_t>> ConstantArgs(const compile::CompiledKernel& k,
                                                     const std::vector<Operand>& operands) {
  std::vector<std::pair<size_t, int64_t>> found;
  for (size_t i = 0; i < k.kernel_args.size(); ++i) {
    const ArgSource& s = k.kernel_args[i];
    bool operand = s.kind == ArgSource::Kind::kOperand;
    if (operand && operands[s.index].role != OperandRole::kConstant) continue;
    const DType type = operand ? operands[s.index].logical.type : k.prepared[s.index].type;
    int64_t elements = operand ? operands[s.index].PhysicalElements() : k.prepared[s.index].elements;
    found.emplace_back(i, elements * type.bytes());
  }
  return found;
}

int64_t Lined(int64_t bytes) { return (bytes + 63) / 64 * 64; }

struct TouchJob {
  volatile float* data;
  int64_t lines;
};

}  // namespace

Status KernelCase::MakeCold(int64_t bytes) {
  std::vector<std::pair<size_t, int64_t>> constants = ConstantArgs(compiled_, described_);
  int64_t one = 0;
  for (auto [arg, size] : constants) one += Lined(size);
  int64_t copies = one == 0 ? 0 : std::max<int64_t>(2, std::min<int64_t>(bytes / one, 4096));
  for (int64_t c = 0; c < copies; ++c) {
    HONE_ASSIGN_OR_RETURN(runtime::AlignedBuffer buffer, runtime::AlignedBuffer::Create(one, false));
    int64_t at = 0;
    for (auto [arg, size] : constants) {
      std::memcpy(buffer.data() + at, args_[arg], size);
      at += Lined(size);
    }
    cold_.push_back(std::move(buffer));
  }
  return Status::Ok();
}

void KernelCase::NextCold() {
  if (cold_.empty()) return;
  next_cold_ = (next_cold_ + 1) % cold_.size();
  int64_t at = 0;
  for (auto [arg, size] : ConstantArgs(compiled_, described_)) {
    args_[arg] = cold_[next_cold_].data() + at;
    at += Lined(size);
  }
}

void KernelCase::TouchData(runtime::ThreadPool* pool) {
  for (size_t i = described_.size(); i-- > 0;) {
    if (described_[i].role != OperandRole::kData) continue;
    TouchJob job{reinterpret_cast<volatile float*>(operands_[i].data()), operands_[i].bytes() / 64};
    auto body = [](void* closure, int64_t begin, int64_t end, char*) {
      const TouchJob& t = *static_cast<const TouchJob*>(closure);
      for (int64_t line = begin; line < end; ++line) t.data[line * 16] = t.data[line * 16];
    };
    hone_pool_launch(pool->get(), body, &job, job.lines);
  }
}

Difference Compare(const std::vector<float>& reference, const float* output) {
  Difference d;
  for (size_t i = 0; i < reference.size(); ++i) {
    if (std::isnan(reference[i]) && std::isnan(output[i])) continue;
    if (std::isinf(reference[i]) && output[i] == reference[i]) continue;
    double error =
        std::abs(static_cast<double>(output[i]) - reference[i]) / std::max(1.0, std::abs(double{reference[i]}));
    if (!(error <= d.worst)) d = {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, i};
  }
  return d;
}

}  // namespace hone::testing
