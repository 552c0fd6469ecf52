// The equation of an Einsum node: which axes of its operands are the same, and which of them the result has. What it
// does not have is summed up.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone::onnx {

// A label an axis: a letter, or one of those that an ellipsis stands for, from the last.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

// "bij,bjk->bik"; without "->" the result has what stands once, in the order of the alphabet. Spaces mean nothing.
// `ranks`: of the operands. An operand that has a label twice stands for its diagonal. kInvalid for a malformed
// equation of such operands.
Result<Equation> ParseEquation(const std::string& text, const std::vector<size_t>& ranks);

}  // namespace hone::onnx
