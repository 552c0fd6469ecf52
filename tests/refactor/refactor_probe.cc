// Prints what a refactoring must not change: for every template and sketch of a target, seeded legal points with
// digests of their steps and of the generated code, one line per point.
//
//   refactor_probe TARGET [POINTS [SEED [TEMPLATE]]]     TARGET: a target's text (target/target.h)
//
// The points of a template (default 200) are distributed over the layers of the grid of odd ones
// (unit/op/kernel_grid.h) and of RealLayers that have the template. Code is the object for a CPU and the source text
// for OpenCL and CUDA: CUDA's assembler is not used, so that the digests do not depend on its version. check.sh
// compares the output of two commits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "codegen/cuda/codegen.h"
#include "codegen/llvm/codegen.h"
#include "compile/compile.h"
#include "op/operator.h"
#include "propose/propose.h"
#include "unit/op/kernel_grid.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

// Layers of networks: large enough for every kind of tile.
const char* const kRealLayers[] = {
    "conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2x2, pad=3,3,3,3, in=nchw) + bias + relu",
    "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
    "conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2x2, pad=1,1,1,1) + bias + relu",
    "conv2d(f32[1,256,14,14], f32[512,256,1,1]) + bias",
    "conv2d(f32[1,96,28,28], f32[96,1,3,3], pad=1,1,1,1, groups=96) + bias + relu6",
    "conv2d(f32[1,64,35,35], f32[96,64,5,5], pad=2,2,2,2) + bias + relu",
    "conv3d(f32[1,32,4,28,28], f32[32,32,3,3,3], pad=1,1,1,1,1,1) + bias + relu",
    "dense(f32[1,512], f32[1000,512]) + bias",
    "matmul(f32[12,197,64], f32[12,64,197])",
};

// Digests of one point's code and of its steps, or why there is no code.
Result<std::string> Digests(const propose::Proposer& proposer, const Target& target, const Config& config) {
  const compile::CompileOptions options;
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(proposer.workload(), target, config));
  const std::string steps = Digest128(StepsText(candidate.steps)).Hex();
  const auto line = [&](const std::string& code, const std::vector<EntryPoint>& entries) {
    return fmt::format("{}\t{}", Digest128(code + EntriesText(entries)).Hex(), steps);
  };
  HONE_ASSIGN_OR_RETURN(const compile::LoweredKernel lowered,
                        compile::LowerKernel(proposer.workload(), target, candidate, options));
  if (target.kind == &CudaKind()) {
    HONE_ASSIGN_OR_RETURN(const codegen::CudaCode code, codegen::WriteCuda(lowered.functions, target));
    return line(code.source, code.artifact.entries);
  }
  if (target.kind == &CpuKind()) {
    // Both functions in one object, as CompileKernel made it up to version 4 of generated code: commits of 4 and 5
    // print the same. When no base of a comparison is that old any more, delete this branch: CompileKernel below then
    // serves CPUs as well, with its prepare_object added to the code.
    HONE_ASSIGN_OR_RETURN(codegen::ObjectCode code, codegen::CompileToObject(lowered.functions, target, {}));
    code.entries.resize(2);
    return line(code.object, code.entries);
  }
  HONE_ASSIGN_OR_RETURN(const compile::CompiledKernel kernel,
                        compile::CompileKernel(proposer.workload(), target, candidate, options));
  return line(kernel.object, {kernel.kernel, kernel.prepare});
}

void Probe(const propose::Proposer& proposer, const Target& target, int points, uint64_t seed) {
  // Seeded by the layer, so that adding or removing a layer does not change other layers' points.
  Rng rng(Mix64(seed) ^ Digest128(proposer.workload().Text()).lo);
  Result<search::Space> space = proposer.MakeSpace();
  const std::string name = fmt::format("{}\t{}", proposer.name(), proposer.workload().Text());
  if (!space.ok()) {
    fmt::print("{}\tno space: {}\n", name, space.status().message());
    return;
  }
  const int most = space->size() == 1 ? std::min(points, 1) : points;
  for (int i = 0; i < most; ++i) {
    const auto index = space->SampleLegal(rng, 1000);
    if (!index) {
      fmt::print("{}\tno legal point\n", name);
      return;
    }
    const Config config = space->At(*index);
    const Result<std::string> digests = Digests(proposer, target, config);
    fmt::print("{}\t{}\t{}\n", name, config.Text(), digests.ok() ? *digests : "error: " + digests.status().message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = Target::Parse(argc > 1 ? argv[1] : "");
  if (!target.ok()) {
    fmt::print(stderr, "refactor_probe: {}\n", target.status().message());
    return 2;
  }
  const size_t points = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;

  std::vector<std::string> layers(std::begin(kRealLayers), std::end(kRealLayers));
  for (const std::string& text : op::OddLayers()) layers.push_back(text);
  std::map<std::string, propose::Proposers> by_name;
  for (const std::string& text : layers) {
    const auto workload = op::ParseChecked(text);
    if (!workload.ok()) {
      fmt::print(stderr, "refactor_probe: {}: {}\n", text, workload.status().message());
      return 1;
    }
    const auto proposers = propose::AllProposers(*workload, *target);
    if (!proposers.ok()) continue;
    for (const propose::Proposer& p : *proposers) by_name[p.name()].push_back(p);
  }
  const std::string only = argc > 4 ? argv[4] : "";
  for (const auto& [name, proposers] : by_name) {
    if (!only.empty() && name != only) continue;
    fmt::print("template\t{}\tversion {}\t{} layers\n", name, proposers[0].version(), proposers.size());
    for (size_t i = 0; i < proposers.size(); ++i) {
      const size_t share = points * (i + 1) / proposers.size() - points * i / proposers.size();
      Probe(proposers[i], *target, static_cast<int>(share), seed);
    }
  }
  return 0;
}
