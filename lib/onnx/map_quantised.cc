// Quantised operators: ONNX's own, and those of the domain com.microsoft that quantisers write beside them.
//
// A convolution or product of bytes becomes one operator with `requant` (semantics/epilogue.h). Its multipliers are
// scale(x) * scale(w) / scale(y) in f32, in this order. The other operators of com.microsoft are defined by floats, and
// are computed so: dequantise, the operator of floats, quantise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/convolution.h"
#include "onnx/operators.h"
#include "onnx/values.h"
#include "semantics/quantise.h"

namespace hone::onnx {
namespace {

// One scale and zero point, for a tensor; or one of each for each channel of a weight.
struct Quantisation {
  std::vector<double> scales;
  Shape zeros;
  ElementType type = ElementType::kUint8;
};

Status CheckScales(const std::vector<double>& scales) {
  if (scales.empty()) return Status::Invalid("it has no scale");
  for (const double scale : scales) {
    if (semantics::IsScale(static_cast<float>(scale))) continue;
    return Status::Invalid("its scale {} is not a positive normal number", scale);
  }
  return Status();
}

// From the inputs `scale` and `zero` (which may be missing: 0 of `type`).
Result<Quantisation> ReadQuantisation(NodeContext* c, size_t scale, size_t zero, ElementType type) {
  Quantisation q;
  q.type = type;
  HONE_ASSIGN_OR_RETURN(q.scales, c->Reals(scale, "scale"));
  if (const Shape& shape = c->ShapeOf(scale); shape.size() > 1 && semantics::Product(shape) != shape.back()) {
    return Status::Unsupported("its scales are {}; one, or one for each channel is supported", ShapeText(shape));
  }
  HONE_RETURN_IF_ERROR(CheckScales(q.scales));
  q.zeros.assign(q.scales.size(), 0);
  if (!c->Has(zero)) return q;
  HONE_ASSIGN_OR_RETURN(q.zeros, c->Ints(zero, "zero point"));
  q.type = c->In(zero).constant->type;
  if (q.type != ElementType::kUint8 && q.type != ElementType::kInt8 && q.type != ElementType::kInt32) {
    return Status::Unsupported("its zero point is {}; uint8 and int8 are supported", ElementTypeName(q.type));
  }
  if (q.zeros.size() == q.scales.size()) return q;
  return Status::Invalid("it has {} scales, but {} zero points", q.scales.size(), q.zeros.size());
}

Result<Quantisation> ReadSingle(NodeContext* c, size_t scale, size_t zero, ElementType type) {
  HONE_ASSIGN_OR_RETURN(Quantisation q, ReadQuantisation(c, scale, zero, type));
  if (q.scales.size() == 1) return q;
  return Status::Unsupported("it has {} scales for a tensor that is computed when the network runs; one is supported",
                             q.scales.size());
}

// The zero points of `value`, which are of its type; 0 if input `i` is missing.
Result<Quantisation> ReadZeros(NodeContext* c, size_t i, const Value& value) {
  Quantisation q{{1}, {0}, TypeOf(value)};
  if (!c->Has(i)) return q;
  HONE_ASSIGN_OR_RETURN(q.zeros, c->Ints(i, "zero point"));
  if (c->In(i).constant->type == q.type && !q.zeros.empty()) return q;
  return Status::Invalid("it has {} zero points of {} for {}", q.zeros.size(), ElementTypeName(c->In(i).constant->type),
                         ElementTypeName(q.type));
}

Value Integers(ElementType type, const Shape& values) {
  Tensor tensor(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(i, static_cast<double>(values[i]));
  return ConstantValue(std::move(tensor));
}
Value Integers(const Quantisation& q) { return Integers(q.type, q.zeros); }

Value Reals(const std::vector<double>& values) {
  return Floats({static_cast<int64_t>(values.size())}, {values.begin(), values.end()});
}

// The axis of several scales.
Result<size_t> AxisOfScales(NodeContext* c, const Quantisation& q) {
  if (q.scales.size() == 1) return 0;
  const Shape& shape = c->ShapeOf(0);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 1), shape.size()));
  if (shape[static_cast<size_t>(axis)] == std::ssize(q.scales)) return static_cast<size_t>(axis);
  return Status::Invalid("it has {} scales for axis {} of {}", q.scales.size(), axis, ShapeText(shape));
}

