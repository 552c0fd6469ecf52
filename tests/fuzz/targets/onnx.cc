// A whole ONNX model. Its open dimensions become small ones, and little is folded, so that a case takes milliseconds.
#include "fuzz_target.h"
#include "onnx/import.h"
#include "onnx/read_model.h"

namespace hone::onnx {

HONE_FUZZ_TARGET(onnx) {
  auto model = ParseModel(input, "fuzz.onnx", false);
  if (!model.ok()) return model.status();
  ImportOptions options;
  options.fold_limit = 1 << 20;
  for (const ModelInput& given : model->inputs) {
    if (given.shape.size() > 8) continue;
    Shape shape;
    for (const auto& extent : given.shape) shape.push_back(extent.value_or(2));
    options.shapes[given.name] = shape;
  }
  return Import(*model, "fuzz", options).status();
}

}  // namespace hone::onnx
