#include "propose/versions.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "propose/propose.h"
#include "schedule/schedule.h"
#include "semantics/attributes.h"
#include "te/tensor.h"

namespace hone::propose {

Result<TemplateVersions> VersionsOf(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Proposers proposers, AllProposers(workload, target));
  return VersionsOf(proposers);
}

TemplateVersions VersionsOf(const Proposers& proposers) {
  TemplateVersions versions;
  for (const Proposer& p : proposers) versions[p.name()] = p.version();
  return versions;
}

Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Proposers proposers, ProposersOf(workload, target));
  std::vector<std::string> parts;
  for (const Proposer& p : proposers) parts.push_back(fmt::format("{}={}", p.name(), p.version()));
  return Join(parts, ",");
}

std::string SpaceVersionText() {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, int version) {
    parts.push_back(fmt::format("{}={}", name, VersionOf(name, version)));
  };
  for (const auto& [family, templates] : op::AllTemplates()) {
    for (const op::Template* t : templates) add(t->name(), t->version());
  }
  for (const sketch::DerivationRule& rule : sketch::Rules()) add(rule.name, rule.version);
  return Join(parts, " ");
}

Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(const op::Computation computation, op->Compute(workload, target, candidate.algorithm));
  HONE_ASSIGN_OR_RETURN(schedule::Schedule schedule, schedule::Schedule::Create(computation.outputs));
  for (const Step& step : candidate.steps) {
    if (step.kind == StepKind::kRelayout) HONE_RETURN_IF_ERROR(schedule.Apply(step));
  }
  const std::vector<Operand> operands = op->Operands(workload, target);
  int64_t bytes = 0;
  for (const te::Tensor& arg : schedule.Arguments(computation.inputs)) {
    if (arg.node()->constant) bytes += semantics::Product(arg.shape()) * arg.type().bytes();
    for (size_t i = 0; i < computation.inputs.size(); ++i) {
      if (computation.inputs[i].node() != arg.node() || operands[i].role != OperandRole::kConstant) continue;
      bytes += operands[i].PhysicalBytes();
    }
  }
  return bytes;
}

}  // namespace hone::propose
