#include "library/constants.h"

#include <cstring>
#include <map>
#include <optional>

#include "base/hash.h"
#include "op/shapes.h"
#include "runtime/host/buffer.h"
#include "runtime/host/loader.h"
#include "runtime/host/thread_pool.h"

namespace hone::library {
namespace {

class Maker {
 public:
  Maker(const NetworkPlan& plan, const std::vector<NetworkKernel>& kernels, const graph::ParameterValues& parameters)
      : plan_(plan), kernels_(kernels), parameters_(parameters) {}

  Result<Constants> Run(int threads) {
    HONE_RETURN_IF_ERROR(LoadPrepareFunctions(threads));
    for (const PlannedNode& node : plan_.nodes) {
      if (Status s = Add(node); !s.ok()) return s.WithContext("node `" + node.name + "`");
    }
    return std::move(constants_);
  }

 private:
  Status LoadPrepareFunctions(int threads) {
    std::vector<codegen::LinkInput> objects;
    for (const NetworkKernel& kernel : kernels_) {
      const compile::CompiledKernel& compiled = kernel.compiled;
      if (compiled.has_prepare) objects.push_back({compiled.prepare.symbol, compiled.prepare_object});
    }
    if (objects.empty()) return Status();
    HONE_ASSIGN_OR_RETURN(module_, LoadObjects(objects));
    HONE_ASSIGN_OR_RETURN(pool_, runtime::ThreadPool::Create(threads, false));
    return Status();
  }

  // Aligned, as kernels require.
  Result<runtime::AlignedBuffer> Raw(const PlannedOperand& operand) const {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, RawConstant(operand, parameters_));
    HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(static_cast<int64_t>(bytes.size())));
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }

  NodeArg Store(std::string name, std::string bytes) {
    auto [found, added] = known_.emplace(Digest128(bytes), constants_.blobs.size());
    if (added) constants_.blobs.push_back({std::move(name), std::move(bytes)});
    return {true, found->second, 0};
  }

  static std::string Bytes(const runtime::AlignedBuffer& buffer) {
    return {buffer.data(), static_cast<size_t>(buffer.bytes())};
  }

  // The packed constants of one node as bytes.
  Result<std::vector<std::string>> Prepare(const PlannedNode& node, const compile::CompiledKernel& compiled) {
    std::vector<std::string> packed;
    if (!compiled.has_prepare) return packed;
    std::vector<runtime::AlignedBuffer> raw, made;
    std::vector<void*> args;
    for (const PreparedConstant& c : compiled.prepared) {
      HONE_ASSIGN_OR_RETURN(made.emplace_back(), runtime::AlignedBuffer::Create(c.Bytes()));
    }
    for (const ArgSource& source : compiled.prepare_args) {
      if (source.kind == ArgSource::Kind::kPrepared) {
        args.push_back(made[static_cast<size_t>(source.index)].data());
        continue;
      }
      HONE_ASSIGN_OR_RETURN(raw.emplace_back(), Raw(node.operands[static_cast<size_t>(source.index)]));
      args.push_back(raw.back().data());
    }
    HONE_ASSIGN_OR_RETURN(auto runner, runtime::KernelRunner::Create(*module_, compiled.prepare, &*pool_));
    runner.Run(args);
    for (const auto& buffer : made) packed.push_back(Bytes(buffer));
    return packed;
  }

  Status Add(const PlannedNode& node) {
    const compile::CompiledKernel& compiled = kernels_[static_cast<size_t>(node.kernel)].compiled;
    HONE_ASSIGN_OR_RETURN(std::vector<std::string> packed, Prepare(node, compiled));
    std::vector<NodeArg> args;
    for (const ArgSource& source : compiled.kernel_args) {
      const auto index = static_cast<size_t>(source.index);
      if (source.kind == ArgSource::Kind::kPrepared) {
        args.push_back(Store(node.name + "/" + compiled.prepared[index].name, packed[index]));
      } else if (node.operands[index].place == Place::kConstant) {
        HONE_ASSIGN_OR_RETURN(std::string bytes, RawConstant(node.operands[index], parameters_));
        args.push_back(Store(node.name + "/" + node.operands[index].operand.name, std::move(bytes)));
      } else {
        args.push_back({false, 0, index});
      }
    }
    constants_.args.push_back(std::move(args));
    return Status();
  }

  const NetworkPlan& plan_;
  const std::vector<NetworkKernel>& kernels_;
  const graph::ParameterValues& parameters_;
  std::optional<runtime::LoadedModule> module_;
  std::optional<runtime::ThreadPool> pool_;
  Constants constants_;
  std::map<Digest, size_t> known_;
};

}  // namespace

Result<std::string> RawConstant(const PlannedOperand& operand, const graph::ParameterValues& parameters) {
  auto values = parameters.find(operand.tensor);
  if (values == parameters.end()) return Status::NotFound("no values for the parameter `" + operand.tensor + "`");
  const Operand& stored = operand.operand;
  const TensorData& given = values->second;
  if (stored.layout == Layout::kPlain) return std::string(given.view());
  std::string bytes(static_cast<size_t>(stored.PhysicalBytes()), '\0');
  op::WritePlain(stored, given.Doubles(), bytes.data());
  return bytes;
}

Result<Constants> MakeConstants(const NetworkPlan& plan, const std::vector<NetworkKernel>& kernels,
                                const graph::ParameterValues& parameters, int threads) {
  return Maker(plan, kernels, parameters).Run(threads);
}

}  // namespace hone::library
