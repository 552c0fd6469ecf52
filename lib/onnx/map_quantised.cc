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

namespace hone::onnx {
namespace {

// One scale and zero point, for a tensor; or one of each for each channel of a weight.
struct Quantisation {
  std::vector<double> scales;
  Shape zeros;
  ElementType type = ElementType::kUint8;
};

Status CheckScales(const std::vector<double>& scales) {
  for (const double scale : scales) {
    if (std::isnormal(static_cast<float>(scale)) && scale > 0) continue;
    return Status::Invalid("its scale {} is not a positive normal number", scale);
  }
  return Status();
}

// From the inputs `scale` and `zero` (which may be missing: 0 of u8).
Result<Quantisation> ReadQuantisation(NodeContext* c, size_t scale, size_t zero) {
  Quantisation q;
  HONE_ASSIGN_OR_RETURN(q.scales, c->Reals(scale, "scale"));
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

Result<Quantisation> ReadSingle(NodeContext* c, size_t scale, size_t zero) {
  HONE_ASSIGN_OR_RETURN(Quantisation q, ReadQuantisation(c, scale, zero));
  if (q.scales.size() == 1) return q;
  return Status::Unsupported("it has {} scales for a tensor that is computed when the network runs; one is supported",
                             q.scales.size());
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

Result<Value> Quantise(NodeContext* c, const Value& x, const Quantisation& q) {
  return c->Emit("quantise", {x, Reals(q.scales), Integers(q)});
}
Result<Value> Dequantise(NodeContext* c, const Value& x, const Quantisation& q) {
  return c->Emit("dequantise", {x, Reals(q.scales), Integers(q)});
}

Status CheckBlocks(NodeContext* c) {
  if (c->Int("block_size", 0) == 0) return Status();
  return Status::Unsupported("its block_size is not supported");
}

Status MapQuantize(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckBlocks(c));
  HONE_ASSIGN_OR_RETURN(Quantisation q, ReadSingle(c, 1, 2));
  const int64_t type = c->Int("output_dtype", 0);
  if (type != 0 && !c->Has(2)) q.type = static_cast<ElementType>(type);
  return c->Set(Quantise(c, c->In(0), q));
}

// Constants are dequantised here, also along an axis, and 32-bit biases with them.
Result<Value> DequantiseConstant(NodeContext* c, const Quantisation& q) {
  const Tensor& x = *c->In(0).constant;
  const Shape& shape = x.shape();
  size_t axis = 0;
  if (q.scales.size() > 1) {
    HONE_ASSIGN_OR_RETURN(const int64_t given, NodeContext::Axis(c->Int("axis", 1), shape.size()));
    axis = static_cast<size_t>(given);
    if (shape[axis] != std::ssize(q.scales)) {
      return Status::Invalid("it has {} scales for axis {} of {}", q.scales.size(), axis, ShapeText(shape));
    }
  }
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  HONE_RETURN_IF_ERROR(c->builder().Spend(x.Elements()));
  Tensor out(ElementType::kFloat, shape);
  for (int64_t i = 0; i < x.Elements(); ++i) {
    const auto channel = static_cast<size_t>(i / inner % std::ssize(q.scales));
    const auto value = static_cast<float>(x.At(static_cast<size_t>(i)) - static_cast<double>(q.zeros[channel]));
    out.Set(static_cast<size_t>(i), static_cast<double>(value * static_cast<float>(q.scales[channel])));
  }
  if (shape.size() >= 2 && (x.type == ElementType::kInt8 || x.type == ElementType::kUint8)) {
    const DType type = x.type == ElementType::kInt8 ? DType::Int(8) : DType::UInt(8);
    out.name = x.name;
    out.grid = std::make_shared<TensorGrid>(
        TensorGrid{{type, {q.scales.begin(), q.scales.end()}, {q.zeros.begin(), q.zeros.end()}}, axis});
  }
  return ConstantValue(std::move(out));
}

Status MapDequantize(NodeContext* c) {
  HONE_RETURN_IF_ERROR(CheckBlocks(c));
  HONE_ASSIGN_OR_RETURN(Quantisation q, ReadQuantisation(c, 1, 2));
  const Value& x = c->In(0);
  if (x.is_constant()) return c->Set(DequantiseConstant(c, q));
  HONE_ASSIGN_OR_RETURN(q, ReadSingle(c, 1, 2));
  if (!c->Has(2)) q.type = x.type.is_int() ? ElementType::kInt8 : ElementType::kUint8;
  return c->Set(Dequantise(c, x, q));
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
  const ElementType type = data.type.is_int() ? ElementType::kInt8 : ElementType::kUint8;
  if (data.type.is_float() || data.type.bits != 8 || data.is_constant() || p->x.type != type) {
    return Status::Invalid("its data and the data's zero point must be both uint8 or both int8");
  }
  p->operands = {data, weight, Integers(p->x)};
  if (std::ranges::any_of(p->w.zeros, [](int64_t zero) { return zero != 0; })) p->operands.push_back(Integers(p->w));
  return Status();
}

// Bias (input `bias`, if there is one) and requantisation for `channels`.
Status AddRequant(NodeContext* c, size_t bias, int64_t channels, ByteProduct* p) {
  if (c->Has(bias)) {
    HONE_ASSIGN_OR_RETURN(const Shape values, c->Ints(bias, "bias"));
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
  const bool is_signed = p->y.type == ElementType::kInt8;
  p->operands.push_back(Integers(p->y.type, {p->y.zeros[0], is_signed ? -128 : 0, is_signed ? 127 : 255}));
  EpilogueOp requant{EpilogueKind::kRequant};
  requant.type = is_signed ? DType::Int(8) : DType::UInt(8);
  p->epilogue.push_back(requant);
  return Status();
}

Status MapQLinearConv(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 3));
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 6, 7));
  HONE_ASSIGN_OR_RETURN(conv.weight, SignedWeight(conv.weight, &p.w));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  HONE_RETURN_IF_ERROR(AddOperands(conv.data, conv.weight, &p));
  HONE_RETURN_IF_ERROR(AddRequant(c, 8, conv.weight.shape[0], &p));
  HONE_ASSIGN_OR_RETURN(const Value out,
                        c->Emit("conv" + conv.dimensions, p.operands, ConvolutionAttributes(conv), p.epilogue));
  return c->Set(Narrowed(c, out, conv.widened));
}

