// From a workload and a candidate to machine code: the one place where operators, lowering and code generation meet; used by
// tuning and by building.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/cuda/codegen.h"
#include "ir/stmt.h"
#include "op/operator.h"
#include "target/kernel.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::compile {

struct LoweredKernel : KernelInterface {
  std::vector<Step> steps;
  std::vector<ir::Function> functions;    // the kernel, then the one that packs
};

struct CompiledKernel : KernelInterface {
  std::vector<Step> steps;
  std::string format = "elf-object";      // Artifact::format: "elf-object", "cubin" or "opencl-c"
  std::string object;                     // the bytes, with both functions
  std::string llvm_ir, assembly, program; // program: lowered ir as text; all only if asked for
  std::string source;                     // of a device: the C text, if asked for
  std::vector<codegen::KernelResources> resources;  // cuda: what each launch takes, as the assembler says
  double lower_seconds = 0, codegen_seconds = 0;
};

// On in builds of type Debug; tests turn it on in all.
#ifdef HONE_DEBUG
inline constexpr bool kVerifyByDefault = true;
#else
inline constexpr bool kVerifyByDefault = false;
#endif

struct CompileOptions {
  std::string symbol = "hone_kernel";  // of the kernel; the prepare function adds "_prepare"
  bool keep_text = false;
  bool verify = kVerifyByDefault;  // the lowering verifier between all passes
  int newest_cuda = 0;             // of cuda: CudaOptions::newest
};

// The first half of CompileKernel: the functions in their final form, as code is generated for them.
Result<LoweredKernel> LowerKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                  const CompileOptions& options);

// For a device the kernel's launches and those of the prepare function are one artifact. kNotFound: its compiler is not
// there.
Result<CompiledKernel> CompileKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                     const CompileOptions& options);

// The same for the candidate that a template makes of `config` (op::Instantiate).
Result<LoweredKernel> LowerKernel(const Workload& workload, const Target& target, const Config& config,
                                  const CompileOptions& options);
Result<CompiledKernel> CompileKernel(const Workload& workload, const Target& target, const Config& config,
                                     const CompileOptions& options);

// The digest of all code that the machine runs, as records hold it. Equal code has equal digests if it was compiled under
// CompileOptions' usual symbol.
std::string ArtifactDigest(const CompiledKernel& kernel);

// The kernel's loops as scheduled: what lower/loop_nest.cc makes, before any other pass. Search uses it to compare
// points: about ten times faster than CompileKernel. Thread-safe.
Result<ir::Function> LowerLoops(const Workload& workload, const Target& target, const Config& config);

// Version of what lowering and code generation produce; raised when generated code changes so that timings may differ.
int CodegenVersion();

}  // namespace hone::compile
