// Backend: what a network library is made of on a kind of target: the C runtime that it carries, its tables, and how its
// buffers lie. One object a back end.
#pragma once

#include <cstdint>
#include <string>
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

// The inputs of a library's parts. All of it outlives the call.
struct Parts {
  const graph::Graph& graph;  // with its alternatives
  const BuildInput& input;
  const graph::ParameterValues& values;
  bool in_place;
};

struct LinkedParts {
  std::vector<codegen::LinkInput> objects;  // beside the runtime
  ParamsFile params;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const TargetKind& kind() const = 0;

  // Where buffers of a network may begin, and parts of a buffer that are buffers themselves (concat_slices.h), in bytes.
  virtual int64_t buffer_alignment() const = 0;
  virtual int64_t slice_alignment() const { return buffer_alignment(); }

  // The compiled C code (runtime/*.c; on the CPU runtime/host/pool.c too): an ELF relocatable object for the
  // architecture of this program.
  virtual std::string_view runtime() const = 0;
  // Whether a device's driver is opened at run time: more functions in the header, and libdl.
  virtual bool opens_device() const = 0;
  // The compiler of the kernels, for manifest.json.
  virtual void AddCompiler(const BuildInput& input, Json* manifest) const = 0;

  // The tables and what they describe. Sets the memory figures of `built` and the places in `plan`.
  virtual Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const = 0;
};

// The base of back ends whose libraries hold launches of a device (runtime/net_device.h).
class DeviceBackend : public Backend {
 public:
  bool opens_device() const override { return true; }
  void AddCompiler(const BuildInput&, Json*) const override {}
  Result<LinkedParts> Make(const Parts& parts, NetworkPlan* plan, BuiltLibrary* built) const override;
};

#define HONE_BACKEND(folder, Name) const Backend& Name##Libraries();
#include "target/backends.def"
#undef HONE_BACKEND

// kUnsupported if no libraries are built for this kind of target.
Result<const Backend*> FindBackend(const Target& target);

}  // namespace hone::library
