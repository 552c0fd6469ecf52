#include "library/sharing.h"

#include <cstring>
#include <set>

#include "base/rng.h"
#include "library/backend.h"
#include "op/operator.h"
#include "runtime/host/buffer.h"
#include "runtime/host/loader.h"
#include "runtime/host/thread_pool.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

using runtime::AlignedBuffer;

Result<AlignedBuffer> RandomBuffer(DType type, int64_t elements, Rng* rng) {
  HONE_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Create(elements * type.bytes()));
  std::vector<double> values(static_cast<size_t>(elements));
  for (double& v : values) v = (rng->UniformDouble() * 2 - 1) * (type.is_float() ? 1 : 128);
  FromDoubles(values, type, buffer.data());
  return buffer;
}

class Asker {
 public:
  Asker(const runtime::LoadedModule& module, runtime::ThreadPool* pool, const Target& target)
      : module_(module), pool_(pool), target_(target) {}

  Result<bool> Ask(const NetworkKernel& kernel, size_t residual) {
    HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(kernel.workload));
    const std::vector<Operand> operands = op->Operands(kernel.workload, target_);
    const size_t output = operands.size() - 1;
    if (operands[residual].physical != operands[output].physical) return false;
    Rng rng(1);
    std::vector<AlignedBuffer> buffers;
    std::vector<void*> args;
    size_t residual_at = 0, output_at = 0;
    for (const ArgSource& source : kernel.compiled.kernel_args) {
      const auto index = static_cast<size_t>(source.index);
      const bool operand = source.kind == ArgSource::Kind::kOperand;
      if (operand && index == residual) residual_at = args.size();
      if (operand && index == output) output_at = args.size();
      HONE_ASSIGN_OR_RETURN(
          buffers.emplace_back(),
          operand ? RandomBuffer(operands[index].logical.type, operands[index].PhysicalElements(), &rng)
                  : RandomBuffer(kernel.compiled.prepared[index].type, kernel.compiled.prepared[index].elements, &rng));
      args.push_back(buffers.back().data());
    }
    if (residual_at == output_at) return false;
    HONE_ASSIGN_OR_RETURN(auto runner, runtime::KernelRunner::Create(module_, kernel.compiled.kernel, pool_));
    runner.Run(args);
    args[output_at] = args[residual_at];
    runner.Run(args);
    return std::memcmp(buffers[output_at].data(), buffers[residual_at].data(),
                       static_cast<size_t>(buffers[output_at].bytes())) == 0;
  }

 private:
  const runtime::LoadedModule& module_;
  runtime::ThreadPool* pool_;
  const Target& target_;
};

class Finder {
 public:
  Finder(const graph::Graph& graph, const Target& target) : graph_(graph), target_(target) {
    for (const graph::Node& node : graph.nodes) computed_.insert(node.name);
    for (const std::string& output : graph.outputs) computed_.erase(output);
  }

  ConcatSlices Run() {
    const auto backend = FindBackend(target_);
    if (!backend.ok()) return {};
    alignment_ = (*backend)->slice_alignment();
    for (const graph::Node& node : graph_.nodes) {
      if (!node.workload.chain() && semantics::DefinitionOf(node.workload).concatenates && computed_.count(node.name))
        Try(node);
    }
    return std::move(slices_);
  }

 private:
  void Try(const graph::Node& node) {
    const Result<const op::Operator*> op = op::FindOperator(node.workload);
    if (!op.ok() || !node.workload.epilogue.empty()) return;
    const std::vector<Operand> operands = (*op)->Operands(node.workload, target_);
    const Operand& out = operands.back();
    if (operands.size() != node.inputs.size() + 1) return;
    if (out.layout == Layout::kChannelsLast) return;  // each pixel has a piece of every part
    const int64_t axis = node.workload.Numbers("axis", {1})[0];
    for (int64_t i = 0; i < axis; ++i) {
      if (out.logical.shape[static_cast<size_t>(i)] != 1) return;
    }
    std::map<std::string, Slice> parts;
    int64_t offset = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Operand& part = operands[i];
      const bool last = i + 1 == node.inputs.size();
      if (part.layout != out.layout || part.role != OperandRole::kData) return;
      // The zeros behind a ragged part would lie between two parts.
      if (part.layout == Layout::kBlocked && !last && part.logical.shape[1] % target_.ChannelBlock() != 0) return;
      if (offset % alignment_ != 0) return;
      if (!computed_.count(node.inputs[i]) || slices_.parts.count(node.inputs[i])) return;
      if (!parts.emplace(node.inputs[i], Slice{node.name, offset}).second) return;
      offset += part.PhysicalBytes();
    }
    if (offset != out.PhysicalBytes()) return;
    slices_.parts.merge(parts);
    slices_.wholes[node.name] = offset;
  }

  const graph::Graph& graph_;
  const Target& target_;
  int64_t alignment_ = 0;           // of a part within its whole
  std::set<std::string> computed_;  // tensors that nodes compute for nodes
  ConcatSlices slices_;
};

}  // namespace

int ResidualOperand(const Workload& workload, const Target& target) {
  // Inside a chain, a residual is read before the place of the output is known: only the last member's counts.
  const Workload last = workload.Parts().back();
  if (!last.HasEpilogue(EpilogueKind::kAdd)) return -1;
  const Result<const op::Operator*> op = op::FindOperator(workload);
  if (!op.ok()) return -1;
  const std::vector<Operand> operands = (*op)->Operands(workload, target);
  const std::string name = op::MemberOperandName("residual", workload.then.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].name == name && operands[i].role == OperandRole::kData) return static_cast<int>(i);
  }
  return -1;
}

Result<std::vector<bool>> InPlaceKernels(const std::vector<NetworkKernel>& kernels, const Target& target) {
  std::vector<bool> in_place(kernels.size(), false);
  std::vector<codegen::LinkInput> adding;
  for (const NetworkKernel& kernel : kernels) {
    if (ResidualOperand(kernel.workload, target) >= 0)
      adding.push_back({kernel.compiled.kernel.symbol, kernel.compiled.object});
  }
  if (adding.empty()) return in_place;
  HONE_ASSIGN_OR_RETURN(runtime::LoadedModule module, LoadObjects(adding));
  HONE_ASSIGN_OR_RETURN(runtime::ThreadPool pool, runtime::ThreadPool::Create(1, false));
  Asker asker(module, &pool, target);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int residual = ResidualOperand(kernels[i].workload, target);
    if (residual < 0) continue;
    HONE_ASSIGN_OR_RETURN(in_place[i], asker.Ask(kernels[i], static_cast<size_t>(residual)));
  }
  return in_place;
}

Slice ConcatSlices::Find(const std::string& tensor) const {
  Slice at{tensor, 0};
  for (auto part = parts.find(tensor); part != parts.end(); part = parts.find(at.whole)) {
    at.offset += part->second.offset;
    at.whole = part->second.whole;
  }
  return at;
}

ConcatSlices FindConcatSlices(const graph::Graph& graph, const Target& target) { return Finder(graph, target).Run(); }

}  // namespace hone::library
