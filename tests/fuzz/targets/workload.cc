// A workload's text, as task files, graphs and databases contain it, and the operator's checks of it.
#include "task/workload.h"

#include "fuzz_target.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone {

HONE_FUZZ_TARGET(workload) {
  HONE_RETURN_IF_ERROR(fuzz::ReadWriteRead(input, Workload::Parse, [](const Workload& read) { return read.Text(); }));
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(std::string(input)));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  HONE_CHECK(semantics::InferOutput(workload)->Elements() > 0);
  HONE_CHECK(semantics::Flop(workload) >= 0);
  Target target;
  target.triple = "x86_64-unknown-linux-gnu";
  HONE_CHECK(!op->Operands(workload, target).empty());
  return Status();
}

}  // namespace hone
