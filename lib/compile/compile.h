// Compiles a workload and a candidate to machine code. Operators, lowering and code generation meet only here; tuning
// and building use it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/cuda/codegen.h"
#include "codegen/llvm/codegen.h"
#include "ir/stmt.h"
#include "op/operator.h"
#include "target/kernel.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::compile {

struct LoweredKernel : KernelInterface {
  std::vector<ir::Function> functions;  // the kernel, then the function that packs constants
};

struct CompiledKernel : KernelInterface {
  std::string format = "elf-object";                // Artifact::format: "elf-object", "cubin" or "opencl-c"
  std::string object;                               // the bytes; for a device with both functions
  std::string prepare_object;                       // the prepare function, for "elf-object"; may be empty
  std::string llvm_ir, assembly, program;           // program: lowered ir as text; all only if requested
  std::string source;                               // for a device: the C text, if requested
  std::vector<codegen::KernelResources> resources;  // cuda: resources of each launch, from the assembler
  double lower_seconds = 0, codegen_seconds = 0;
};

// On in builds of type Debug; tests turn it on in all builds.
#ifdef HONE_DEBUG
inline constexpr bool kVerifyByDefault = true;
#else
inline constexpr bool kVerifyByDefault = false;
#endif

// The code of prepare functions that were compiled before, by the text of the lowered function: the candidates of a
// task share few of them. For one target and one value of `keep_text`. Not thread-safe. CompileKernel empties a cache
// of kMostPrepares before it adds one: a compile worker lives as long as its task, has a memory limit and gets other
// functions for each layout. Emptying costs one more compilation of those still in use.
inline constexpr size_t kMostPrepares = 256;
using PrepareCache = std::map<std::string, codegen::ObjectCode>;

struct CompileOptions {
  std::string symbol = "hone_kernel";  // the kernel's; the prepare function adds "_prepare"
  bool keep_text = false;
  bool verify = kVerifyByDefault;         // runs the verifier between all lowering passes
  int newest_cuda = 0;                    // for cuda: CudaOptions::newest
  PrepareCache* prepare_cache = nullptr;  // for cpu; the result is the same without it
};

// The first half of CompileKernel: returns the functions in their final form, ready for code generation.
Result<LoweredKernel> LowerKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                  const CompileOptions& options);

// For a device, one artifact has the launches of the kernel and of the prepare function. Returns kNotFound without its
// compiler.
Result<CompiledKernel> CompileKernel(const Workload& workload, const Target& target, const Candidate& candidate,
                                     const CompileOptions& options);

// Replaces the prepare function of a kernel for a CPU of another architecture by one that runs on this machine, under
// the same symbol and with the same arguments. It writes the same bytes on every machine. `kernel` is CompileKernel's
// result for the other arguments, and has a prepare function.
Status PrepareHere(const Workload& workload, const Target& target, const Candidate& candidate,
                   const CompileOptions& options, CompiledKernel* kernel);

// Appends the objects of a kernel for CPUs for the linker.
void AddObjects(const CompiledKernel& kernel, std::vector<codegen::LinkInput>* objects);

// The digest of all code that the machine runs, as stored in records. Equal code has equal digests if it was compiled
// under CompileOptions' default symbol.
std::string ArtifactDigest(const CompiledKernel& kernel);

// The kernel's loops as scheduled: the output of lower/loop_nest.cc, before any other pass. Search uses it to compare
// points: about ten times faster than CompileKernel. Thread-safe.
Result<ir::Function> LowerLoops(const Workload& workload, const Target& target, const Candidate& candidate);
Result<ir::Function> LowerLoops(const Workload& workload, const Target& target, const Config& config);

// The version of lowering and code generation; raise it when generated code changes so that timings may differ.
int CodegenVersion();

}  // namespace hone::compile
