// Implements hone-build: turns a graph and the best configurations into a library that needs only libc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "library/kernels.h"
#include "pipeline/best_file.h"
#include "target/target.h"

namespace hone::library {

struct BuildInput {
  graph::Graph graph;                            // any graph; BuildLibrary normalises and canonicalises it
  const graph::ParameterValues* file = nullptr;  // values of its parameters of kind kFile
  Target target;
  const pipeline::BestFile* best = nullptr;  // null: default configurations
  std::string name;                          // of the files: libNAME.so, NAME.h, NAME.params
  int threads = 1;                           // for compiling
  int newest_cuda = 0;                       // for CUDA libraries: see compile::CompileOptions
  // Compiles the kernels; empty: CompileKernels. Tests replace it.
  std::function<Result<std::vector<NetworkKernel>>(const std::vector<Workload>&, const Target&,
                                                   const pipeline::BestFile*, int threads)>
      compile;
  // The default if `best` does not say or is null: parts of a concatenation lie in it, and sums lie over their
  // residual.
  pipeline::Sharing share;
};

struct BuiltLibrary {
  std::string name;                                      // of the files
  std::string identifier;                                // prefix of the C names
  std::string library, header, params, manifest, graph;  // file contents
  std::vector<NetworkKernel> kernels;
  int slices = 0;    // concatenations that are not copied
  int in_place = 0;  // nodes that overwrite their residual
  int unasked = 0;   // kernels that might, but do not run on this machine, which would show it
  int64_t workspace_bytes = 0, params_bytes = 0, arena_bytes = 0;
  double rounding = 0;  // NetworkRounding
  int changed = 0;      // kernels whose code differs from the measured code, because the code generator has changed
  int missing = 0;      // tunable tasks without a configuration in `best`
};

// Builds the network with the alternatives of `best`, so `graph` of the result has no alternatives left: it is what the
// library computes. Returns kInvalid if `best` is for another network or target, or has an alternative that does not
// fit this graph. The same input gives the same bytes.
Result<BuiltLibrary> BuildLibrary(BuildInput input);

// Writes libNAME.so, NAME.h, NAME.params, NAME.graph.json and, last, manifest.json into `dir`, which it creates if
// needed; each only if its bytes change. Drops the parameters from the system's cache (DropCached).
Status WriteLibrary(const BuiltLibrary& built, const std::string& dir);

}  // namespace hone::library
