// Backend: turns a lowered kernel into code that a machine runs. One object per back end.
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

  // Whether loops are bound to blocks and threads, which changes the order of passes (lower/lower.h).
  virtual bool lowers_for_gpu() const { return false; }
  // The schedule that packs the constants that `kernel` reads; nothing if it reads no constants.
  virtual Result<std::optional<schedule::Schedule>> PrepareSchedule(const schedule::Schedule& kernel,
                                                                    const Target& target) const;

  // Fills in the results of code generation in `kernel`: format, object, the entries of `functions` in order, and what
  // `options` ask to keep. Returns kNotFound without a compiler.
  virtual Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                                   const CompileOptions& options, CompiledKernel* kernel) const = 0;
  // Changes the symbol `from`, under which a kernel was compiled, to `to`; the code stays the same.
  using Renaming = Status (*)(const std::string& from, const std::string& to, CompiledKernel* kernel);
  // Returns null if this kind of code cannot be renamed.
  virtual Renaming renaming() const { return nullptr; }
  // Writes the file that measure's machine loads to `path`, and returns its format (Artifact::format).
  virtual Result<std::string> Write(const CompiledKernel& kernel, const std::string& path) const;

  // The compiler, other than CodegenVersion, that times depend on, such as "NVRTC 13.0"; empty without one. `arch`
  // is as in Target::cpu, or empty for any; `newest` as CompileOptions::newest_cuda. Returns kNotFound without a
  // compiler.
  virtual Result<std::string> CompilerVersion(const std::string& /*arch*/, int /*newest*/) const {
    return std::string();
  }
  // The number of trials that `auto` plans at a time; 0: its own default.
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

// The new symbol for an entry: replaces the prefix `from` by `to`.
std::string RenamedSymbol(std::string_view symbol, const std::string& from, const std::string& to);
void RenameEntries(const std::string& from, const std::string& to, CompiledKernel* kernel);

const std::vector<const Backend*>& Backends();
// For tests; call it before other threads run.
void AddBackend(const Backend* backend);
// Returns kUnsupported if there is no code generator for this kind of target.
Result<const Backend*> FindBackend(const Target& target);

}  // namespace hone::compile