// Data of two axes, and a constant matrix.
Status CheckMatrices(const Value& a, const Value& b) {
  if (a.shape.size() == 2 && b.shape.size() == 2 && b.is_constant()) return Status();
  return Status::Unsupported("{} times {}{} is not supported: a matrix times a constant matrix is", ShapeText(a.shape),
                             ShapeText(b.shape), b.is_constant() ? "" : ", which is computed when the network runs,");
}

// Emits the dense layer of `a` and `b`, whose quantisations p has.
Status FinishDense(NodeContext* c, Value b, bool transposed, size_t bias, ByteProduct* p) {
  HONE_RETURN_IF_ERROR(CheckMatrices(c->In(0), b));
  HONE_ASSIGN_OR_RETURN(b, SignedWeight(b, &p->w));
  if (!transposed) {
    HONE_ASSIGN_OR_RETURN(b, Transpose(c, b, {1, 0}));
  }
  HONE_RETURN_IF_ERROR(AddOperands(c->In(0), b, p));
  HONE_RETURN_IF_ERROR(AddRequant(c, bias, b.shape[0], p));
  return c->Set(c->Emit("dense", p->operands, {}, p->epilogue));
}

Status MapQLinearMatMul(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 6, 7));
  return FinishDense(c, c->In(3), false, kAnyNumber, &p);
}

// a, its scale and zero point, b, its scales and zero points, c (i32), the scale and zero point of y.
Status MapQGemm(NodeContext* c) {
  if (c->Int("transA", 0) != 0 || c->Float("alpha", 1) != 1) {
    return Status::Unsupported("its transA or alpha is not supported");
  }
  if (!c->Has(7)) return Status::Unsupported("without the scale of its output it is not supported");
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(p.x, ReadSingle(c, 1, 2));
  HONE_ASSIGN_OR_RETURN(p.w, ReadQuantisation(c, 4, 5));
  HONE_ASSIGN_OR_RETURN(p.y, ReadSingle(c, 7, 8));
  return FinishDense(c, c->In(3), c->Int("transB", 0) != 0, 6, &p);
}

