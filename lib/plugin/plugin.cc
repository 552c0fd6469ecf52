#include "plugin/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/hash.h"

namespace hone::plugin {
namespace {

std::vector<std::string>& Files() {
  static auto* files = new std::vector<std::string>;
  return *files;
}

std::string Absolute(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), free);
  return real ? real.get() : path;
}

// "" if the owner of the file may run code here anyway; else the problem.
std::string Untrusted(const std::string& file) {
  struct stat info, program;
  if (stat(file.c_str(), &info) != 0) return "cannot be looked at";
  const bool known = stat("/proc/self/exe", &program) == 0;
  if (info.st_uid != geteuid() && info.st_uid != 0 && !(known && info.st_uid == program.st_uid)) {
    return "belongs to another user";
  }
  return (info.st_mode & S_IWOTH) != 0 ? "can be written by everybody" : "";
}

// The loader maps what a library's headers promise, and dies (SIGBUS) if the file was truncated. If it is not a library
// at all, the loader reports that.
Status CheckWhole(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
  const auto holds = [&](uint64_t at, uint64_t size) { return at <= bytes.size() && size <= bytes.size() - at; };
  Elf64_Ehdr header;
  if (!holds(0, sizeof(header))) return Status();
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return Status();
  const Status cut = Status::Invalid(file + ": this library is cut off; build or copy it again");
  if (!holds(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) return cut;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, bytes.data() + header.e_phoff + i * sizeof(part), sizeof(part));
    if (!holds(part.p_offset, part.p_filesz)) return cut;
  }
  return Status();
}

// A candidate's proposer is known by its name alone, so no template and rule may have the same one.
Status CheckNames(const std::string& file, const std::vector<op::UserOperator>& operators,
                  const std::vector<sketch::UserRule>& rules) {
  std::set<std::string> templates, of_rules;
  for (const auto& [family, all] : op::AllTemplates()) {
    for (const op::Template* t : all) templates.insert(t->name());
  }
  for (const op::UserOperator& op : operators) {
    for (const op::UserTemplate& t : op.templates) templates.insert(t.name);
  }
  for (const sketch::DerivationRule& rule : sketch::Rules()) of_rules.insert(rule.name);
  for (const sketch::UserRule& rule : rules) of_rules.insert(rule.name);
  for (const std::string& name : of_rules) {
    if (templates.count(name) == 0) continue;
    return Status::Invalid("{}: there is a template `{}` already; choose another name for the rule", file, name);
  }
  return Status();
}

// Opens `file` and makes its parts known. `path` is its name in messages.
Status Open(const std::string& path, const std::string& file) {
  // Its own symbols only: a plugin has copies of what it uses. Never closed: what it made lives on.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status::Invalid("{}: cannot be loaded: {}", path, why == nullptr ? "unknown" : why);
  }
  const auto interface = reinterpret_cast<const char* (*)()>(dlsym(handle, "hone_plugin_interface"));
  if (interface == nullptr) {
    return Status::Invalid(path + ": a shared library, but no plugin of Hone (build it with hone_plugin())");
  }
  const std::string theirs = interface(), ours = Interface();
  const auto fill_operators =
      reinterpret_cast<void (*)(std::vector<op::UserOperator>*)>(dlsym(handle, "hone_plugin_operators"));
  const auto fill_rules =
      reinterpret_cast<void (*)(std::vector<sketch::UserRule>*)>(dlsym(handle, "hone_plugin_rules"));
  if (theirs != ours || fill_operators == nullptr || fill_rules == nullptr) {
    return Status::Unsupported("{}: a plugin for another version; build it again. It has `{}`, this is `{}`", path,
                               theirs, ours);
  }
  std::vector<op::UserOperator> operators;
  std::vector<sketch::UserRule> rules;
  fill_operators(&operators);
  fill_rules(&rules);
  if (operators.empty() && rules.empty()) {
    return Status::Invalid(file + ": this plugin has no HONE_OPERATOR and no HONE_SKETCH_RULE");
  }
  HONE_RETURN_IF_ERROR(CheckNames(file, operators, rules));
  HONE_RETURN_IF_ERROR(sketch::CheckRules(file, rules));
  HONE_RETURN_IF_ERROR(op::RegisterOperators(file, operators));
  sketch::RegisterRules(file, rules);
  return Status();
}

}  // namespace

Status Load(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(path + ": no such plugin; build it, or correct the path");
  const std::string file = Absolute(path);
  if (std::ranges::count(Files(), file) != 0) return Status();
  HONE_RETURN_IF_ERROR(CheckWhole(path));
  try {
    HONE_RETURN_IF_ERROR(Open(path, file));
  } catch (const std::exception& e) {
    return Status::Invalid("{}: threw an exception while it was loaded: {}", path, e.what());
  } catch (...) {
    return Status::Invalid(path + ": threw an exception of an unknown type while it was loaded");
  }
  Files().push_back(file);
  return Status();
}

std::vector<std::string> LoadedFiles() { return Files(); }

Status LoadArguments(int argc, char** argv) {
  for (int i = 0; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--plugin") != 0 || i + 1 == argc) {
      return Status::Invalid("`{}` is not --plugin FILE", argv[i]);
    }
    HONE_RETURN_IF_ERROR(Load(argv[i + 1]));
  }
  return Status();
}

Status LoadNamed(const std::string& path, const std::string& digest) {
  if (path.empty() || path[0] != '/') return Status::Invalid("`" + path + "`: a plugin is named by its whole path");
  if (!Exists(path)) return Load(path);  // for its error message
  const std::string file = Absolute(path);
  if (const std::string problem = Untrusted(file); !problem.empty()) {
    return Status::Invalid(
        "{}: this plugin {}, so it is not loaded because a file names it; look at it and make it yours, or name it "
        "with --plugin",
        path, problem);
  }
  if (!digest.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    if (Digest128(bytes).Hex() != digest) {
      return Status::Invalid(path + ": this plugin is another one than when the file was written; extract again");
    }
  }
  return Load(path);
}

}  // namespace hone::plugin
