#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "op/layout.h"
#include "op/operator.h"
#include "op/operators.h"
#include "op/user_operator.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

// Every operator; add a line for a new one. They are never destroyed, nor is anything that refers to them.
const std::vector<const Operator*>& All() {
  static const std::vector<const Operator*>& all = *new std::vector<const Operator*>([] {
    std::vector<const Operator*> list;
    for (const std::vector<const Operator*>& some :
         {std::vector<const Operator*>{&Conv2d(), &Dense(), &Conv3d()}, PoolOperators(), LayoutOperators(),
          std::vector<const Operator*>{&Matmul()}, TransposedConvOperators(), ElementwiseOperators(), ReduceOperators(),
          MovementOperators(), NormOperators()}) {
      list.insert(list.end(), some.begin(), some.end());
    }
    return list;
  }());
  return all;
}

}  // namespace

Status Operator::Check(const Workload& workload) const { return semantics::InferOutput(workload).status(); }

Result<const Operator*> FindOperator(const std::string& name) {
  for (const Operator* op : All()) {
    if (name == op->name()) return op;
  }
  if (const Operator* op = FindPluginOperator(name)) return op;
  return Status::Unsupported("unknown operator `{}`{}", name, SuggestionText(name, OperatorNames()));
}

Result<const Operator*> FindOperator(const Workload& workload) {
  if (workload.chain()) return &Chain();
  return FindOperator(workload.op);
}

std::string MemberOperandName(const std::string& name, size_t member) {
  if (member == 0) return name;
  return member == 1 ? "then." + name : fmt::format("then{}.{}", member, name);
}

std::vector<std::string> OperatorNames() {
  std::vector<std::string> names;
  for (const Operator* op : All()) names.push_back(op->name());
  for (const Operator* op : PluginOperators()) names.push_back(op->name());
  return names;
}

Result<Workload> ParseChecked(const std::string& workload_text) {
  HONE_ASSIGN_OR_RETURN(Workload workload, Workload::Parse(workload_text));
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  HONE_RETURN_IF_ERROR(op->Check(workload));
  return semantics::Canonical(workload);
}

Result<Computation> Compute(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  return op->Compute(workload, target, algorithm);
}

const TemplateList& AllTemplates() {
  static const TemplateList list = [] {
    TemplateList all;
    std::set<std::string> seen;
    std::vector<const Operator*> operators = All();
    operators.push_back(&Chain());
    for (const Operator* op : operators) {
      for (const auto& [family, templates] : op->AllTemplates()) {
        for (const Template* t : templates) {
          if (seen.insert(t->name()).second) all[family].push_back(t);
        }
      }
    }
    return all;
  }();
  return list;
}

const std::vector<const Template*>& AllTemplates(std::string_view family) {
  static const std::vector<const Template*> none;
  const auto found = AllTemplates().find(family);
  return found == AllTemplates().end() ? none : found->second;
}

}  // namespace hone::op