// `op` of x, with scales and zero points that broadcast along their axis.
Result<Value> Convert(NodeContext* c, const char* op, const Value& x, const Quantisation& q) {
  HONE_ASSIGN_OR_RETURN(const size_t axis, AxisOfScales(c, q));
  Shape shape = {std::ssize(q.scales)};
  if (q.scales.size() > 1) shape.resize(x.shape.size() - axis, 1);
  HONE_ASSIGN_OR_RETURN(const Value scales, Reshape(c, Reals(q.scales), shape));
  HONE_ASSIGN_OR_RETURN(const Value zeros, Reshape(c, Integers(q), shape));
  return c->Emit(op, {x, scales, zeros});
}
Result<Value> Quantise(NodeContext* c, const Value& x, const Quantisation& q) { return Convert(c, "quantise", x, q); }
Result<Value> Dequantise(NodeContext* c, const Value& x, const Quantisation& q) {
  return Convert(c, "dequantise", x, q);
}

Status CheckBlocks(NodeContext* c) {
  if (c->Int("block_size", 0) == 0) return Status();
  return Status::Unsupported("its block_size is not supported");
}

// A constant of `type` whose elements are f of those of input 0, and of the scale and zero point that belong to them.
template <typename F>
Result<Tensor> ConvertConstant(NodeContext* c, const Quantisation& q, size_t axis, ElementType type, F f) {
  const Tensor& x = *c->In(0).constant;
  HONE_RETURN_IF_ERROR(c->builder().Spend(x.Elements()));
  const auto inner = static_cast<size_t>(semantics::Product(x.shape(), axis + 1, x.shape().size()));
  Tensor out(type, x.shape());
  for (size_t i = 0; i < static_cast<size_t>(x.Elements()); ++i) {
    const size_t channel = i / inner % q.scales.size();
    out.Set(i, f(x.At(i), static_cast<float>(q.scales[channel]), static_cast<double>(q.zeros[channel])));
  }
  return out;
}

// Constants are quantised and dequantised here, also along an axis, and 32-bit biases with them.
Result<Value> QuantiseConstant(NodeContext* c, const Quantisation& q) {
  if (!IsFloating(c->In(0).constant->type)) return Status::Unsupported("its constant is no floating-point number");
  HONE_ASSIGN_OR_RETURN(const size_t axis, AxisOfScales(c, q));
  const auto [least, most] = semantics::LimitsOf(q.type == ElementType::kInt8 ? DType::Int(8) : DType::UInt(8));
  const auto quantised = [least = least, most = most](double x, float scale, double zero) {
    const auto quotient = static_cast<double>(static_cast<float>(x) / scale);
    return std::isnan(quotient) ? least : std::clamp(std::nearbyint(quotient) + zero, double(least), double(most));
  };
  HONE_ASSIGN_OR_RETURN(Tensor out, ConvertConstant(c, q, axis, q.type, quantised));
  return ConstantValue(std::move(out));
}

Result<Value> DequantiseConstant(NodeContext* c, const Quantisation& q) {
  const Tensor& x = *c->In(0).constant;
  const Shape& shape = x.shape();
  if (x.type != q.type) {
    return Status::Invalid("its constant is {}, but the zero point is {}", ElementTypeName(x.type),
                           ElementTypeName(q.type));
  }
  HONE_ASSIGN_OR_RETURN(const size_t axis, AxisOfScales(c, q));
  const auto real = [](double x, float scale, double zero) {
    return static_cast<double>(static_cast<float>(x - zero) * scale);
  };
  HONE_ASSIGN_OR_RETURN(Tensor out, ConvertConstant(c, q, axis, ElementType::kFloat, real));
  if (shape.size() >= 2 && (x.type == ElementType::kInt8 || x.type == ElementType::kUint8)) {
    const DType type = x.type == ElementType::kInt8 ? DType::Int(8) : DType::UInt(8);
    out.name = x.name;
    out.grid = std::make_shared<TensorGrid>(
        TensorGrid{{type, {q.scales.begin(), q.scales.end()}, {q.zeros.begin(), q.zeros.end()}}, axis});
  }
  return ConstantValue(std::move(out));
}

Status MapQuantize(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckBlocks(c));
  const auto type = static_cast<ElementType>(c->Int("output_dtype", static_cast<int64_t>(ElementType::kUint8)));
  if (type != ElementType::kUint8 && type != ElementType::kInt8) {
    return Status::Unsupported("its output_dtype is {}; uint8 and int8 are supported", ElementTypeName(type));
  }
  HONE_ASSIGN_OR_RETURN(const Quantisation q, ReadQuantisation(c, 1, 2, type));
  if (q.type == ElementType::kInt32) return Status::Invalid("its zero point is int32, not uint8 or int8");
  return c->Set(c->In(0).is_constant() ? QuantiseConstant(c, q) : Quantise(c, c->In(0), q));
}

