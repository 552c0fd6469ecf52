// The machine code of a network: one kernel per distinct workload.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "pipeline/best_file.h"
#include "runtime/host/loader.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::library {

struct NetworkKernel {
  Workload workload;
  Config config;
  std::string source;                // source of the config: "tuned", "anchor", "default"; "fixed": there is no choice
  std::string task;                  // the task's id
  std::string steps_digest;          // digest of Candidate::Text as built, in hex as in best files
  std::string artifact_digest;       // of the code, as in records (compile::ArtifactDigest); empty: cannot be compared
  bool changed = false;              // the digest in `best` shows that other code was measured
  compile::CompiledKernel compiled;  // its prepare function runs on this machine, whatever the target
};

// Compiles each workload once, with its candidate in `best` (null: defaults everywhere), under the symbol
// hone_k<index>, in `threads` threads; see compile::CompileOptions for `newest_cuda`. Returns kInvalid, naming the
// task, if a candidate cannot be built, or if an older file has only a configuration that this version of Hone no
// longer has.
Result<std::vector<NetworkKernel>> CompileKernels(const std::vector<Workload>& workloads, const Target& target,
                                                  const pipeline::BestFile* best, int threads, int newest_cuda = 0);

// Links objects for this machine's CPU with each other and loads them into this process.
Result<runtime::LoadedModule> LoadObjects(const std::vector<codegen::LinkInput>& objects);

// The rounding error that these kernels of `graph`, used `uses` times each, add to its outputs beyond plain sums, in
// standard deviations of the outputs. The kernels' errors (op::Computation::rounding) add up as squares. Only errors
// above 2^-10 count, such as TF32's; smaller ones lie within the network's general tolerance. Where the graph quantises
// floats that it has computed, a step counts, a 64th of a byte's deviation. 0 if there is nothing of the kind: then
// outputs of integers have one right value.
double NetworkRounding(const graph::Graph& graph, const std::vector<NetworkKernel>& kernels,
                       const std::vector<int>& uses);

}  // namespace hone::library
