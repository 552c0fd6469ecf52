#include "library/backend.h"

#include <utility>

#include "library/device_plan.h"
#include "library/tables.h"
#include "target/backend_table.h"

namespace hone::library {

Result<LinkedParts> DeviceBackend::Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const {
  const BuildInput& input = parts.input;
  HONE_ASSIGN_OR_RETURN(const DevicePlan device, PlanDevice(parts.graph, *plan, built->kernels, parts.values));
  HONE_ASSIGN_OR_RETURN(const Target host, HostTarget());
  ParamsFile params = MakeParamsFile(input.graph.name, device.blobs);
  HONE_ASSIGN_OR_RETURN(std::string tables, MakeDeviceTables(parts.graph, input.target, *plan, built->kernels, device,
                                                             params, host.triple));
  built->workspace_bytes = device.memory[0];
  return LinkedParts{{{"the tables", std::move(tables)}}, std::move(params)};
}

Result<const Backend*> FindBackend(const Target& target) {
#define HONE_BACKEND(folder, Name) &Name##Libraries(),
  static const BackendTable<Backend> table("runtime for network libraries", {
#include "target/backends.def"
                                                                            });
#undef HONE_BACKEND
  return table.Find(target);
}

}  // namespace hone::library
