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
  // x: the inputs' values; a: the parameters' values, in order. A NaN input gives NaN, except for thresholded_relu and
  // pow.
  double (*value)(const double* x, const double* a);
  std::vector<Parameter> parameters;
};

const std::vector<ScalarFunction>& ScalarFunctions();
// REQUIRES: a function of that name exists.
const ScalarFunction& ScalarFunctionOf(const std::string& name);
// The values of the function's parameters in the workload.
std::vector<double> ParameterValues(const ScalarFunction& function, const Workload& workload);

}  // namespace hone::semantics
