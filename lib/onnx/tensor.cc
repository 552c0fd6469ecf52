#include "onnx/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::onnx {

std::string ElementTypeName(ElementType type) {
  switch (type) {
    case ElementType::kUndefined:
      return "undefined";
    case ElementType::kFloat:
      return "float32";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kUint16:
      return "uint16";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kString:
      return "string";
    case ElementType::kBool:
      return "bool";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kDouble:
      return "float64";
    case ElementType::kUint32:
      return "uint32";
    case ElementType::kUint64:
      return "uint64";
    case ElementType::kBfloat16:
      return "bfloat16";
  }
  return fmt::format("type {}", static_cast<int32_t>(type));
}

bool IsFloating(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble || type == ElementType::kFloat16 ||
         type == ElementType::kBfloat16;
}

bool IsInteger(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kBool:
    case ElementType::kUint32:
    case ElementType::kUint64:
      return true;
    default:
      return false;
  }
}

int64_t Tensor::Elements() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Result<int64_t> CountElements(const Shape& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) return Status::Invalid(fmt::format("the shape {} has a negative extent", ShapeText(shape)));
    if (extent == 0) {
      empty = true;
      continue;
    }
    // Also for an empty one, so that no product of its extents overflows.
    if (extent > kMaxElements / count) {
      return Status::Invalid(fmt::format("{} is too large: at most {} elements", ShapeText(shape), kMaxElements));
    }
    count *= extent;
  }
  return empty ? 0 : count;
}

std::string ShapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace hone::onnx
