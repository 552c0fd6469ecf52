#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "compile/backend.h"
#include "ir/printer.h"
#include "lower/bounds.h"
#include "lower/lower.h"
#include "lower/passes.h"
#include "propose/propose.h"
#include "schedule/schedule.h"
#include "semantics/attributes.h"
#include "target/architecture.h"

namespace hone::compile {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The position of `tensor` in `list`, by name, which is unique in a DAG (a schedule's rewrites keep names, not nodes);
// -1 if absent.
int Position(const std::vector<te::Tensor>& list, const te::Tensor& tensor) {
  auto found = std::find_if(list.begin(), list.end(), [&](const te::Tensor& t) { return t.name() == tensor.name(); });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

// The source of each argument: an operand (placeholders in operand order, then outputs) or a prepared constant.
std::vector<ArgSource> Sources(const std::vector<te::Tensor>& args, const op::Computation& computation,
                               const std::vector<te::Tensor>& constants) {
  std::vector<ArgSource> sources;
  for (const te::Tensor& arg : args) {
    ArgSource source;
    if (int i = Position(computation.inputs, arg); i >= 0) {
      source.index = i;
    } else if (int c = Position(constants, arg); c >= 0) {
      source = {ArgSource::Kind::kPrepared, c};
    } else {
      int o = Position(computation.outputs, arg);
      HONE_CHECK(o >= 0);
      source.index = static_cast<int>(computation.inputs.size()) + o;
    }
    sources.push_back(source);
  }
  return sources;
}

// A kernel that reads other types than it is given would leave its buffers.
Status CheckTypes(const op::Computation& computation, const std::vector<Operand>& operands) {
  std::vector<te::Tensor> tensors = computation.inputs;
  tensors.insert(tensors.end(), computation.outputs.begin(), computation.outputs.end());
  for (size_t i = 0; i < std::min(tensors.size(), operands.size()); ++i) {
    if (tensors[i].type() == operands[i].logical.type) continue;
    return Status::Invalid("the computation has `{}` as {}, but the operand is {}", operands[i].name,
                           ToString(tensors[i].type()), operands[i].logical.Text());
  }
  return Status();
}

Result<schedule::Schedule> MakeSchedule(const op::Computation& computation, const std::vector<Step>& steps) {
  HONE_ASSIGN_OR_RETURN(schedule::Schedule schedule, schedule::Schedule::Create(computation.outputs));
  HONE_RETURN_IF_ERROR(schedule.ApplyAll(steps));
  return schedule;
}

}  // namespace

Result<LoweredKernel> LowerKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                  const CompileOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Backend* backend, FindBackend(target));
  HONE_ASSIGN_OR_RETURN(const op::Computation computation, op::Compute(workload, target, candidate.algorithm));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  const std::vector<Operand> operands = op->Operands(workload, target);
  HONE_RETURN_IF_ERROR(CheckTypes(computation, operands));
  HONE_ASSIGN_OR_RETURN(const schedule::Schedule schedule, MakeSchedule(computation, candidate.steps));
  const auto lowered = [&](const schedule::Schedule& what, const std::vector<te::Tensor>& args,
                           const std::string& name) {
    return lower::Lower(what, args, {.name = name, .gpu = backend->lowers_for_gpu(), .verify = options.verify});
  };
  LoweredKernel kernel;
  const std::vector<te::Tensor> args = schedule.Arguments(computation.inputs);
  HONE_ASSIGN_OR_RETURN(kernel.functions.emplace_back(), lowered(schedule, args, options.symbol));
  HONE_ASSIGN_OR_RETURN(const std::optional<schedule::Schedule> prepare, backend->PrepareSchedule(schedule, target));
  std::vector<te::Tensor> constants;
  if (prepare) {
    constants = prepare->outputs();
    std::vector<te::Tensor> prepare_args = prepare->inputs();
    prepare_args.insert(prepare_args.end(), constants.begin(), constants.end());
    HONE_ASSIGN_OR_RETURN(kernel.functions.emplace_back(),
                          lowered(*prepare, prepare_args, options.symbol + "_prepare"));
    kernel.has_prepare = true;
    kernel.prepare_args = Sources(prepare_args, computation, constants);
    for (const ArgSource& read : kernel.prepare_args) {  // once, before all runs
      if (read.kind == ArgSource::Kind::kPrepared || operands[read.index].role == OperandRole::kConstant) continue;
      return Status::Invalid("`{}` differs between runs: only constants can be packed", operands[read.index].name);
    }
    for (const te::Tensor& c : constants) {
      kernel.prepared.push_back({c.name(), c.type(), semantics::Product(c.shape())});
    }
  }
  kernel.kernel_args = Sources(args, computation, constants);
  kernel.arithmetic = computation.arithmetic;
  kernel.rounding = computation.rounding;
  return kernel;
}

