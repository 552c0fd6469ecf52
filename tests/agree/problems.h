// Small computations of every relevant shape: prime and odd extents, extent 1, padding, strides, several readers.
#pragma once

#include <string>
#include <vector>

#include "te/tensor.h"

namespace hone::agree {

struct Problem {
  std::string name;
  std::vector<te::Tensor> inputs, outputs;
};

// Fresh tensors at each call.
std::vector<Problem> AllProblems();

}  // namespace hone::agree
