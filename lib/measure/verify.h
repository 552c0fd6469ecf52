// Is an output right? Every element, padded lanes included, against the reference computed in double precision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/kernel.h"

namespace hone::measure {

// The error allowed for floats: |got - want| <= t * (1 + |want|) with t = 2^-23 * (64 + 16 * sqrt(reduction length)).
// Outputs are of order 1 (measure/inputs.h). A direct kernel's rounding error grows like the square root of the number
// of additions and stays 10 to 50 times below this; Winograd's, with its larger constants, below it too; a term left
// out is an error of about 1 / sqrt(length), at least 25 times above it for all lengths up to 100,000.
double Tolerance(int64_t reduction_length);

// Nothing if all is well; else the first differing element in storage order:
// "out[0,3,5,7,2] is 1.25, expected 1.5; 17 of 200704 elements differ, tolerance 1.2e-05". NaN is never right,
// and an integer is right if it is equal.
std::optional<std::string> FirstDifference(const Operand& output, const void* got, const void* want, double tolerance);

}  // namespace hone::measure
