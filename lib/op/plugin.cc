#include "op/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "op/defined_operator.h"

namespace hone::op {
namespace {

Status Threw(const std::string& who, const char* what) {
  return Status::Invalid("{} threw an exception: {}; it has to return a Status instead", who, what);
}

// No exception may pass from a plugin into Hone.
template <typename T, typename F>
Result<T> Guarded(const std::string& who, F call) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Threw(who, e.what());
  } catch (...) {
    return Threw(who, "of an unknown type");
  }
}

class PluginTemplate final : public Template {
 public:
  PluginTemplate(std::string file, UserTemplate given) : file_(std::move(file)), given_(std::move(given)) {}

  const char* name() const override { return given_.name.c_str(); }
  int version() const override { return given_.version; }
  Result<Space> MakeSpace(const Workload& w, const Target& target) const override {
    HONE_ASSIGN_OR_RETURN(Space space, Guarded<Space>(Who(), [&] { return given_.space(w, target); }));
    if (space.template_name() == given_.name) return space;
    return Status::Invalid("{}: its space is named `{}`; use the template's name", Who(), space.template_name());
  }
  Result<Config> Default(const Space& space, const Workload& w, const Target& target) const override {
    if (given_.preferred != nullptr) {
      return Guarded<Config>(Who(), [&] { return given_.preferred(space, w, target); });
    }
    std::optional<PointIndex> first;
    space.ForEach(0, space.size(), [&](PointIndex index, bool legal) {
      if (legal) first = index;
      return !legal;
    });
    if (first) return space.At(*first);
    return Status::Invalid(Who() + ": no point of its space is legal for " + w.Text());
  }
  Result<Candidate> Instantiate(const Workload& w, const Target& target, const Config& config) const override {
    HONE_ASSIGN_OR_RETURN(std::vector<Step> steps,
                          Guarded<std::vector<Step>>(Who(), [&] { return given_.steps(w, target, config); }));
    return Candidate{{}, std::move(steps)};
  }

 private:
  std::string Who() const { return fmt::format("plugin {}: template `{}`", file_, given_.name); }

  std::string file_;
  UserTemplate given_;
};

// A plugin's operator as one of Hone's: turns its exceptions into a Status. REQUIRES: CheckUserOperator; the definition
// is registered in semantics.
class PluginOperator final : public DefinedOperator {
 public:
  PluginOperator(std::string file, const UserOperator& given)
      : DefinedOperator(given.definition.name), file_(std::move(file)), compute_(given.compute) {
    for (const UserTemplate& t : given.templates) {
      templates_.emplace_back(t.family, std::make_unique<PluginTemplate>(file_, t));
    }
  }