Status MapDequantize(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckBlocks(c));
  const Value& x = c->In(0);
  HONE_ASSIGN_OR_RETURN(const Quantisation q, ReadQuantisation(c, 1, 2, TypeOf(x)));
  return c->Set(x.is_constant() ? DequantiseConstant(c, q) : Dequantise(c, x, q));
}

// The weight as i8: of u8, 128 less, and its zero points as well.
Result<Value> SignedWeight(const Value& weight, Quantisation* q) {
  const Tensor& w = *weight.constant;
  if (w.type != q->type) {
    return Status::Invalid("its weight is {}, but the zero point is {}", ElementTypeName(w.type),
                           ElementTypeName(q->type));
  }
  if (w.type == ElementType::kInt8) return weight;
  if (w.type != ElementType::kUint8) {
    return Status::Unsupported("its weight is {}; uint8 and int8 are supported", ElementTypeName(w.type));
  }
  Tensor out(ElementType::kInt8, w.shape());
  out.name = w.name;
  for (size_t i = 0; i < static_cast<size_t>(w.Elements()); ++i) out.Set(i, w.At(i) - 128);
  for (int64_t& zero : q->zeros) zero -= 128;
  q->type = ElementType::kInt8;
  return ConstantValue(std::move(out));
}

// A product of bytes: the quantisation of its tensors, its operands, and what is done with the sums.
struct ByteProduct {
  Quantisation x, w, y;
  std::vector<Value> operands;
  std::vector<EpilogueOp> epilogue;
};

// Adds `data`, the i8 `weight`, and the zero points. Leaves out those of the weight if all are 0.
Status AddOperands(const Value& data, const Value& weight, ByteProduct* p) {
  if (data.is_constant()) return Status::Unsupported("its data is constant");
  const ElementType type = TypeOf(data);
  if (p->x.type != type || (type != ElementType::kUint8 && type != ElementType::kInt8)) {
    return Status::Invalid("its data is {} and the data's zero point {}; both must be uint8 or int8",
                           ElementTypeName(type), ElementTypeName(p->x.type));
  }
  p->operands = {data, weight, Integers(p->x)};
  if (std::ranges::any_of(p->w.zeros, [](int64_t zero) { return zero != 0; })) p->operands.push_back(Integers(p->w));
  return Status();
}

// Bias (input `bias`, if there is one) and requantisation for `channels`.
Status AddRequant(NodeContext* c, size_t bias, int64_t channels, ByteProduct* p) {
  if (c->Has(bias)) {
    HONE_ASSIGN_OR_RETURN(const Shape values, c->Ints(bias, "bias"));
    if (const ElementType type = TypeOf(c->In(bias)); type != ElementType::kInt32) {
      return Status::Invalid("its bias is {}, not int32", ElementTypeName(type));
    }
    if (std::ssize(values) != channels) {
      return Status::Invalid("its bias has {} values for {} channels", values.size(), channels);
    }
    p->operands.push_back(Integers(ElementType::kInt32, values));
    p->epilogue.push_back({EpilogueKind::kBias});
  }
  if (p->w.scales.size() != 1 && std::ssize(p->w.scales) != channels) {
    return Status::Invalid("it has {} scales of weights for {} channels", p->w.scales.size(), channels);
  }
  std::vector<double> multipliers;
  for (int64_t i = 0; i < channels; ++i) {
    const double scale = p->w.scales[p->w.scales.size() == 1 ? 0 : static_cast<size_t>(i)];
    const float product = static_cast<float>(p->x.scales[0]) * static_cast<float>(scale);
    multipliers.push_back(static_cast<double>(product / static_cast<float>(p->y.scales[0])));
    if (!std::isfinite(multipliers.back())) return Status::Invalid("its scales are too far apart");
  }
  p->operands.push_back(Reals(multipliers));
  if (p->y.type == ElementType::kInt32) return Status::Invalid("the zero point of its output is int32");
  const DType type = p->y.type == ElementType::kInt8 ? DType::Int(8) : DType::UInt(8);
  const auto [least, most] = semantics::LimitsOf(type);
  p->operands.push_back(Integers(p->y.type, {p->y.zeros[0], least, most}));
  p->epilogue.push_back({EpilogueKind::kRequant, 0, 0, type});
  return Status();
}

