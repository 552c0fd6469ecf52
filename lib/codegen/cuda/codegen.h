// Device code as CUDA C, compiled by NVRTC to a cubin of the target's architecture. Needs no GPU and no CUDA Toolkit to
// build: NVRTC (version 12 or 13) is opened when first asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

struct CudaOptions {
  std::vector<std::string> nvrtc;  // files to choose from, in order; empty: what the loader or /usr/local/cuda has
  bool warnings_fail = false;      // a warning of the compiler is an error
  // NVRTC's major version at most, for code that is to run under a driver of that version of CUDA: one of an older
  // driver need not load what a newer major version made. 0: any.
  int newest = 0;
};

// A kernel's use of the device, as the assembler reports it.
struct KernelResources {
  std::string symbol;
  int64_t registers = 0;     // of a thread
  int64_t spill_bytes = 0;   // stored to and loaded from local memory for want of registers, by the text of the code
  int64_t stack_bytes = 0;   // of local memory a thread: private arrays that are not in registers, and spills
  int64_t shared_bytes = 0;  // declared, of a block
};

struct CudaCode {
  Artifact artifact;                       // of format "cubin"
  std::string source;                      // CUDA C
  std::vector<KernelResources> resources;  // one a launch, in order of the entries
};

// The text alone: needs no NVRTC. `functions` in their final form (codegen/c_source/source.h).
Result<CudaCode> WriteCuda(const std::vector<ir::Function>& functions, const Target& target);

// kNotFound: no NVRTC. kUnsupported: none of those there are does the target's architecture and is old enough. Both
// messages say what was found and what to install. kInvalid: it rejects the code. Thread-safe.
Result<CudaCode> CompileToCuda(const std::vector<ir::Function>& functions, const Target& target,
                               const CudaOptions& options = {});

// "NVRTC 13.0": the compiler for `arch` ("sm_90"; empty: the newest one), or why there is none.
Result<std::string> NvrtcVersion(const std::string& arch, const CudaOptions& options = {});

}  // namespace hone::codegen
