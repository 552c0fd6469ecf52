#include "onnx/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace hone::onnx {

namespace {

struct TypeRow {
  ElementType type;
  const char* name;
  bool floating, integer;
};
constexpr TypeRow kTypes[] = {
    {ElementType::kUndefined, "undefined", false, false},
    {ElementType::kString, "string", false, false},
    {ElementType::kFloat, "float32", true, false},
    {ElementType::kDouble, "float64", true, false},
    {ElementType::kFloat16, "float16", true, false},
    {ElementType::kBfloat16, "bfloat16", true, false},
    {ElementType::kUint8, "uint8", false, true},
    {ElementType::kInt8, "int8", false, true},
    {ElementType::kUint16, "uint16", false, true},
    {ElementType::kInt16, "int16", false, true},
    {ElementType::kUint32, "uint32", false, true},
    {ElementType::kInt32, "int32", false, true},
    {ElementType::kUint64, "uint64", false, true},
    {ElementType::kInt64, "int64", false, true},
    {ElementType::kBool, "bool", false, true},
};

// Null for a type without a name here.
const TypeRow* RowOf(ElementType type) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes), [type](const auto& r) { return r.type == type; });
  return row == std::end(kTypes) ? nullptr : row;
}

}  // namespace

std::string ElementTypeName(ElementType type) {
  const TypeRow* row = RowOf(type);
  return row != nullptr ? row->name : fmt::format("type {}", static_cast<int32_t>(type));
}

bool IsFloating(ElementType type) { return RowOf(type) != nullptr && RowOf(type)->floating; }
bool IsInteger(ElementType type) { return RowOf(type) != nullptr && RowOf(type)->integer; }

Tensor::Tensor(ElementType of, const Shape& shape)
    : type(of), data(TensorType{IsFloating(of) ? DType::Float(32) : DType::Int(64), shape}) {}

void Tensor::Set(size_t i, double value) {
  if (IsFloating(type)) {
    data.as<float>()[i] = static_cast<float>(value);
  } else {
    data.as<int64_t>()[i] = ToInt(value);
  }
}

void Tensor::Copy(size_t to, const Tensor& other, size_t from, size_t count) {
  const auto bytes = static_cast<size_t>(data.type.type.bytes());
  std::memcpy(data.bytes.data() + to * bytes, other.data.bytes.data() + from * bytes, count * bytes);
}

int64_t ToInt(double x) {
  using Limits = std::numeric_limits<int64_t>;
  if (std::isnan(x)) return 0;
  if (x >= 9223372036854775807.0) return Limits::max();
  if (x <= -9223372036854775808.0) return Limits::min();
  return static_cast<int64_t>(x);
}

Result<int64_t> CountElements(const Shape& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) return Status::Invalid("the shape {} has a negative extent", ShapeText(shape));
    if (extent == 0) {
      empty = true;
      continue;
    }
    // Also for an empty one, so that the product of the other extents cannot overflow.
    if (extent > kMaxElements / count) {
      return Status::Invalid("{} is too large: at most {} elements", ShapeText(shape), kMaxElements);
    }
    count *= extent;
  }
  return empty ? 0 : count;
}

std::string ShapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

}  // namespace hone::onnx
