// Device code as CUDA C, compiled by NVRTC to a cubin for the target's architecture. Building needs neither a GPU nor
// the CUDA Toolkit: NVRTC (version 12 or 13) is opened on first use.
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
  std::vector<std::string> nvrtc;  // libraries to choose from, in order; empty: those of the loader and /usr/local/cuda
  bool warnings_fail = false;      // treats warnings of the compiler as errors
  // The highest allowed major version of NVRTC, for code that will run under a driver of that CUDA version: an older
  // driver may refuse code from a newer major version. 0: any.
  int newest = 0;
};

// Resources of a kernel, as the assembler reports them.
struct KernelResources {
  std::string symbol;
  int64_t registers = 0;     // per thread
  int64_t spill_bytes = 0;   // bytes of spill stores and loads in the code, to and from local memory
  int64_t stack_bytes = 0;   // local memory per thread: private arrays that are not in registers, and spills
  int64_t shared_bytes = 0;  // declared, per block
};

struct CudaCode {
  Artifact artifact;                       // its format is "cubin"
  std::string source;                      // CUDA C
  std::vector<KernelResources> resources;  // one per launch, in order of the entries
};

// Writes only the text: needs no NVRTC. `functions` must be in their final form (codegen/c_source/source.h).
Result<CudaCode> WriteCuda(const std::vector<ir::Function>& functions, const Target& target);

// Returns kNotFound without NVRTC; kUnsupported if no NVRTC both supports the target's architecture and is old enough.
// Both messages say what was found and what to install. Returns kInvalid if NVRTC rejects the code. Thread-safe.
Result<CudaCode> CompileToCuda(const std::vector<ir::Function>& functions, const Target& target,
                               const CudaOptions& options = {});

// "NVRTC 13.0": the compiler for `arch` ("sm_90"; empty: the newest one), or why no compiler is usable.
Result<std::string> NvrtcVersion(const std::string& arch, const CudaOptions& options = {});

}  // namespace hone::codegen
