#include "op/constant_bytes.h"

#include <vector>

#include "op/operator.h"
#include "schedule/schedule.h"
#include "semantics/attributes.h"
#include "te/tensor.h"

namespace hone::op {

Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(const Computation computation, op->Compute(workload, target, candidate.algorithm));
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

}  // namespace hone::op
