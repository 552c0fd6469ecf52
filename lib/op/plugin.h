// Operators that a user brings: one C++ file, built as a shared library that the tools load (`--plugin FILE`, or the
// key `plugin` of a pipeline). doc/tutorial/own-operator.md walks through examples/rgb_to_yuv.
//
//   HONE_OPERATOR(rgb_to_yuv) {
//     op->definition.shape = ..; op->definition.evaluate = ..;   // what it means
//     op->compute = ..;                                              // the same as tensor expressions
//     op->templates = {{"rgb_to_yuv_cpu", 1, "cpu", Space, Build}};  // how it may be scheduled
//   }
//
// A plugin holds its own copy of the layers it uses (it is linked with the static libraries, and shows two functions
// and nothing else): it does not matter what a tool happens to export, and two plugins do not see each other. What it
// hands over are objects with the layout of the headers it was built with; so it says which those are, and a tool that
// was built with others refuses it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::op {

// Raised when a plugin of before would not work any more.
inline constexpr int kPluginVersion = 5;

struct UserTemplate {
  std::string name;                              // stored in records: never changes
  int version = 1;                               // raised when the space or what a config means changes
  std::string family = std::string(kCpuFamily);  // of targets that it is for (target/kind.h)
  Result<search::Space> (*space)(const Workload& workload, const Target& target) = nullptr;
  // The steps that schedule the operator's computation. REQUIRES: config is a legal point of `space`.
  Result<std::vector<Step>> (*steps)(const Workload& workload, const Target& target, const Config& config) = nullptr;
  // A sensible point without any tuning; without it, the first legal one.
  Result<Config> (*preferred)(const search::Space& space, const Workload& workload, const Target& target) = nullptr;
};

struct UserOperator {
  // `name` is set by HONE_OPERATOR; shape, evaluate and flop must be. Inputs and output are stored plain.
  semantics::Definition definition;
  // The te DAG: placeholders named as the operands are (data, data1, ..), the output "out".
  Result<Computation> (*compute)(const Workload& workload, const Target& target) = nullptr;
  std::vector<UserTemplate> templates;
};

// What a plugin must have been built with: versions, compiler, and the sizes of what crosses the border.
inline std::string PluginInterface() {
  std::string sizes;
  for (size_t size :
       {sizeof(UserOperator), sizeof(UserTemplate), sizeof(Computation), sizeof(Step), sizeof(te::TensorNode),
        sizeof(Workload), sizeof(Target), sizeof(Config), sizeof(search::Space), sizeof(ir::IterVar)}) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  }
  return "hone " HONE_VERSION " plugin " + std::to_string(kPluginVersion) + ", compiler " __VERSION__ ", layout " +
         sizes;
}

// Loads the plugin, once: its operators are then among those of FindOperator and semantics::Find. kNotFound without
// such a file; kUnsupported for one of another version; kInvalid for what is no plugin, throws, or has an operator
// whose name is taken. Not while other threads use operators.
Status LoadPlugin(const std::string& path);

// The same for a plugin that a file names (a graph, a task), which somebody else may have written: only one that
// belongs to this user, to root, or to whom this program belongs, and that not everybody may write, is loaded; kInvalid
// for others, before anything of them runs. `digest`: of the file's content as the naming file has it; kInvalid if it
// is another now. Empty: not known.
Status LoadNamedPlugin(const std::string& path, const std::string& digest);

// The files loaded so far, by absolute path: what a child has to load, too.
std::vector<std::string> LoadedPlugins();

// Takes --plugin FILE pairs from a child's arguments and loads them. kInvalid for anything else.
Status LoadPluginArguments(int argc, char** argv);

// Operators of plugins; null, and none, without.
const Operator* FindPluginOperator(const std::string& name);
std::vector<const Operator*> PluginOperators();
// The file that brought this operator; empty for Hone's own.
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
// Weak, for plugins of several files; not inline: what an inline function keeps would be one for all plugins.
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