  std::vector<const Template*> Templates(const Workload&, const Target& target) const override {
    return AllTemplates()[target.family()];
  }
  TemplateList AllTemplates() const override {
    TemplateList all;
    for (const auto& [family, t] : templates_) all[family].push_back(t.get());
    return all;
  }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override {
    if (!(algorithm == Algorithm())) return NotComputedBy(algorithm, workload);
    return Guarded<Computation>(fmt::format("plugin {}: operator `{}`", file_, name()),
                                [&] { return compute_(workload, target); });
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  Result<Computation> (*compute_)(const Workload& workload, const Target& target);
  std::vector<std::pair<std::string, std::unique_ptr<Template>>> templates_;  // with their families
};

// Checks that everything Hone will call is set; else returns a one-line error.
Status CheckUserOperator(const UserOperator& given) {
  const semantics::Definition& d = given.definition;
  const auto lacks = [&](const char* what) {
    return Status::Invalid("operator `{}` has no {}; see lib/op/plugin.h", d.name, what);
  };
  if (d.shape == nullptr) return lacks("definition.shape");
  if (d.evaluate == nullptr) return lacks("definition.evaluate");
  if (d.flop == nullptr) return lacks("definition.flop");
  if (given.compute == nullptr) return lacks("compute");
  std::set<std::string> names;
  for (const UserTemplate& t : given.templates) {
    if (t.name.empty()) return lacks("name for one of its templates");
    if (t.space == nullptr || t.steps == nullptr) return lacks("space or steps for one of its templates");
    if (!names.insert(t.name).second) {
      return Status::Invalid("operator `{}` has two templates `{}`", d.name, t.name);
    }
  }
  return Status();
}

struct Loaded {
  std::vector<std::string> files;
  std::vector<std::unique_ptr<PluginOperator>> operators;  // never destroyed, like all operators
};

Loaded& AllLoaded() {
  static auto* all = new Loaded;
  return *all;
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

Status Register(const std::string& file, const std::vector<UserOperator>& given) {
  if (given.empty()) return Status::Invalid(file + ": this plugin has no HONE_OPERATOR");
  for (const UserOperator& op : given) {
    HONE_RETURN_IF_ERROR(CheckUserOperator(op).WithContext(file));
    if (FindOperator(op.definition.name).ok()) {
      const std::string other = PluginOf(op.definition.name);
      return Status::Invalid("{}: there is an operator `{}` already ({}); choose another name", file,
                             op.definition.name, other.empty() ? "Hone's own" : other);
    }
  }
  for (const UserOperator& op : given) {
    HONE_RETURN_IF_ERROR(semantics::Register(op.definition).WithContext(file));
    AllLoaded().operators.push_back(std::make_unique<PluginOperator>(file, op));
  }
  return Status();
}

}  // namespace

Status LoadPlugin(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(path + ": no such plugin; build it, or correct the path");
  const std::string file = Absolute(path);
  for (const std::string& loaded : AllLoaded().files) {
    if (loaded == file) return Status();
  }
  HONE_RETURN_IF_ERROR(CheckWhole(path));
  try {
    // Its own symbols only: a plugin has copies of what it uses. Never closed: what it made lives on.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      return Status::Invalid("{}: cannot be loaded: {}", path, why == nullptr ? "unknown" : why);
    }
    const auto interface = reinterpret_cast<const char* (*)()>(dlsym(handle, "hone_plugin_interface"));
    const auto fill = reinterpret_cast<void (*)(std::vector<UserOperator>*)>(dlsym(handle, "hone_plugin_operators"));
    if (interface == nullptr || fill == nullptr) {
      return Status::Invalid(path + ": a shared library, but no plugin of Hone (build it with hone_plugin())");
    }
    const std::string theirs = interface(), ours = PluginInterface();
    if (theirs != ours) {
      return Status::Unsupported("{}: a plugin for another version; build it again. It has `{}`, this is `{}`", path,
                                 theirs, ours);
    }
    std::vector<UserOperator> operators;
    fill(&operators);
    HONE_RETURN_IF_ERROR(Register(file, operators));
  } catch (const std::exception& e) {
    return Status::Invalid("{}: threw an exception while it was loaded: {}", path, e.what());
  } catch (...) {
    return Status::Invalid(path + ": threw an exception of an unknown type while it was loaded");
  }
  AllLoaded().files.push_back(file);
  return Status();
}

std::vector<std::string> LoadedPlugins() { return AllLoaded().files; }

Status LoadPluginArguments(int argc, char** argv) {
  for (int i = 0; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--plugin") != 0 || i + 1 == argc) {
      return Status::Invalid("`{}` is not --plugin FILE", argv[i]);
    }
    HONE_RETURN_IF_ERROR(LoadPlugin(argv[i + 1]));
  }
  return Status();
}

Status LoadNamedPlugin(const std::string& path, const std::string& digest) {
  if (path.empty() || path[0] != '/') return Status::Invalid("`" + path + "`: a plugin is named by its whole path");
  if (!Exists(path)) return LoadPlugin(path);  // for its error message
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
  return LoadPlugin(path);
}

const Operator* FindPluginOperator(const std::string& name) {
  for (const auto& op : AllLoaded().operators) {
    if (name == op->name()) return op.get();
  }
  return nullptr;
}

std::vector<const Operator*> PluginOperators() {
  std::vector<const Operator*> operators;
  for (const auto& op : AllLoaded().operators) operators.push_back(op.get());
  return operators;
}

std::string PluginOf(const std::string& name) {
  for (const auto& op : AllLoaded().operators) {
    if (name == op->name()) return op->file();
  }
  return "";
}

}  // namespace hone::op
