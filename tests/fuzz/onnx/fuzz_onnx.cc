#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)hone::onnx::ReadBytes(data, size);
  return 0;
}
