// The values of a te DAG directly from its definition, with which all other engines must agree: without a schedule or
// loops, each element of each tensor by itself, in double precision.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "te/tensor.h"

namespace hone::agree {

using Values = std::map<std::string, std::vector<double>>;  // by tensor name, row-major

// Adds the values of every computation that `outputs` need and `values` lacks; it contains those of the placeholders.
void EvaluateDag(const std::vector<te::Tensor>& outputs, Values* values);

}  // namespace hone::agree
