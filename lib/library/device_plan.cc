#include "library/device_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"

namespace hone::library {
namespace {

class DevicePlanner {
 public:
  DevicePlanner(const graph::Graph& graph, const NetworkPlan& plan, const std::vector<NetworkKernel>& kernels,
                const graph::ParameterValues& parameters)
      : graph_(graph), plan_(plan), kernels_(kernels), parameters_(parameters) {}

  Result<DevicePlan> Run() {
    LayOutArena();
    for (const PlannedNode& node : plan_.nodes) {
      if (Status s = AddNode(node); !s.ok()) return s.WithContext("node `" + node.name + "`");
    }
    Join();
    return std::move(out_);
  }

 private:
  // Packings, kept separately until all nodes are planned.
  struct Packing {
    std::vector<DeviceUpload> uploads;
    std::vector<DeviceLaunch> launches;
  };

  DevicePlace Take(DeviceMemory memory, int64_t bytes) {
    int64_t& end = out_.memory[static_cast<size_t>(memory)];
    const DevicePlace place{memory, end, bytes};
    end += (std::max<int64_t>(bytes, 1) + plan_.alignment - 1) / plan_.alignment * plan_.alignment;
    return place;
  }

  // Intermediate tensors, the kernels' shared workspaces, inputs and outputs.
  void LayOutArena() {
    Take(DeviceMemory::kArena, plan_.arena_bytes);
    const int64_t begin = out_.memory[0];
    int64_t end = begin;
    for (const NetworkKernel& kernel : kernels_) {
      for (const auto* entry : {&kernel.compiled.kernel, &kernel.compiled.prepare}) {
        std::vector<DevicePlace>& places = workspaces_[entry];
        out_.memory[0] = begin;  // one kernel runs at a time
        for (const int64_t bytes : entry->workspace_buffers) places.push_back(Take(DeviceMemory::kArena, bytes));
        end = std::max(end, out_.memory[0]);
      }
    }
    out_.memory[0] = end;
    for (const auto& [name, type] : InputsOf(graph_)) out_.inputs.push_back(Take(DeviceMemory::kArena, BytesOf(type)));
    for (const auto& [name, type] : OutputsOf(graph_))
      out_.outputs.push_back(Take(DeviceMemory::kArena, BytesOf(type)));
  }

  Result<size_t> Blob(const PlannedNode& node, size_t operand) {
    HONE_ASSIGN_OR_RETURN(std::string bytes, RawConstant(node.operands[operand], parameters_));
    auto [found, added] = blobs_.emplace(Digest128(bytes), out_.blobs.size());
    if (added) out_.blobs.push_back({node.name + "/" + node.operands[operand].operand.name, std::move(bytes)});
    return found->second;
  }

  // The place of an operand that is not packed.
  Result<DevicePlace> PlaceOf(const PlannedNode& node, size_t index) {
    const PlannedOperand& operand = node.operands[index];
    const auto at = static_cast<size_t>(operand.index);
    switch (operand.place) {
      case Place::kInput:
        return out_.inputs[at];
      case Place::kOutput:
        return out_.outputs[at];
      case Place::kArena:
        return DevicePlace{DeviceMemory::kArena, operand.offset, operand.operand.PhysicalBytes()};
      case Place::kConstant:
        break;
    }
    HONE_ASSIGN_OR_RETURN(const size_t blob, Blob(node, index));
    auto [found, added] = constants_.emplace(blob, DevicePlace());
    if (added) {
      found->second = Take(DeviceMemory::kConstants, static_cast<int64_t>(out_.blobs[blob].bytes.size()));
      out_.uploads.push_back({blob, found->second});
    }
    return found->second;
  }

  std::vector<DeviceLaunch> LaunchesOf(const EntryPoint& entry, size_t module, const std::vector<DevicePlace>& args) {
    std::vector<DeviceLaunch> launches;
    for (const Launch& launch : entry.launches) {
      DeviceLaunch& out = launches.emplace_back();
      out.module = module;
      out.launch = &launch;
      for (const int arg : launch.args) {
        out.args.push_back(arg >= 0 ? args[static_cast<size_t>(arg)]
                                    : workspaces_.at(&entry)[static_cast<size_t>(~arg)]);
      }
    }
    return launches;
  }

