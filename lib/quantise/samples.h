// Calibration inputs in files.
//
// Raw: the float32 values of an input, little endian, row-major, one input after the other, and nothing else. NumPy's
// format, versions 1.0 and 2.0: "\x93NUMPY", two bytes of version, the length of the header (16 bits, in version 2.0 32
// bits, little endian), the header, which is a Python dictionary such as
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 224, 224), }
//
// and the values. Only float32, little endian, in C's order. The shape is that of the network's input, with or without
// another axis before it that counts inputs; if the network's first axis is 1, it may be left out or count inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/tensor_data.h"

namespace hone::quantise {

struct Samples {
  int64_t count = 0;
  std::vector<float> values;  // of all of them
};

// Whether the bytes begin as NumPy's files do.
bool IsNpy(std::string_view bytes);

// Reads at most `most` inputs of `type` from a file's bytes. Returns kInvalid or kUnsupported with `path` and what to
// do: another type or shape, cut short, no input, a value that is not finite.
Result<Samples> ParseSamples(std::string_view bytes, const std::string& path, const TensorType& type, int64_t most);

// NumPy's file of such values, version 1.0.
std::string NpyText(const std::vector<int64_t>& shape, const std::vector<float>& values);

}  // namespace hone::quantise