Status MapQLinearConv(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 3));
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5, TypeOf(c->In(3))));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 6, 7, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(conv.weight, SignedWeight(conv.weight, &p.w));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  HONE_RETURN_IF_ERROR(AddOperands(conv.data, conv.weight, &p));
  HONE_RETURN_IF_ERROR(AddRequant(c, 8, conv.weight.shape[0], &p));
  HONE_ASSIGN_OR_RETURN(const Value out,
                        c->Emit("conv" + conv.dimensions, p.operands, ConvolutionAttributes(conv), p.epilogue));
  return c->Set(Narrowed(c, out, conv.widened));
}

// Data of two axes or more, and a constant matrix.
bool IsLayer(const Value& a, const Value& b) { return a.shape.size() >= 2 && b.shape.size() == 2 && b.is_constant(); }

// Emits the dense layer of input 0 and `b`, whose quantisations p has; without `requant`, the sums themselves.
Status FinishDense(NodeContext* c, Value b, bool transposed, ByteProduct* p, bool requant, size_t bias = kAnyNumber) {
  const Value& a = c->In(0);
  if (!IsLayer(a, b)) {
    return Status::Unsupported("{} times {}{} is not supported: times a constant matrix is", ShapeText(a.shape),
                               ShapeText(b.shape), b.is_constant() ? "" : ", which is computed when the network runs,");
  }
  HONE_ASSIGN_OR_RETURN(b, SignedWeight(b, &p->w));
  if (!transposed) {
    HONE_ASSIGN_OR_RETURN(b, Transpose(c, b, {1, 0}));
  }
  Shape shape = a.shape;
  HONE_ASSIGN_OR_RETURN(const Value rows,
                        Reshape(c, a, {semantics::Product(shape, 0, shape.size() - 1), shape.back()}));
  HONE_RETURN_IF_ERROR(AddOperands(rows, b, p));
  if (requant) HONE_RETURN_IF_ERROR(AddRequant(c, bias, b.shape[0], p));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit("dense", p->operands, {}, p->epilogue));
  shape.back() = b.shape[0];
  return c->Set(Reshape(c, out, shape));
}

Status MapQLinearMatMul(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5, TypeOf(c->In(3))));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 6, 7, TypeOf(c->In(0))));
  if (IsLayer(c->In(0), c->In(3)) || p.w.scales.size() != 1) return FinishDense(c, c->In(3), false, &p, true);
  HONE_ASSIGN_OR_RETURN(const Value a, Dequantise(c, c->In(0), p.x));
  HONE_ASSIGN_OR_RETURN(const Value b, Dequantise(c, c->In(3), p.w));
  HONE_ASSIGN_OR_RETURN(const Value y, MatrixProduct(c, a, b));
  return c->Set(Quantise(c, y, p.y));
}

// a, its scale and zero point, b, its scales and zero points, c (i32), the scale and zero point of y.
Status MapQGemm(NodeContext* c) {
  if (c->Int("transA", 0) != 0 || c->Float("alpha", 1) != 1) {
    return Status::Unsupported("its transA or alpha is not supported");
  }
  if (!c->Has(7)) return Status::Unsupported("without the scale of its output it is not supported");
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5, TypeOf(c->In(3))));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 7, 8, TypeOf(c->In(0))));
  return FinishDense(c, c->In(3), c->Int("transB", 0) != 0, &p, true, 6);
}

// Reads zero points without scales, inputs 2 and 3 of ConvInteger and MatMulInteger.
Status ReadBothZeros(NodeContext* c, const Value& data, const Value& weight, ByteProduct* p) {
  HONE_ASSIGN_OR_RETURN(p->x, ReadZeros(c, 2, data));
  HONE_ASSIGN_OR_RETURN(p->w, ReadZeros(c, 3, weight));
  if (p->x.zeros.size() == 1) return Status();
  return Status::Unsupported("its data has {} zero points; one is supported", p->x.zeros.size());
}

// The sums themselves, as i32.
Status MapConvInteger(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 1));
  HONE_RETURN_IF_ERROR(ReadBothZeros(c, conv.data, conv.weight, &p));
  HONE_ASSIGN_OR_RETURN(conv.weight, SignedWeight(conv.weight, &p.w));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  HONE_RETURN_IF_ERROR(AddOperands(conv.data, conv.weight, &p));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit("conv" + conv.dimensions, p.operands, ConvolutionAttributes(conv)));
  return c->Set(Narrowed(c, out, conv.widened));
}

Status MapMatMulInteger(NodeContext* c) {
  ByteProduct p;
  if (!c->In(1).is_constant()) return Status::Unsupported("its second factor is computed when the network runs");
  HONE_RETURN_IF_ERROR(ReadBothZeros(c, c->In(0), c->In(1), &p));
  return FinishDense(c, c->In(1), false, &p, false);
}

