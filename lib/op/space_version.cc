#include "op/space_version.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "op/operator.h"
#include "schedule/schedule.h"
#include "semantics/attributes.h"
#include "te/tensor.h"

namespace hone::op {

static std::string NameAndVersion(const Template& t) {
  return fmt::format("{}={}", t.name(), VersionOf(t.name(), t.version()));
}

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

Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(const Computation computation, op->Compute(workload, target, candidate.algorithm));
  HONE_ASSIGN_OR_RETURN(schedule::Schedule schedule, schedule::Schedule::Create(computation.outputs));
  for (const Step& step : candidate.steps) {
    if (step.kind == StepKind::kRelayout) HONE_RETURN_IF_ERROR(schedule.Apply(step));
  }
  const std::vector<Operand> operands = op->Operands(workload, target);
  int64_t bytes = 0;
  for (const Tensor& arg : schedule.Arguments(computation.inputs)) {
    if (arg.node()->constant) bytes += semantics::Product(arg.shape()) * arg.type().bytes();
    for (size_t i = 0; i < computation.inputs.size(); ++i) {
      if (computation.inputs[i].node() != arg.node() || operands[i].role != OperandRole::kConstant) continue;
      bytes += operands[i].PhysicalBytes();
    }
  }
  return bytes;
}

}  // namespace hone::op
