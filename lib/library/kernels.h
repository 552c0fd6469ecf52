// The machine code of a network: one kernel a distinct workload.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "pipeline/best_file.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::library {

struct NetworkKernel {
  Workload workload;
  Config config;
  std::string source;        // "tuned", "anchor", "default": where the config comes from; "fixed": nothing to choose
  std::string task;          // its id
  std::string steps_digest;  // of the steps the config means now, hex
  compile::CompiledKernel compiled;
};

// Compiles each workload once, with its configuration in `best` (null: defaults all over), under the symbol
// hone_k<index>, in `threads` threads; `newest_cuda` as compile::CompileOptions has it. kInvalid if a recorded
// configuration is none of this Hone's any more: the message names the task.
Result<std::vector<NetworkKernel>> CompileKernels(const std::vector<Workload>& workloads, const Target& target,
                                                  const pipeline::BestFile* best, int threads, int newest_cuda = 0);

// How far the outputs of a network of these kernels, each used so often, may be off beyond plain sums, in the outputs'
// deviations: what each kernel may be off (op::Instance::rounding) adds up as squares do. Those count that are off by
// more than 2^-10, as TF32 is: the others are within what a network may be off anyway. 0: there are none.
double NetworkRounding(const std::vector<NetworkKernel>& kernels, const std::vector<int>& uses);

}  // namespace hone::library
