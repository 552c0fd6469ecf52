// A workload's kernel for a GPU, lowered and run by the interpreter.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "op/operator.h"

namespace hone::testing {

// Inputs of all operands, deterministic, whole multiples of 1/8 in [-1, 1]; the output is NaN.
std::vector<std::vector<float>> MakeGpuOperands(const Workload& workload, const Target& target, uint64_t seed);

// The point's kernel in its final form, verified between passes.
Result<ir::Function> LowerGpu(const Workload& workload, const Target& target, const Config& config);

// Runs the point: constants are packed, then the kernel runs, blocks and threads in an order that `seed` chooses. The
// interpreter refuses races, barriers that not all threads reach, reads of what was never written and accesses outside.
Status RunOnInterpreter(const Workload& workload, const Target& target, const Config& config, uint64_t seed,
                        std::vector<std::vector<float>>* operands);

// As that, and compares with Operator::Reference: "" or what differs.
std::string CheckGpu(const Workload& workload, const Target& target, const Config& config, uint64_t seed);

}  // namespace hone::testing