Result<CompiledKernel> CompileKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                     const CompileOptions& options) {
  Clock::time_point start = Clock::now();
  HONE_ASSIGN_OR_RETURN(LoweredKernel lowered, LowerKernel(workload, target, candidate, options));
  const std::vector<ir::Function>& functions = lowered.functions;
  CompiledKernel kernel;
  static_cast<KernelInterface&>(kernel) = lowered;
  kernel.lower_seconds = SecondsSince(start);

  start = Clock::now();
  HONE_ASSIGN_OR_RETURN(const Backend* backend, FindBackend(target));
  HONE_ASSIGN_OR_RETURN(std::vector<EntryPoint> entries, backend->Generate(functions, target, options, &kernel));
  HONE_CHECK(entries.size() == (kernel.has_prepare ? 2U : 1U));
  kernel.kernel = std::move(entries[0]);
  if (kernel.has_prepare) kernel.prepare = std::move(entries[1]);
  kernel.codegen_seconds = SecondsSince(start);
  if (options.keep_text) {
    for (const ir::Function& f : functions) kernel.program += ir::ToString(f);
  }
  return kernel;
}

Status PrepareHere(const Workload& workload, const Target& target, const Candidate& candidate,
                   const CompileOptions& options, CompiledKernel* kernel) {
  HONE_ASSIGN_OR_RETURN(LoweredKernel lowered, LowerKernel(workload, target, candidate, options));
  Target here;  // the baseline
  HONE_ASSIGN_OR_RETURN(here.triple, HostTriple());
  here.cpu = StartsWith(here.triple, "x86_64") ? "x86-64" : "generic";
  HONE_ASSIGN_OR_RETURN(codegen::ObjectCode code,
                        codegen::CompileToObject({lowered.functions.at(1)}, here, {.separate_products = true}));
  kernel->prepare_object = std::move(code.object);
  kernel->prepare = std::move(code.entries[0]);
  return Status();
}

void AddObjects(const CompiledKernel& kernel, std::vector<codegen::LinkInput>* objects) {
  objects->push_back({kernel.kernel.symbol, kernel.object});
  if (!kernel.prepare_object.empty()) objects->push_back({kernel.prepare.symbol, kernel.prepare_object});
}

std::string ArtifactDigest(const CompiledKernel& kernel) {
  Hasher hasher;
  hasher.AddField(kernel.object);
  if (!kernel.prepare_object.empty()) hasher.AddField(kernel.prepare_object);
  hasher.AddField(EntriesText({kernel.kernel}));
  if (kernel.has_prepare) hasher.AddField(EntriesText({kernel.prepare}));
  return hasher.Finish().Hex();
}

Result<ir::Function> LowerLoops(const Workload& workload, const Target& target, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(workload, target, config));
  return LowerLoops(workload, target, candidate);
}

Result<ir::Function> LowerLoops(const Workload& workload, const Target& target, const Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const Backend* backend, FindBackend(target));
  HONE_ASSIGN_OR_RETURN(const op::Computation computation, op::Compute(workload, target, candidate.algorithm));
  HONE_ASSIGN_OR_RETURN(const schedule::Schedule schedule, MakeSchedule(computation, candidate.steps));
  lower::Bounds bounds;
  const lower::GpuPlaces on_gpu(schedule);
  const lower::GpuPlaces* places = backend->lowers_for_gpu() ? &on_gpu : nullptr;
  if (places) HONE_RETURN_IF_ERROR(places->Check());
  lower::InferBounds(schedule, &bounds, places);
  return lower::MakeLoopNest(schedule, &bounds, schedule.Arguments(computation.inputs), "loops", places);
}

int CodegenVersion() { return VersionOf("codegen", 7); }

}  // namespace hone::compile
