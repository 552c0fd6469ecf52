#include <cmath>

#include "onnx/values.h"

namespace hone::onnx {
namespace {

// Converts to the type's range; values out of range wrap around.
int64_t Wrap(ElementType type, int64_t x) {
  switch (type) {
    case ElementType::kBool:
      return x != 0;
    case ElementType::kUint8:
      return static_cast<uint8_t>(x);
    case ElementType::kInt8:
      return static_cast<int8_t>(x);
    case ElementType::kUint16:
      return static_cast<uint16_t>(x);
    case ElementType::kInt16:
      return static_cast<int16_t>(x);
    case ElementType::kUint32:
      return static_cast<uint32_t>(x);
    case ElementType::kInt32:
      return static_cast<int32_t>(x);
    default:
      return x;
  }
}

Result<int64_t> Integers(const std::string& op, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (op == "add") return static_cast<int64_t>(ua + ub);
  if (op == "sub") return static_cast<int64_t>(ua - ub);
  if (op == "mul") return static_cast<int64_t>(ua * ub);
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "pow") return ToInt(std::pow(static_cast<double>(a), static_cast<double>(b)));
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (b == 0) return Status::Invalid("it divides an integer by zero");
  if (b == -1) return op == "div" ? static_cast<int64_t>(0 - ua) : 0;  // also right for the smallest number
  if (op == "div") return a / b;
  if (op == "mod") return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;  // has the sign of b, as in Python
  if (op == "fmod") return a % b;
  return Status::Unsupported(op + " of integers is not supported");
}

Result<double> Reals(const std::string& op, double a, double b) {
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "div") return a / b;
  if (op == "min") return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  if (op == "max") return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  if (op == "pow") return std::pow(a, b);
  if (op == "fmod") return std::fmod(a, b);
  return Status::Unsupported(op + " of floats is not supported");
}

// Constants of the same shape.
struct Wide {
  std::vector<Constant> x;
  Shape shape;
  size_t count = 0;
};

Result<Wide> Broadcast(NodeContext* c, const std::vector<Value>& values) {
  Wide wide;
  for (const Value& value : values) {
    HONE_ASSIGN_OR_RETURN(wide.shape, BroadcastShape(wide.shape, value.shape));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(wide.shape));
  HONE_RETURN_IF_ERROR(c->builder().Spend(count));
  wide.count = static_cast<size_t>(count);
  for (const Value& value : values) {
    HONE_ASSIGN_OR_RETURN(const Value expanded, Expand(c, value, wide.shape));
    wide.x.push_back(expanded.constant);
  }
  return wide;
}

Result<Value> FoldBinary(NodeContext* c, const std::string& op, const Value& a, const Value& b) {
  HONE_ASSIGN_OR_RETURN(const Wide wide, Broadcast(c, {a, b}));
  const Tensor &x = *wide.x[0], &y = *wide.x[1];
  const bool floats = IsFloating(x.type), by_floats = IsFloating(y.type);
  if (op != "pow" && floats != by_floats) {
    return Status::Invalid("its operands are {} and {}", ElementTypeName(x.type), ElementTypeName(y.type));
  }
  Tensor out(x.type, wide.shape);
  for (size_t i = 0; i < wide.count; ++i) {
    if (floats) {
      HONE_ASSIGN_OR_RETURN(const double value, Reals(op, x.At(i), y.At(i)));
      out.Set(i, value);
      continue;
    }
    int64_t& value = out.data.as<int64_t>()[i];
    if (by_floats) {
      value = ToInt(std::pow(x.At(i), y.At(i)));
    } else {
      HONE_ASSIGN_OR_RETURN(value, Integers(op, x.ints()[i], y.ints()[i]));
    }
    value = Wrap(out.type, value);
  }
  return ConstantValue(std::move(out));
}

}  // namespace

Result<Value> Binary(NodeContext* c, const std::string& op, const Value& a, const Value& b) {
  if (a.is_constant() && b.is_constant()) return FoldBinary(c, op, a, b);
  HONE_RETURN_IF_ERROR(BroadcastShape(a.shape, b.shape).status());
  // A constant number broadcasts like a vector with one element.
  const auto widened = [c](const Value& x, const Value& other) -> Result<Value> {
    return x.is_constant() && x.shape.empty() && !other.shape.empty() ? Reshape(c, x, {1}) : x;
  };
  HONE_ASSIGN_OR_RETURN(const Value wide_a, widened(a, b));
  HONE_ASSIGN_OR_RETURN(const Value wide_b, widened(b, a));
  return c->Emit(op, {wide_a, wide_b});
}

Result<Value> Unary(NodeContext* c, const std::string& op, const Value& x, std::vector<Attribute> attributes) {
  return c->Emit(op, {x}, std::move(attributes));
}

