// What is fuzzed: the bytes of a model, read and imported.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace hone::onnx {

// Aborts if a message is more than one line; else only a crash, a leak or an endless loop is a finding.
Status ReadBytes(const uint8_t* data, size_t size);

}  // namespace hone::onnx
