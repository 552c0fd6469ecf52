// The correct output of a task, computed in double precision: stored in a file, and compared with a candidate's output.
//
// TASK.reference is computed once and kept beside the task's records. It is derived data: if it is missing, damaged or
// for other inputs, it is computed again.
//
// Layout (little endian): magic "HONEOUT1", u64 length of the key, the key, u64 number of elements, the elements (in
// the output's type, as the target stores it), then the XXH3-128 of all preceding bytes (u64 high, u64 low). The key
// identifies the output: workload, storage and version of the inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"
#include "task/tensor_data.h"

namespace hone::measure {

std::string ReferenceKey(const std::string& workload, const std::vector<Operand>& operands);

// Returns kNotFound, or kCorrupt if the file is not the reference of `key` with the values of `output` as it is stored.
Result<TensorData> ReadReference(const std::string& path, const std::string& key, const Operand& output);
Status WriteReference(const std::string& path, const std::string& key, const TensorData& values);

// Checks an output. Every element is compared, including padded lanes.
//
// The error allowed for floats: |got - want| <= t * (1 + |want|) with t = 2^-23 * (64 + 16 * sqrt(reduction length)).
// Outputs are of order 1 (measure/inputs.h). A direct kernel's rounding error grows like the square root of the number
// of additions and stays 10 to 50 times below this; Winograd's, with its larger constants, stays below it as well; a
// missing term is an error of about 1 / sqrt(length), at least 25 times above it for all lengths up to 100,000.
double Tolerance(int64_t reduction_length);

// Nothing if the output is right; else the first differing element in storage order: "out[0,3,5,7,2] is 1.25, expected
// 1.5; 17 of 200704 elements differ, tolerance 1.2e-05". NaN is never right. Integers may
// differ by the whole part of `tolerance`. It is 0 except for groups that quantise floats (op::Computation::rounding).
std::optional<std::string> FirstDifference(const Operand& output, const void* got, const void* want, double tolerance);

}  // namespace hone::measure
