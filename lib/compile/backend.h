// Backend: how a lowered kernel becomes something that a machine runs. One object a back end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace hone::compile {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const TargetKind& kind() const = 0;

  // Lowering. Whether loops are bound to blocks and threads: lower/lower.h's other order of passes.
  virtual bool lowers_for_gpu() const { return false; }
  // How the constants that `kernel` reads are packed; nothing if it packs none.
  virtual Result<std::optional<schedule::Schedule>> PrepareSchedule(const schedule::Schedule& kernel,
                                                                    const Target& target) const;

  // Fills in everything of `kernel` that comes from code generation: format, object, the entries of `functions` in
  // their order, and what `options` ask to keep. kNotFound: the compiler is not there.
  virtual Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                                   const CompileOptions& options, CompiledKernel* kernel) const = 0;
  // Can a compiled kernel be given another symbol? If so, Rename gives one that was compiled under the symbol `from`
  // the symbol `to`; the code stays the same.
  virtual bool renames() const { return false; }
  virtual Status Rename(const std::string& /*from*/, const std::string& /*to*/, CompiledKernel* /*kernel*/) const {
    return Status::Unsupported("this kind of code cannot be renamed");
  }
  // Writes what measure's machine loads to `path`, and gives its format (Artifact::format).
  virtual Result<std::string> Write(const CompiledKernel& kernel, const std::string& path) const;

  // The compiler that times depend on beside CodegenVersion, such as "NVRTC 13.0"; empty if there is no other. `arch`
  // as in Target::cpu, or empty for any; `newest` as CompileOptions::newest_cuda. kNotFound: it is not there.
  virtual Result<std::string> CompilerVersion(const std::string& /*arch*/, int /*newest*/) const {
    return std::string();
  }
  // Trials that `auto` plans at a time; 0: as many as it likes best.
  virtual int group() const { return 0; }
};

// The base of back ends for devices with blocks and threads.
class GpuBackend : public Backend {
 public:
  bool lowers_for_gpu() const override { return true; }
  Result<std::optional<schedule::Schedule>> PrepareSchedule(const schedule::Schedule& kernel,
                                                            const Target& target) const override;
};

#define HONE_BACKEND(folder, Name) const Backend& Name##Backend();
#include "target/backends.def"
#undef HONE_BACKEND

// Rename's part on the entries: each symbol that begins with `from` begins with `to`.
std::string RenamedSymbol(std::string_view symbol, const std::string& from, const std::string& to);
void RenameEntries(const std::string& from, const std::string& to, CompiledKernel* kernel);

const std::vector<const Backend*>& Backends();
// A test's, before any other thread runs.
void AddBackend(const Backend* backend);
// kUnsupported if no code is generated for this kind of target.
Result<const Backend*> FindBackend(const Target& target);

}  // namespace hone::compile
