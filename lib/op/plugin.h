// User-defined operators: one C++ file, built as a shared library that the tools load (`--plugin FILE`, or the key
// `plugin` of a pipeline). doc/tutorial/own-operator.md walks through examples/rgb_to_yuv.
//
//   HONE_OPERATOR(rgb_to_yuv) {
//     op->definition.shape = ..; op->definition.evaluate = ..;   // what it means
//     op->compute = ..;                                              // the same as tensor expressions
//     op->templates = {{"rgb_to_yuv_cpu", 1, "cpu", Space, Build}};  // how it may be scheduled
//   }
//
// A plugin contains its own copy of the layers it uses: it is linked with the static libraries and exports only two
// functions. So it does not depend on the symbols that a tool exports, and plugins do not see each other. The objects
// that it passes to a tool have the layout of the headers it was built with. It states which headers those are, and a
// tool built with others rejects it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::op {

// Raise it when older plugins would no longer work.
inline constexpr int kPluginVersion = 5;

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
  std::vector<UserTemplate> templates;  // of a family without any, schedules are derived from `compute` (lib/sketch)
};

// The build that a plugin must match: versions, compiler, and the sizes of objects that cross the interface.
inline std::string PluginInterface() {
  std::string sizes;
  for (size_t size :
       {sizeof(UserOperator), sizeof(UserTemplate), sizeof(Computation), sizeof(Step), sizeof(te::TensorNode),
        sizeof(Workload), sizeof(Target), sizeof(Config), sizeof(Space), sizeof(ir::IterVar)}) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  }
  return "hone " HONE_VERSION " plugin " + std::to_string(kPluginVersion) + ", compiler " __VERSION__ ", layout " +
         sizes;
}

// Loads the plugin once: FindOperator and semantics::Find then also find its operators. Returns kNotFound without the
// file; kUnsupported for a plugin of another version; kInvalid for a file that is not a plugin, throws, or has an
// operator whose name is taken. Do not call it while other threads use operators.
Status LoadPlugin(const std::string& path);

// The same for a plugin that a file names (a graph, a task), as somebody else may have written that file. Loads it only
// if it belongs to this user, to root, or to the owner of this program, and not everybody may write it; else returns
// kInvalid before running any of it. `digest` is that of the plugin's content according to the naming file; returns
// kInvalid if it differs now. Empty: unknown.
Status LoadNamedPlugin(const std::string& path, const std::string& digest);

// The files loaded so far, by absolute path: a child must load them as well.
std::vector<std::string> LoadedPlugins();

// Takes --plugin FILE pairs from a child's arguments and loads the files. Returns kInvalid for other arguments.
Status LoadPluginArguments(int argc, char** argv);

// Operators of plugins; null or empty without plugins.
const Operator* FindPluginOperator(const std::string& name);
std::vector<const Operator*> PluginOperators();
// The plugin file with this operator; empty for Hone's own.
std::string PluginOf(const std::string& operator_name);

namespace plugin {
struct Entry {
  const char* name;
  void (*fill)(UserOperator* op);
};
__attribute__((visibility("hidden"))) inline std::vector<Entry>& Entries() {
  static std::vector<Entry> entries;
  return entries;
}
inline bool Add(const char* name, void (*fill)(UserOperator*)) {
  Entries().push_back({name, fill});
  return true;
}
}  // namespace plugin

}  // namespace hone::op

#define HONE_OPERATOR(name)                                                                                 \
  static void HoneOperator_##name(hone::op::UserOperator* op);                                              \
  [[maybe_unused]] static const bool hone_added_##name = hone::op::plugin::Add(#name, HoneOperator_##name); \
  static void HoneOperator_##name([[maybe_unused]] hone::op::UserOperator* op)

#ifdef HONE_PLUGIN  // set by hone_plugin() of cmake/Hone.cmake
extern "C" {
// Weak, for plugins of several files; not inline, as an inline function's statics would be shared by all plugins.
__attribute__((weak, visibility("default"))) const char* hone_plugin_interface() {
  static const std::string text = hone::op::PluginInterface();
  return text.c_str();
}
__attribute__((weak, visibility("default"))) void hone_plugin_operators(
    std::vector<hone::op::UserOperator>* operators) {
  for (const hone::op::plugin::Entry& entry : hone::op::plugin::Entries()) {
    hone::op::UserOperator op;
    entry.fill(&op);
    op.definition.name = entry.name;
    operators->push_back(std::move(op));
  }
}
}
#endif
