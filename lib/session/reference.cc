#include "session/reference.h"

#include "base/interrupt.h"
#include "measure/inputs.h"
#include "measure/reference_file.h"
#include "op/operator.h"

namespace hone::session {
Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  setup->operands = op->Operands(workload, target);
  setup->reference_path = path;
  setup->reference_key = measure::ReferenceKey(workload.Text(), setup->operands);
  if (measure::ReadReference(path, setup->reference_key, setup->operands.back()).ok()) return false;
  std::vector<TensorData> values;
  std::vector<void*> buffers;
  for (const Operand& operand : setup->operands) values.push_back(measure::MakeInput(operand));
  for (TensorData& v : values) buffers.push_back(v.bytes.data());
  op->Reference(workload, target, buffers);
  if (Interrupted()) return Status::Interrupted("interrupted while computing the reference");
  HONE_RETURN_IF_ERROR(measure::WriteReference(path, setup->reference_key, values.back()));
  return true;
}

}  // namespace hone::session
