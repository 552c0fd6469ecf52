#include "session/reference.h"

#include "base/interrupt.h"
#include "measure/inputs.h"
#include "measure/reference_file.h"
#include "op/operator.h"

namespace hone::session {
namespace {

measure::Operand::Role RoleOf(op::OperandRole role) {
  switch (role) {
    case op::OperandRole::kData:
      return measure::Operand::Role::kData;
    case op::OperandRole::kConstant:
      return measure::Operand::Role::kConstant;
    case op::OperandRole::kOutput:
      break;
  }
  return measure::Operand::Role::kOutput;
}

}  // namespace

Result<std::vector<measure::Operand>> MeasureOperands(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  std::vector<measure::Operand> operands;
  for (const op::Operand& operand : op->Operands(workload, target)) {
    measure::Operand o;
    o.name = operand.name;
    o.role = RoleOf(operand.role);
    o.logical = operand.logical.shape;
    o.physical = operand.physical;
    o.blocked = operand.layout == op::Layout::kBlocked;
    operands.push_back(std::move(o));
  }
  return operands;
}

Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(setup->operands, MeasureOperands(workload, target));
  setup->reference_path = path;
  setup->reference_key = measure::ReferenceKey(workload.Text(), setup->operands);
  if (measure::ReadReference(path, setup->reference_key).ok()) return false;
  std::vector<std::vector<float>> values;
  std::vector<float*> buffers;
  for (const measure::Operand& operand : setup->operands) {
    values.emplace_back(static_cast<size_t>(operand.PhysicalElements()));
    measure::FillOperand(operand, values.back().data());
  }
  // Zeros, not NaN: the reference need not write padded lanes, in which zeros are right.
  std::fill(values.back().begin(), values.back().end(), 0.0f);
  for (std::vector<float>& v : values) buffers.push_back(v.data());
  op->Reference(workload, target, buffers);
  if (Interrupted()) return Status::Interrupted("interrupted while computing the reference");
  HONE_RETURN_IF_ERROR(measure::WriteReference(path, setup->reference_key, values.back()));
  return true;
}

}  // namespace hone::session
