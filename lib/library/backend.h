// Backend: how a kind of target builds a network library: its C runtime, its tables and the placement of its buffers.
// One object per back end.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "codegen/llvm/codegen.h"
#include "library/build.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "target/target.h"

namespace hone::library {

// The inputs of a library's parts. All of them must outlive the call.
struct Parts {
  const graph::Graph& graph;  // with its alternatives
  const BuildInput& input;
  const graph::ParameterValues& values;
  bool in_place;
};

struct LinkedParts {
  std::vector<codegen::LinkInput> objects;  // in addition to the runtime
  ParamsFile params;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const TargetKind& kind() const = 0;

  // Alignment in bytes of a network's buffers, and of parts of a buffer that are buffers themselves (sharing.h).
  virtual int64_t buffer_alignment() const = 0;
  virtual int64_t slice_alignment() const { return buffer_alignment(); }

  // The compiled C code (runtime/*.c; on the CPU runtime/host/pool.c too): an ELF relocatable object for the
  // architecture of this program, or for a target that is a CPU, of its architecture. Returns kUnsupported if Hone was
  // built without a compiler for that.
  virtual Result<std::string_view> Runtime(const Target& target) const = 0;
  // Whether the library opens a device's driver at run time; it then needs more functions in the header, and libdl.
  virtual bool opens_device() const = 0;
  // The compiler of the kernels, for manifest.json.
  virtual void AddCompiler(const BuildInput& input, Json* manifest) const = 0;

  // Makes the tables and their data. Sets the memory figures of `built` and the places in `plan`.
  virtual Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const = 0;
};

// The base of back ends whose libraries launch kernels on a device (runtime/net_device.h).
class DeviceBackend : public Backend {
 public:
  bool opens_device() const override { return true; }
  void AddCompiler(const BuildInput&, Json*) const override {}
  Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const override;
};

#define HONE_BACKEND(folder, Name) const Backend& Name##Libraries();
#include "target/backends.def"
#undef HONE_BACKEND

// Returns kUnsupported if this kind of target has no libraries.
Result<const Backend*> FindBackend(const Target& target);

}  // namespace hone::library

// HONE_EMBED(name, file): includes a file of the build as bytes of this program, `Embedded_name()`. The assembler reads
// it, which avoids a generated source of a hundred thousand numbers. Use it in .cc files, outside of namespaces.
#define HONE_EMBED(name, file)                                                               \
  __asm__(                                                                                   \
      ".section .rodata\n"                                                                   \
      ".balign 64\n"                                                                         \
      ".hidden hone_runtime_" #name "_begin\n"                                               \
      ".globl hone_runtime_" #name "_begin\n"                                                \
      "hone_runtime_" #name "_begin:\n"                                                      \
      ".incbin \"" file "\"\n"                                                               \
      ".hidden hone_runtime_" #name "_end\n"                                                 \
      ".globl hone_runtime_" #name "_end\n"                                                  \
      "hone_runtime_" #name "_end:\n"                                                        \
      ".previous\n");                                                                        \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_begin[]; \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_end[];   \
  static std::string_view Embedded_##name() {                                                \
    return {hone_runtime_##name##_begin,                                                     \
            static_cast<size_t>(hone_runtime_##name##_end - hone_runtime_##name##_begin)};   \
  }
