#include "fuzz_target.h"

#include <string_view>

#include "base/check.h"
#include "onnx/import.h"
#include "onnx/read_model.h"

namespace hone::onnx {
namespace {

Status Read(std::string_view bytes) {
  auto model = ParseModel(bytes, "fuzz.onnx", false);
  if (!model.ok()) return model.status();
  ImportOptions options;
  options.fold_limit = 1 << 20;  // so that a case takes milliseconds
  for (const ModelInput& input : model->inputs) {
    if (input.shape.size() > 8) continue;
    // Open dimensions become small ones.
    Shape shape;
    for (const auto& extent : input.shape) shape.push_back(extent.value_or(2));
    options.shapes[input.name] = shape;
  }
  return Import(*model, "fuzz", options).status();
}

}  // namespace

Status ReadBytes(const uint8_t* data, size_t size) {
  Status status = Read({reinterpret_cast<const char*>(data), size});
  return status;
}

}  // namespace hone::onnx
