// Operators of plugins (plugin/plugin.h), with their templates.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::op {

struct UserTemplate {
  std::string name;                              // stored in records: never changes
  int version = 1;                               // raise it when the space or the meaning of a config changes
  std::string family = std::string(kCpuFamily);  // of its targets (target/kind.h)
  Result<Space> (*space)(const Workload& workload, const Target& target) = nullptr;
  // The steps that schedule the operator's computation. REQUIRES: config is a legal point of `space`.
  Result<std::vector<Step>> (*steps)(const Workload& workload, const Target& target, const Config& config) = nullptr;
  // A sensible point without any tuning; null: the first legal one.
  Result<Config> (*preferred)(const Space& space, const Workload& workload, const Target& target) = nullptr;
};

struct UserOperator {
  // HONE_OPERATOR sets `name`; shape, evaluate and flop are required. Inputs and output are stored plain.
  semantics::Definition definition;
  // The te DAG: placeholders have the operands' names (data, data1, ..), the output is "out".
  Result<Computation> (*compute)(const Workload& workload, const Target& target) = nullptr;
  std::vector<UserTemplate> templates;  // without any, schedules are derived from `compute` (lib/sketch)
};

// Makes the operators of the plugin `file` known: FindOperator and semantics::Find then also find them. Returns
// kInvalid for one that lacks a part, or whose name is taken. Do not call it while other threads use operators.
Status RegisterOperators(const std::string& file, const std::vector<UserOperator>& given);

// Operators of plugins; null or empty without plugins.
const Operator* FindPluginOperator(const std::string& name);
std::vector<const Operator*> PluginOperators();
// The plugin file with this operator; empty for Hone's own.
std::string PluginOf(const std::string& operator_name);

}  // namespace hone::op