  // The packed constants of a node; nodes with the same kernel and equal values share them.
  Result<std::vector<DevicePlace>> Pack(const PlannedNode& node, const compile::CompiledKernel& compiled) {
    std::vector<DevicePlace> packed;
    if (!compiled.has_prepare) return packed;
    const auto module = static_cast<size_t>(node.kernel);
    std::pair<size_t, std::vector<size_t>> key{module, {}};
    for (const ArgSource& source : compiled.prepare_args) {
      if (source.kind == ArgSource::Kind::kPrepared) continue;
      HONE_ASSIGN_OR_RETURN(key.second.emplace_back(), Blob(node, static_cast<size_t>(source.index)));
    }
    if (auto found = packed_.find(key); found != packed_.end()) return found->second;
    for (const PreparedConstant& c : compiled.prepared) packed.push_back(Take(DeviceMemory::kConstants, c.Bytes()));
    Packing packing;
    std::vector<DevicePlace> args;
    int64_t& staging = out_.memory[static_cast<size_t>(DeviceMemory::kStaging)];
    const int64_t most = std::exchange(staging, 0);
    auto blob = key.second.begin();
    for (const ArgSource& source : compiled.prepare_args) {
      if (source.kind == ArgSource::Kind::kPrepared) {
        args.push_back(packed[static_cast<size_t>(source.index)]);
        continue;
      }
      args.push_back(Take(DeviceMemory::kStaging, static_cast<int64_t>(out_.blobs[*blob].bytes.size())));
      packing.uploads.push_back({*blob++, args.back()});
    }
    staging = std::max(most, staging);
    packing.launches = LaunchesOf(compiled.prepare, module, args);
    packings_.push_back(std::move(packing));
    packed_[key] = packed;
    return packed;
  }

  Status AddNode(const PlannedNode& node) {
    const auto module = static_cast<size_t>(node.kernel);
    const compile::CompiledKernel& compiled = kernels_[module].compiled;
    HONE_ASSIGN_OR_RETURN(const std::vector<DevicePlace> packed, Pack(node, compiled));
    std::vector<DevicePlace> args;
    for (const ArgSource& source : compiled.kernel_args) {
      const auto index = static_cast<size_t>(source.index);
      if (source.kind == ArgSource::Kind::kPrepared) {
        args.push_back(packed[index]);
      } else {
        HONE_ASSIGN_OR_RETURN(args.emplace_back(), PlaceOf(node, index));
      }
    }
    std::vector<DeviceLaunch> launches = LaunchesOf(compiled.kernel, module, args);
    out_.nodes.push_back({out_.launches.size(), launches.size()});
    std::move(launches.begin(), launches.end(), std::back_inserter(out_.launches));
    return Status();
  }

  void Join() {
    out_.constant_uploads = out_.uploads.size();
    for (Packing& packing : packings_) {
      DevicePacking& out = out_.packings.emplace_back();
      out.first_upload = out_.uploads.size();
      out.upload_count = packing.uploads.size();
      out.launches = {out_.launches.size(), packing.launches.size()};
      std::move(packing.uploads.begin(), packing.uploads.end(), std::back_inserter(out_.uploads));
      std::move(packing.launches.begin(), packing.launches.end(), std::back_inserter(out_.launches));
    }
  }

  const graph::Graph& graph_;
  const NetworkPlan& plan_;
  const std::vector<NetworkKernel>& kernels_;
  const graph::ParameterValues& parameters_;
  DevicePlan out_;
  std::map<const EntryPoint*, std::vector<DevicePlace>> workspaces_;
  std::map<Digest, size_t> blobs_;
  std::map<size_t, DevicePlace> constants_;                                            // by blob
  std::map<std::pair<size_t, std::vector<size_t>>, std::vector<DevicePlace>> packed_;  // by kernel and raw blobs
  std::vector<Packing> packings_;
};

}  // namespace

Result<DevicePlan> PlanDevice(const graph::Graph& graph, const NetworkPlan& plan,
                              const std::vector<NetworkKernel>& kernels, const graph::ParameterValues& parameters) {
  return DevicePlanner(graph, plan, kernels, parameters).Run();
}

}  // namespace hone::library
