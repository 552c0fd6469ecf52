// Converts the bytes of an ONNX file to plain data. Only this code knows protobuf.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "onnx/model.h"

namespace hone::onnx {

// Returns kInvalid (another format, truncated, inconsistent sizes, ...) or kUnsupported (element types, sparse tensors)
// in one line that starts with `path`. External data is read from the folder of `path`, or rejected if `external` is
// false. Allocates only tensors whose bytes are there.
Result<Model> ParseModel(std::string_view bytes, const std::string& path, bool external = true);
Result<Model> ReadModel(const std::string& path);

// Parses a file with one TensorProto (the test data of the onnx package).
Result<Tensor> ParseTensor(std::string_view bytes, const std::string& path);

}  // namespace hone::onnx
