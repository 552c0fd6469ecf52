// A workload's kernel for a GPU, lowered and run by the interpreter.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "compile/compile.h"
#include "op/operator.h"

namespace hone::testing {

// Inputs of all operands, deterministic, whole multiples of 1/8 in [-1, 1]; the output is NaN.
std::vector<std::vector<float>> MakeGpuOperands(const Workload& workload, const Target& target, uint64_t seed);

// The kernel of a candidate or a point, and the one that packs its constants, in their final form, verified between
// passes.
Result<compile::LoweredKernel> LowerGpu(const Workload& workload, const Target& target, const Candidate& candidate,
                                        const std::string& symbol = "kernel");
Result<compile::LoweredKernel> LowerGpu(const Workload& workload, const Target& target, const Config& config,
                                        const std::string& symbol = "kernel");

// Runs the point: constants are packed, then the kernel runs, with blocks and threads in an order given by `seed`. The
// interpreter rejects races, barriers that not all threads reach, reads of unwritten memory and accesses out of bounds.
Status RunOnInterpreter(const compile::LoweredKernel& kernel, uint64_t seed, std::vector<std::vector<float>>* operands);
Status RunOnInterpreter(const Workload& workload, const Target& target, const Config& config, uint64_t seed,
                        std::vector<std::vector<float>>* operands);

// Compares `operands.back()` with Operator::Reference on the others: "" or the difference.
std::string DiffersFromReference(const Workload& workload, const Target& target,
                                 const std::vector<std::vector<float>>& operands);

// Combines these: "" or the point and the problem.
std::string CheckGpu(const Workload& workload, const Target& target, const Config& config, uint64_t seed);

// Random legal points of a template.
struct GpuPoints {
  GpuPoints(const std::string& text, const Target& target, const std::string& template_name, uint64_t seed = 3);
  Config Draw() { return space.At(*space.SampleLegal(rng)); }

  Workload w;
  const op::Template* t = nullptr;
  search::Space space;
  Rng rng;
};

}  // namespace hone::testing
