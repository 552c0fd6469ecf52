// Plugins: operators and rules of users, in one C++ file that is built as a shared library. The tools load it
// (`--plugin FILE`, or the key `plugin` of a pipeline). doc/tutorial/own-operator.md walks through examples/rgb_to_yuv.
//
//   HONE_OPERATOR(rgb_to_yuv) {
//     op->definition.shape = ..; op->definition.evaluate = ..;       // what it means
//     op->compute = ..;                                              // the same as tensor expressions
//     op->templates = {{"rgb_to_yuv_cpu", 1, "cpu", Space, Build}};  // how it may be scheduled
//   }
//   HONE_SKETCH_RULE(columns) { rule->derive = ..; }                 // a sketch for other operators, too
//
// A plugin contains its own copy of the layers it uses: it is linked with the static libraries and exports only three
// functions. So it does not depend on the symbols that a tool exports, and plugins do not see each other. The objects
// that it passes to a tool have the layout of the headers it was built with. It states which headers those are, and a
// tool built with others rejects it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "op/user_operator.h"
#include "sketch/user_rule.h"

namespace hone::plugin {

// Raise it when older plugins would no longer work.
inline constexpr int kVersion = 6;

// The build that a plugin must match: versions, compiler, and the sizes of objects that cross the interface.
inline std::string Interface() {
  std::string sizes;
  for (size_t size : {sizeof(op::UserOperator), sizeof(op::UserTemplate), sizeof(op::Computation), sizeof(Step),
                      sizeof(te::TensorNode), sizeof(Workload), sizeof(Target), sizeof(Config), sizeof(op::Space),
                      sizeof(ir::IterVar), sizeof(sketch::UserRule), sizeof(sketch::Sketch), sizeof(search::Knob)}) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  }
  return "hone " HONE_VERSION " plugin " + std::to_string(kVersion) + ", compiler " __VERSION__ ", layout " + sizes;
}

// Loads the plugin once and makes its operators and rules known. Returns kNotFound without the file; kUnsupported for a
// plugin of another version; kInvalid for a file that is not a plugin, throws, or has an operator or a rule whose name
// is taken. Do not call it while other threads use operators.
Status Load(const std::string& path);

// The same for a plugin that a file names (a graph, a task), as somebody else may have written that file. Loads it only
// if it belongs to this user, to root, or to the owner of this program, and not everybody may write it; else returns
// kInvalid before running any of it. `digest` is that of the plugin's content according to the naming file; returns
// kInvalid if it differs now. Empty: unknown.
Status LoadNamed(const std::string& path, const std::string& digest);

// The files loaded so far, by absolute path: a child must load them as well.
std::vector<std::string> LoadedFiles();

// Takes --plugin FILE pairs from a child's arguments and loads the files. Returns kInvalid for other arguments.
Status LoadArguments(int argc, char** argv);

// A macro's name and the function that fills in its object.
template <typename T>
struct Entry {
  const char* name;
  void (*fill)(T*);
};
template <typename T>
__attribute__((visibility("hidden"))) inline std::vector<Entry<T>>& Entries() {
  static std::vector<Entry<T>> entries;
  return entries;
}
template <typename T>
bool Add(const char* name, void (*fill)(T*)) {
  Entries<T>().push_back({name, fill});
  return true;
}

}  // namespace hone::plugin

#define HONE_PLUGIN_ENTRY(name, type, object)                       \
  static void Hone_##object##_##name(type* object);                 \
  [[maybe_unused]] static const bool hone_added_##object##_##name = \
      hone::plugin::Add<type>(#name, Hone_##object##_##name);       \
  static void Hone_##object##_##name([[maybe_unused]] type* object)

#define HONE_OPERATOR(name) HONE_PLUGIN_ENTRY(name, hone::op::UserOperator, op)
#define HONE_SKETCH_RULE(name) HONE_PLUGIN_ENTRY(name, hone::sketch::UserRule, rule)

#ifdef HONE_PLUGIN  // set by hone_plugin() of cmake/Hone.cmake
extern "C" {
// Weak, for plugins of several files; not inline, as an inline function's statics would be shared by all plugins.
__attribute__((weak, visibility("default"))) const char* hone_plugin_interface() {
  static const std::string text = hone::plugin::Interface();
  return text.c_str();
}
__attribute__((weak, visibility("default"))) void hone_plugin_operators(
    std::vector<hone::op::UserOperator>* operators) {
  for (const auto& entry : hone::plugin::Entries<hone::op::UserOperator>()) {
    hone::op::UserOperator op;
    entry.fill(&op);
    op.definition.name = entry.name;
    operators->push_back(std::move(op));
  }
}
__attribute__((weak, visibility("default"))) void hone_plugin_rules(std::vector<hone::sketch::UserRule>* rules) {
  for (const auto& entry : hone::plugin::Entries<hone::sketch::UserRule>()) {
    hone::sketch::UserRule rule;
    entry.fill(&rule);
    rule.name = entry.name;
    rules->push_back(std::move(rule));
  }
}
}
#endif
