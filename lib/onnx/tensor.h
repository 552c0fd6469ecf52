// Tensors of an ONNX file in plain memory, on which importing computes. No protobuf here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/integers.h"
#include "semantics/attributes.h"
#include "task/tensor_data.h"

namespace hone::onnx {

using Shape = std::vector<int64_t>;

// The numbers of TensorProto.DataType. Other types keep their number and have no values.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

std::string ElementTypeName(ElementType type);  // "float32", "int64", ..., "type 17"
bool IsFloating(ElementType type);              // float32, float64, float16, bfloat16: held as f32
bool IsInteger(ElementType type);               // integers and bool: held as i64

// The grid of a dequantised constant, with the axis that several scales belong to.
struct TensorGrid {
  graph::Grid grid;
  size_t axis = 0;
};

// A constant. `data` is f32 for a floating type and i64 for an integer; for other types it has only a shape. float64
// values are rounded to float32: they occur only in the arithmetic of shapes, and nothing runs in float64.
struct Tensor {
  std::string name;
  ElementType type = ElementType::kFloat;
  TensorData data;
  std::shared_ptr<const TensorGrid> grid = nullptr;  // if the values are on one

  Tensor() = default;
  Tensor(ElementType of, const Shape& shape);  // zeros. REQUIRES: IsFloating(of) or IsInteger(of)

  const Shape& shape() const { return data.type.shape; }
  int64_t Elements() const { return data.Elements(); }
  bool has_values() const { return IsFloating(type) || IsInteger(type); }
  std::span<const float> floats() const { return data.as<float>(); }
  std::span<const int64_t> ints() const { return data.as<int64_t>(); }

  // An element of any type. REQUIRES: it exists
  double At(size_t i) const { return IsFloating(type) ? floats()[i] : static_cast<double>(ints()[i]); }
  void Set(size_t i, double value);  // as ToInt, if this holds integers
  // `count` elements of `other`, which are of the same kind.
  void Copy(size_t to, const Tensor& other, size_t from, size_t count = 1);
};

using Constant = std::shared_ptr<const Tensor>;

// Limits for the elements of one tensor, and of all constants computed from others together: 2 GiB of float32, and 4
// GiB.
inline constexpr int64_t kMaxElements = semantics::kMaxElements;
inline constexpr int64_t kMaxFoldedElements = int64_t{1} << 30;

// The product of the extents; kInvalid if an extent is negative or the product exceeds kMaxElements. Call it before you
// allocate.
Result<int64_t> CountElements(const Shape& shape);

// Rounds towards zero; values out of range become the nearest one, NaN becomes 0.
int64_t ToInt(double x);

std::string ShapeText(const Shape& shape);  // "[1,3,224,224]"

}  // namespace hone::onnx
