// A whole ONNX model. Its open dimensions become small ones, and little is folded, so that a case takes milliseconds.
// Its folder has one file for external data.
#include "base/file.h"
#include "fuzz_target.h"
#include "onnx/import.h"
#include "onnx/read_model.h"

namespace hone::onnx {

// The model's path: beside `w.bin`, which has 16 values of 1.
static const std::string& ModelPath() {
  static const std::string path = [] {
    const std::vector<float> values(16, 1);
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    HONE_CHECK(WriteFileAtomic(JoinPath(fuzz::InputFolder(), "w.bin"), bytes).ok());
    return JoinPath(fuzz::InputFolder(), "fuzz.onnx");
  }();
  return path;
}

HONE_FUZZ_TARGET(onnx) {
  auto model = ParseModel(input, ModelPath());
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
