#include "op/space_version.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "op/operator.h"

namespace hone::op {
namespace {

std::string NameAndVersion(const Template& t) {
  return fmt::format("{}={}", t.name(), VersionOf(t.name(), t.version()));
}

}  // namespace

Result<TemplateVersions> TemplatesOf(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  TemplateVersions versions;
  for (const Template* t : op->Templates(workload, target)) versions[t->name()] = VersionOf(t->name(), t->version());
  return versions;
}

Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  std::vector<std::string> parts;
  for (const Template* t : op->Templates(workload, target)) parts.push_back(NameAndVersion(*t));
  return Join(parts, ",");
}

std::string SpaceVersionText() {
  std::vector<std::string> parts;
  for (const auto& [family, templates] : AllTemplates()) {
    for (const Template* t : templates) parts.push_back(NameAndVersion(*t));
  }
  return Join(parts, " ");
}

}  // namespace hone::op
