#include "op/defined_operator.h"

#include <algorithm>

#include "op/epilogue.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::op {

Status DefinedOperator::Check(const Workload& w) const {
  HONE_ASSIGN_OR_RETURN(TensorType output, semantics::InferOutput(w));
  if (!semantics::Find(name())->elementwise) return CheckNoEpilogue(w);
  if (!w.epilogue.empty() && std::any_of(w.inputs.begin(), w.inputs.end(), [&](auto& t) { return t != output; })) {
    return Status::Invalid(w.op + ": an epilogue needs inputs of the output's shape");
  }
  return CheckEpilogue(w, output);
}

Workload DefinedOperator::Canonical(const Workload& w) const { return semantics::Canonical(w); }

TensorType DefinedOperator::OutputType(const Workload& w) const { return *semantics::InferOutput(w); }

double DefinedOperator::Flop(const Workload& w) const {
  const TensorType output = OutputType(w);
  return semantics::Find(name())->flop(w, output.shape) + static_cast<double>(output.Elements()) * EpilogueFlop(w);
}

bool DefinedOperator::HasBatch(const Workload&) const { return semantics::Find(name())->has_batch; }

std::vector<double> DefinedOperator::Evaluate(const Workload& w, const std::vector<std::vector<double>>& inputs) const {
  std::vector<const semantics::Values*> pointers;
  for (const std::vector<double>& values : inputs) pointers.push_back(&values);
  return semantics::Evaluate(w, pointers, 1);
}

Layout DefinedOperator::InputLayout(const Workload& w, size_t i) const {
  const semantics::Form form = semantics::FormOf(w);
  if (form == semantics::Form::kPlain) return Layout::kPlain;
  if (form == semantics::Form::kEither && w.inputs[i].shape.size() != OutputType(w).shape.size()) return Layout::kPlain;
  return ActivationLayout(w.inputs[i]);
}

Layout DefinedOperator::OutputLayout(const Workload& w) const {
  return semantics::FormOf(w) == semantics::Form::kPlain ? Layout::kPlain : ActivationLayout(OutputType(w));
}

}  // namespace hone::op
