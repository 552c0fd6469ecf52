// The scalar functions behind elementwise operators.
#pragma once

#include <string>
#include <vector>

#include "semantics/semantics.h"

namespace hone::semantics {

struct Parameter {
  const char* name;
  double usual;
};

struct ScalarFunction {
  const char* name;
  size_t inputs;
  double flop;
  // x: the inputs' values; a: its parameters' values, in order. NaN in gives NaN out, but for thresholded_relu and pow.
  double (*value)(const double* x, const double* a);
  std::vector<Parameter> parameters;
};

const std::vector<ScalarFunction>& ScalarFunctions();
// REQUIRES: there is one of that name.
const ScalarFunction& ScalarFunctionOf(const std::string& name);
// The workload's values of the function's parameters.
std::vector<double> ParameterValues(const ScalarFunction& function, const Workload& workload);

}  // namespace hone::semantics
