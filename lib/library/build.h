// hone-build's work: from a graph and the best configurations to a library that needs libc and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "library/kernels.h"
#include "pipeline/best_file.h"
#include "target/target.h"

namespace hone::library {

struct BuildInput {
  graph::Graph graph;                            // any; it is normalised and canonicalised here
  const graph::ParameterValues* file = nullptr;  // values of its parameters of kind kFile
  Target target;
  const pipeline::BestFile* best = nullptr;  // null: default configurations
  std::string name;                          // of the files: libNAME.so, NAME.h, NAME.params
  int threads = 1;                           // for compiling
  int newest_cuda = 0;                       // of a CUDA library: compile::CompileOptions
  // Who compiles the kernels; empty: CompileKernels. Tests put something else in its place.
  std::function<Result<std::vector<NetworkKernel>>(const std::vector<Workload>&, const Target&,
                                                   const pipeline::BestFile*, int threads)>
      compile;
  // Where `best` says nothing else, or is null: parts of a concatenation lie in it, and sums over their residual.
  pipeline::Sharing share;
};

struct BuiltLibrary {
  std::string name;                                      // of the files
  std::string identifier;                                // prefix of the C names
  std::string library, header, params, manifest, graph;  // file contents
  std::vector<NetworkKernel> kernels;
  int slices = 0;    // concatenations that need no copying
  int in_place = 0;  // nodes that write over their residual
  int64_t workspace_bytes = 0, params_bytes = 0, arena_bytes = 0;
  double rounding = 0;  // NetworkRounding
  int changed = 0;  // kernels that are not the code that was measured: the code generator is another one
  int missing = 0;  // tunable tasks that `best` has no configuration for
};

// The network is built with the alternatives of `best`; `graph` of the result has no alternatives: it is what the
// library computes. kInvalid if `best` is of another network or target, or has an alternative that this graph does not.
// The same input gives the same bytes.
Result<BuiltLibrary> BuildLibrary(BuildInput input);

// libNAME.so, NAME.h, NAME.params, NAME.graph.json and, last, manifest.json in `dir`, which is made if it is not there;
// each written only if its bytes change. The parameters are dropped from the system's cache (DropCached).
Status WriteLibrary(const BuiltLibrary& built, const std::string& dir);

}  // namespace hone::library
