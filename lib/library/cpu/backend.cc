#include "library/backend.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "graph/memory_plan.h"
#include "library/constants.h"
#include "library/sharing.h"
#include "library/tables.h"
#include "target/architecture.h"

HONE_EMBED(cpu, HONE_RUNTIME)
#ifdef HONE_RUNTIME_CROSS
HONE_EMBED(cross, HONE_RUNTIME_CROSS)
#endif

namespace hone::library {
namespace {

class HostLibraries final : public Backend {
 public:
  const TargetKind& kind() const override { return CpuKind(); }
  int64_t buffer_alignment() const override { return graph::kArenaAlignment; }
  Result<std::string_view> Runtime(const Target& target) const override {
    if (CheckRunsHere(target).ok()) return Embedded_cpu();
    const std::string architecture = Architecture(target.triple);
#ifdef HONE_RUNTIME_CROSS
    if (architecture == HONE_CROSS) return Embedded_cross();
#endif
    return Status::Unsupported(
        "this build of Hone has no runtime for {} in network libraries: install the packages {} and build Hone again",
        architecture, HONE_CROSS_PACKAGES);
  }
  bool opens_device() const override { return false; }
  void AddCompiler(const BuildInput&, Json* manifest) const override { (*manifest)["llvm"] = codegen::LlvmVersion(); }

  Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const override {
    const BuildInput& input = parts.input;
    HONE_ASSIGN_OR_RETURN(const Constants constants, MakeConstants(*plan, built->kernels, parts.values, input.threads));
    if (parts.in_place && !CheckRunsHere(input.target).ok()) {
      built->unasked = static_cast<int>(std::ranges::count_if(built->kernels, [&](const NetworkKernel& kernel) {
        return ResidualOperand(kernel.workload, input.target) >= 0;
      }));
    } else if (parts.in_place) {
      HONE_ASSIGN_OR_RETURN(const std::vector<bool> in_place, InPlaceKernels(built->kernels, input.target));
      built->in_place = WriteInPlace(in_place, input.target, plan);
    }
    LinkedParts linked{.params = MakeParamsFile(input.graph.name, constants.blobs)};
    HONE_ASSIGN_OR_RETURN(NetworkTables tables,
                          MakeTables(parts.graph, input.target, *plan, built->kernels, constants, linked.params));
    linked.objects.push_back({"the tables", std::move(tables.object)});
    for (const NetworkKernel& kernel : built->kernels) {
      linked.objects.push_back({kernel.compiled.kernel.symbol, kernel.compiled.object});
    }
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