Result<Value> Compare(NodeContext* c, const Value& a, const Value& b, const std::function<bool(double, double)>& f) {
  HONE_ASSIGN_OR_RETURN(const Wide wide, Broadcast(c, {a, b}));
  Tensor out(ElementType::kBool, wide.shape);
  for (size_t i = 0; i < wide.count; ++i) out.Set(i, f(wide.x[0]->At(i), wide.x[1]->At(i)));
  return ConstantValue(std::move(out));
}

Result<Value> MapInts(NodeContext* c, const Value& x, const std::function<int64_t(int64_t)>& f) {
  HONE_RETURN_IF_ERROR(c->builder().Spend(x.constant->Elements()));
  Tensor out = *x.constant;
  out.name.clear();
  for (int64_t& value : out.data.as<int64_t>()) value = Wrap(out.type, f(value));
  return ConstantValue(std::move(out));
}

ElementType TypeOf(const Value& value) {
  if (value.is_constant()) return value.constant->type;
  if (value.type.bits == 32) return value.type.is_float() ? ElementType::kFloat : ElementType::kInt32;
  return value.type.is_int() ? ElementType::kInt8 : ElementType::kUint8;
}

Result<Value> Cast(NodeContext* c, const Value& x, ElementType type) {
  if (!x.is_constant()) {
    if (TypeOf(x) == type) return x;
    if (type != ElementType::kFloat) {
      return Status::Unsupported("it casts {}, which the network computes, to {}; float32 is supported",
                                 ElementTypeName(TypeOf(x)), ElementTypeName(type));
    }
    return c->Emit("dequantise", {x, Floats({1}, {1}), ConstantValue(Tensor(TypeOf(x), {1}))});
  }
  const Tensor& in = *x.constant;
  if (in.type == type) return x;
  const bool to_float = type == ElementType::kFloat || type == ElementType::kDouble;
  if (!to_float && !IsInteger(type)) {
    return Status::Unsupported("casts to " + ElementTypeName(type) + " are not supported");
  }
  HONE_RETURN_IF_ERROR(c->builder().Spend(in.Elements()));
  Tensor out(type, in.shape());
  for (size_t i = 0; i < static_cast<size_t>(in.Elements()); ++i) {
    if (to_float || type == ElementType::kBool) {
      out.Set(i, to_float ? in.At(i) : in.At(i) != 0);
    } else {
      out.data.as<int64_t>()[i] = Wrap(type, IsFloating(in.type) ? ToInt(in.At(i)) : in.ints()[i]);
    }
  }
  return ConstantValue(std::move(out));
}

Result<Value> Where(NodeContext* c, const Value& condition, const Value& a, const Value& b) {
  HONE_ASSIGN_OR_RETURN(const Wide wide, Broadcast(c, {a, b, condition}));
  const Tensor &yes = *wide.x[0], &no = *wide.x[1];
  if (IsFloating(no.type) != IsFloating(yes.type)) {
    return Status::Invalid("its two choices are of different types");
  }
  Tensor out(yes.type, wide.shape);
  for (size_t i = 0; i < wide.count; ++i) out.Copy(i, wide.x[2]->At(i) != 0 ? yes : no, i);
  return ConstantValue(std::move(out));
}

Result<Value> MatrixProduct(NodeContext* c, const Value& a, const Value& b) {
  const size_t rank = a.shape.size();
  const bool layer = b.is_constant() && !a.is_constant() && b.shape.size() == 2 && rank >= 2 &&
                     a.shape.back() == b.shape[0] && b.shape[0] > 0 && b.shape[1] > 0;
  if (!layer) return c->Emit("matmul", {a, b});
  HONE_ASSIGN_OR_RETURN(const Value weight, Transpose(c, b, {1, 0}));
  const int64_t rows = semantics::Product(a.shape, 0, rank - 1);
  HONE_ASSIGN_OR_RETURN(const Value flat, Reshape(c, a, {rows, a.shape.back()}));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit("dense", {flat, weight}));
  Shape shape = a.shape;
  shape.back() = b.shape[1];
  return Reshape(c, out, shape);
}

Value Floats(const Shape& shape, const std::vector<float>& values) {
  Tensor out(ElementType::kFloat, shape);
  std::copy(values.begin(), values.end(), out.data.as<float>().begin());
  return ConstantValue(std::move(out));
}

Value Ints(const Shape& shape, const std::vector<int64_t>& values) {
  Tensor out(ElementType::kInt64, shape);
  std::copy(values.begin(), values.end(), out.data.as<int64_t>().begin());
  return ConstantValue(std::move(out));
}

Value Filled(const Shape& shape, double value) {
  const auto count = static_cast<size_t>(semantics::Product(shape));
  return Floats(shape, std::vector<float>(count, static_cast<float>(value)));
}

}  // namespace hone::onnx