// Operators of com.microsoft may leave out zero points between other inputs.
Status CheckGiven(NodeContext* c, std::initializer_list<size_t> inputs) {
  for (const size_t i : inputs) {
    if (!c->Has(i)) return Status::Invalid("its input {} is left out", i);
  }
  return Status();
}

// Operands a, scale, zero point, b, scale, zero point, then those of the output.
Status MapQLinearBinary(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckGiven(c, {3, 4, 6}));
  HONE_ASSIGN_OR_RETURN(const Quantisation qa, ReadSingle(c, 1, 2, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(const Quantisation qb, ReadSingle(c, 4, 5, TypeOf(c->In(3))));
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 6, 7, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(const Value a, Dequantise(c, c->In(0), qa));
  HONE_ASSIGN_OR_RETURN(const Value b, Dequantise(c, c->In(3), qb));
  HONE_ASSIGN_OR_RETURN(const Value y, Binary(c, GraphOperator(*c), a, b));
  return c->Set(Quantise(c, y, qy));
}

// The scale and zero point of the output come first, then each input with its own.
Status MapQLinearConcat(NodeContext* c) {
  if (c->InputCount() % 3 != 2) return Status::Invalid("each of its inputs needs a scale and a zero point");
  if (!c->HasAttribute("axis")) return Status::Invalid("it has no attribute `axis`");
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 0, 1, TypeOf(c->In(2))));
  std::vector<Value> parts;
  for (size_t i = 2; i + 2 < c->InputCount(); i += 3) {
    HONE_ASSIGN_OR_RETURN(const Quantisation q, ReadSingle(c, i + 1, i + 2, TypeOf(c->In(i))));
    HONE_ASSIGN_OR_RETURN(parts.emplace_back(), Dequantise(c, c->In(i), q));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 1), parts[0].shape.size()));
  HONE_ASSIGN_OR_RETURN(const Value y, c->Emit("concat", parts, {Numbers("axis", {axis})}));
  return c->Set(Quantise(c, y, qy));
}

// x, scale, zero point, then those of the output.
Status MapQLinearUnary(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckGiven(c, {3}));
  HONE_ASSIGN_OR_RETURN(const Quantisation qx, ReadSingle(c, 1, 2, TypeOf(c->In(0))));
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 3, 4, TypeOf(c->In(0))));
  if (c->Int("channels_last", 0) != 0) return Status::Unsupported("its channels_last is not supported");
  HONE_ASSIGN_OR_RETURN(const Value x, Dequantise(c, c->In(0), qx));
  std::vector<Attribute> attributes;
  if (c->node().op == "QLinearAveragePool") {
    HONE_ASSIGN_OR_RETURN(const Value y, Pool(c, x, true, c->Int("count_include_pad", 0) != 0));
    return c->Set(Quantise(c, y, qy));
  }
  if (c->node().op == "QLinearLeakyRelu") attributes.push_back(Real("alpha", c->Float("alpha", 0.01)));
  HONE_ASSIGN_OR_RETURN(const Value y, c->Emit(GraphOperator(*c), {x}, attributes));
  return c->Set(Quantise(c, y, qy));
}

}  // namespace

std::vector<OperatorEntry> QuantisedOperators() {
  const char* const microsoft = "com.microsoft";
  return {
      {"QuantizeLinear", MapQuantize, 2, 3, 10},
      {"DequantizeLinear", MapDequantize, 2, 3, 10},
      {"QLinearConv", MapQLinearConv, 8, 9, 10},
      {"QLinearMatMul", MapQLinearMatMul, 8, 8, 10},
      {"ConvInteger", MapConvInteger, 2, 4, 10},
      {"MatMulInteger", MapMatMulInteger, 2, 4, 10},
      {"QGemm", MapQGemm, 6, 9, 7, "", microsoft},
      {"QLinearAdd", MapQLinearBinary, 2, 8, 7, "add", microsoft},
      {"QLinearMul", MapQLinearBinary, 2, 8, 7, "mul", microsoft},
      {"QLinearConcat", MapQLinearConcat, 5, kAnyNumber, 7, "", microsoft},
      {"QLinearAveragePool", MapQLinearUnary, 2, 5, 7, "", microsoft},
      {"QLinearGlobalAveragePool", MapQLinearUnary, 2, 5, 7, "global_avg_pool", microsoft},
      {"QLinearSigmoid", MapQLinearUnary, 2, 5, 7, "sigmoid", microsoft},
      {"QLinearLeakyRelu", MapQLinearUnary, 2, 5, 7, "leaky_relu", microsoft},
  };
}

}  // namespace hone::onnx
