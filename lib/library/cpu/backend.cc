#include "library/backend.h"

#include <utility>

#include "base/json.h"
#include "graph/memory_plan.h"
#include "library/constants.h"
#include "library/sharing.h"
#include "library/tables.h"

HONE_EMBED(cpu, HONE_RUNTIME)

namespace hone::library {
namespace {

class HostLibraries final : public Backend {
 public:
  const TargetKind& kind() const override { return CpuKind(); }
  int64_t buffer_alignment() const override { return graph::kArenaAlignment; }
  std::string_view runtime() const override { return Embedded_cpu(); }
  bool opens_device() const override { return false; }
  void AddCompiler(const BuildInput&, Json* manifest) const override { (*manifest)["llvm"] = codegen::LlvmVersion(); }

  Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const override {
    const BuildInput& input = parts.input;
    HONE_ASSIGN_OR_RETURN(const Constants constants, MakeConstants(*plan, built->kernels, parts.values, input.threads));
    if (parts.in_place) {
      HONE_ASSIGN_OR_RETURN(const std::vector<bool> in_place, InPlaceKernels(built->kernels, input.target));
      built->in_place = WriteInPlace(in_place, input.target, plan);
    }
    LinkedParts linked{.params = MakeParamsFile(input.graph.name, constants.blobs)};
    HONE_ASSIGN_OR_RETURN(NetworkTables tables,
                          MakeTables(parts.graph, input.target, *plan, built->kernels, constants, linked.params));
    linked.objects.push_back({"the tables", std::move(tables.object)});
    for (const NetworkKernel& kernel : built->kernels) compile::AddObjects(kernel.compiled, &linked.objects);
    built->workspace_bytes = tables.workspace_bytes;
    return linked;
  }
};

}  // namespace

const Backend& CpuLibraries() {
  static const HostLibraries backend;
  return backend;
}

}  // namespace hone::library
