// The bytes of an ONNX file to plain data. The one place that knows protobuf.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "onnx/model.h"

namespace hone::onnx {

// kInvalid (not such a file, cut short, sizes that do not fit, ...) and kUnsupported (element types, sparse tensors)
// in one line that starts with `path`. External data is read from the folder of `path`; with `external` false it is
// refused. No tensor is allocated that its bytes do not fill.
Result<Model> ParseModel(std::string_view bytes, const std::string& path, bool external = true);
Result<Model> ReadModel(const std::string& path);

// A file that holds one TensorProto (the test data of the onnx package).
Result<Tensor> ParseTensor(std::string_view bytes, const std::string& path);

}  // namespace hone::onnx