// The sums themselves, as i32.
Status MapConvInteger(NodeContext* c) {
  ByteProduct p;
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 1));
  const auto zeros = [&](size_t i, ElementType type, Quantisation* q) -> Status {
    q->type = type, q->zeros = {0};
    if (!c->Has(i)) return Status();
    HONE_ASSIGN_OR_RETURN(q->zeros, c->Ints(i, "zero point"));
    return Status();
  };
  const ElementType data = conv.data.type.is_int() ? ElementType::kInt8 : ElementType::kUint8;
  HONE_RETURN_IF_ERROR(zeros(2, data, &p.x));
  HONE_RETURN_IF_ERROR(zeros(3, conv.weight.constant->type, &p.w));
  if (p.x.zeros.size() != 1)
    return Status::Unsupported("its data has {} zero points; one is supported", p.x.zeros.size());
  HONE_ASSIGN_OR_RETURN(conv.weight, SignedWeight(conv.weight, &p.w));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  HONE_RETURN_IF_ERROR(AddOperands(conv.data, conv.weight, &p));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit("conv" + conv.dimensions, p.operands, ConvolutionAttributes(conv)));
  return c->Set(Narrowed(c, out, conv.widened));
}

Status MapMatMulInteger(NodeContext* c) {
  ByteProduct p;
  Value a = c->In(0), b = c->In(1);
  HONE_RETURN_IF_ERROR(CheckMatrices(a, b));
  p.x = {{1}, {0}, a.type.is_int() ? ElementType::kInt8 : ElementType::kUint8};
  p.w = {{1}, {0}, b.constant->type};
  if (c->Has(2)) {
    HONE_ASSIGN_OR_RETURN(p.x.zeros, c->Ints(2, "zero point"));
  }
  if (c->Has(3)) {
    HONE_ASSIGN_OR_RETURN(p.w.zeros, c->Ints(3, "zero point"));
  }
  if (p.x.zeros.size() != 1)
    return Status::Unsupported("its data has {} zero points; one is supported", p.x.zeros.size());
  HONE_ASSIGN_OR_RETURN(b, SignedWeight(b, &p.w));
  HONE_ASSIGN_OR_RETURN(b, Transpose(c, b, {1, 0}));
  HONE_RETURN_IF_ERROR(AddOperands(a, b, &p));
  return c->Set(c->Emit("dense", p.operands));
}

// Operands a, scale, zero point, b, scale, zero point, then those of the output.
Status MapQLinearBinary(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Quantisation qa, ReadSingle(c, 1, 2));
  HONE_ASSIGN_OR_RETURN(const Quantisation qb, ReadSingle(c, 4, 5));
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 6, 7));
  HONE_ASSIGN_OR_RETURN(const Value a, Dequantise(c, c->In(0), qa));
  HONE_ASSIGN_OR_RETURN(const Value b, Dequantise(c, c->In(3), qb));
  HONE_ASSIGN_OR_RETURN(const Value y, Binary(c, GraphOperator(*c), a, b));
  return c->Set(Quantise(c, y, qy));
}

// The scale and zero point of the output come first, then each input with its own.
Status MapQLinearConcat(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 0, 1));
  if (c->InputCount() % 3 != 2) return Status::Invalid("each of its inputs needs a scale and a zero point");
  std::vector<Value> parts;
  for (size_t i = 2; i + 2 < c->InputCount(); i += 3) {
    HONE_ASSIGN_OR_RETURN(const Quantisation q, ReadSingle(c, i + 1, i + 2));
    HONE_ASSIGN_OR_RETURN(parts.emplace_back(), Dequantise(c, c->In(i), q));
  }
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 1), parts[0].shape.size()));
  HONE_ASSIGN_OR_RETURN(const Value y, c->Emit("concat", parts, {Numbers("axis", {axis})}));
  return c->Set(Quantise(c, y, qy));
}

// x, scale, zero point, then those of the output.
Status MapQLinearUnary(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Quantisation qx, ReadSingle(c, 1, 2));
  HONE_ASSIGN_OR_RETURN(const Quantisation qy, ReadSingle(c, 3, 4));
  if (c->Int("channels_last", 0) != 0) return Status::Unsupported("its channels_last is not supported");
  HONE_ASSIGN_OR_RETURN(const Value x, Dequantise(c, c->In(0), qx));
  std::vector<Attribute> attributes;
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
      {"QLinearAdd", MapQLinearBinary, 8, 8, 7, "add", microsoft},
      {"QLinearMul", MapQLinearBinary, 8, 8, 7, "mul", microsoft},
      {"QLinearConcat", MapQLinearConcat, 5, kAnyNumber, 7, "", microsoft},
      {"QLinearGlobalAveragePool", MapQLinearUnary, 5, 5, 7, "global_avg_pool", microsoft},
      {"QLinearSigmoid", MapQLinearUnary, 5, 5, 7, "sigmoid", microsoft},
      {"QLinearLeakyRelu", MapQLinearUnary, 5, 5, 7, "leaky_relu", microsoft},
  };
}

}  // namespace hone::onnx
