#include "op/space_version.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "op/operator.h"

namespace hone::op {

Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  std::vector<std::string> parts;
  for (const Template* t : op->Templates(workload, target)) {
    parts.push_back(fmt::format("{}={}", t->name(), VersionOf(t->name(), t->version())));
  }
  return Join(parts, ",");
}

}  // namespace hone::op
