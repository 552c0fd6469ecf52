// Operators that work on one element at a time.
#include <algorithm>
#include <cmath>
#include <optional>

#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

// Attributes with ONNX's defaults, which have the same names in the graph.
struct AlphaEntry {
  const char* onnx;
  double alpha;
  const char* second;  // null without a second attribute
  double fallback;
};
constexpr AlphaEntry kAlphaUnary[] = {
    {"LeakyRelu", 0.01, nullptr, 0},   {"Elu", 1, nullptr, 0},
    {"Celu", 1, nullptr, 0},           {"ThresholdedRelu", 1, nullptr, 0},
    {"HardSigmoid", 0.2, "beta", 0.5}, {"Selu", 1.67326319217681884765625, "gamma", 1.05070102214813232421875}};

int64_t Integer(const std::string& op, int64_t x) {
  if (op == "Abs") return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
  if (op == "Neg") return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  if (op == "Sign") return (x > 0) - (x < 0);
  return std::max<int64_t>(x, 0);  // Relu
}

// A bound of Clip: missing, a number, or a tensor.
struct Bound {
  std::optional<double> number;
  const Value* tensor = nullptr;
};

Result<Bound> ReadBound(NodeContext* c, size_t input, const char* name) {
  Bound bound;
  if (c->Has(input)) {
    if (!c->In(input).is_constant()) {
      bound.tensor = &c->In(input);
      return bound;
    }
    HONE_ASSIGN_OR_RETURN(const auto values, c->Reals(input, name));
    if (values.size() != 1) return Status::Invalid("its {} must be one number", name);
    bound.number = values[0];
  } else if (c->opset() < 11 && c->HasAttribute(name)) {
    bound.number = c->Float(name, 0);
  }
  if (bound.number && std::isnan(*bound.number)) return Status::Invalid("its {} is not a number", name);
  return bound;
}

Status MapUnary(NodeContext* c) {
  const std::string& op = c->node().op;
  const Value& x = c->In(0);
  const bool integer = op == "Abs" || op == "Neg" || op == "Sign" || op == "Relu";
  if (integer && x.is_constant() && IsInteger(x.constant->type)) {
    return c->Set(MapInts(c, x, [&](int64_t v) { return Integer(op, v); }));
  }
  return c->Set(Unary(c, GraphOperator(*c), x));
}

// Moves values beyond lambd on either side towards 0 by the bias; others become 0.
Status MapShrink(NodeContext* c) {
  const double lambd = c->Float("lambd", 0.5), bias = c->Float("bias", 0);
  if (!(lambd >= 0)) return Status::Unsupported("a lambd below 0 is not supported");
  const std::vector<Attribute> beyond = {Real("alpha", lambd)};
  HONE_ASSIGN_OR_RETURN(const Value negated, Unary(c, "neg", c->In(0)));
  HONE_ASSIGN_OR_RETURN(const Value above, Unary(c, "thresholded_relu", c->In(0), beyond));
  HONE_ASSIGN_OR_RETURN(const Value below, Unary(c, "thresholded_relu", negated, beyond));
  HONE_ASSIGN_OR_RETURN(const Value kept, Binary(c, "sub", above, below));
  if (bias == 0) return c->Set(0, kept);
  HONE_ASSIGN_OR_RETURN(const Value side, Unary(c, "sign", kept));
  HONE_ASSIGN_OR_RETURN(const Value moved, Binary(c, "mul", side, Scalar(bias)));
  return c->Set(Binary(c, "sub", kept, moved));
}

Status MapAlphaUnary(NodeContext* c) {
  const AlphaEntry& entry = *std::find_if(std::begin(kAlphaUnary), std::end(kAlphaUnary),
                                          [c](const AlphaEntry& e) { return c->node().op == e.onnx; });
  std::vector<Attribute> attributes = {Real("alpha", c->Float("alpha", entry.alpha))};
  if (entry.second) attributes.push_back(Real(entry.second, c->Float(entry.second, entry.fallback)));
  return c->Set(Unary(c, GraphOperator(*c), c->In(0), std::move(attributes)));
}

Status MapGelu(NodeContext* c) {
  const std::string form = c->String("approximate", "none");
  if (form != "none" && form != "tanh")
    return Status::Invalid("its approximate `" + form + "` is neither none nor tanh");
  std::vector<Attribute> attributes;
  if (form == "tanh") attributes.push_back(Numbers("approximate", {1}));
  return c->Set(Unary(c, "gelu", c->In(0), std::move(attributes)));
}

Status MapClip(NodeContext* c) {
  Value x = c->In(0);
  HONE_ASSIGN_OR_RETURN(const Bound low, ReadBound(c, 1, "min"));
  HONE_ASSIGN_OR_RETURN(const Bound high, ReadBound(c, 2, "max"));
  constexpr double kAll = INFINITY;
  const double least = low.number.value_or(-kAll), most = high.number.value_or(kAll);
  if (x.is_constant() && IsInteger(x.constant->type)) {
    if (low.tensor || high.tensor) return Status::Unsupported("its bounds must be constant");
    return c->Set(MapInts(c, x, [&](int64_t v) {
      const double clipped = std::min(std::max(static_cast<double>(v), least), most);
      return clipped == static_cast<double>(v) ? v : ToInt(clipped);
    }));
  }
  if (low.tensor) {
    HONE_ASSIGN_OR_RETURN(x, Binary(c, "max", x, *low.tensor));
  }
  if (low.tensor == nullptr && high.tensor == nullptr && least == 0 && most == 6) return c->Set(Unary(c, "relu6", x));
  if (least == 0 && most == kAll) {
    HONE_ASSIGN_OR_RETURN(x, Unary(c, "relu", x));
  } else if (least != -kAll || most != kAll) {
    std::vector<Attribute> attributes;
    // If the lower bound exceeds the upper one, the upper one wins, as in numpy's clip.
    if (least != -kAll) attributes.push_back(Real("low", std::min(least, most)));
    if (most != kAll) attributes.push_back(Real("high", most));
    HONE_ASSIGN_OR_RETURN(x, Unary(c, "clip", x, std::move(attributes)));
  }
  if (high.tensor) {
    HONE_ASSIGN_OR_RETURN(x, Binary(c, "min", x, *high.tensor));
  }
  return c->Set(0, x);
}

Status MapPRelu(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const auto shape = BroadcastShape(x, c->ShapeOf(1));
  if (!shape.ok()) return shape.status();
  if (*shape != x) {
    return Status::Invalid("its slope " + ShapeText(c->ShapeOf(1)) + " does not broadcast to " + ShapeText(x));
  }
  return c->Set(c->Emit("prelu", {c->In(0), c->In(1)}));
}

Status MapBinary(NodeContext* c) {
  Value b = c->In(1);
  // The exponent may have another type than the base.
  if (!c->In(0).is_constant() && b.is_constant() && c->node().op == "Pow") {
    HONE_ASSIGN_OR_RETURN(b, Cast(c, b, ElementType::kFloat));
  }
  return c->Set(Binary(c, GraphOperator(*c), c->In(0), b));
}

Status MapVariadic(NodeContext* c) {
  Value out = c->In(0);
  for (size_t i = 1; i < c->InputCount(); ++i) {
    HONE_ASSIGN_OR_RETURN(out, Binary(c, GraphOperator(*c), out, c->In(i)));
  }
  if (c->node().op == "Mean" && c->InputCount() > 1) {
    return c->Set(Binary(c, "div", out, Filled({1}, static_cast<double>(c->InputCount()))));
  }
  return c->Set(0, out);
}

}  // namespace

std::vector<OperatorEntry> ElementwiseOperators() {
  return {
      {"Abs Acos Asin Atan Ceil Cos Exp Floor Log Neg Reciprocal Relu Sigmoid Sin Softplus Softsign Sqrt Tan Tanh",
       MapUnary, 1, 1, 7},
      {"Acosh Asinh Atanh Cosh Erf Sign Sinh", MapUnary, 1, 1, 9},
      {"Round", MapUnary, 1, 1, 11},
      {"HardSwish", MapUnary, 1, 1, 14},
      {"Mish", MapUnary, 1, 1, 18},
      {"Elu HardSigmoid LeakyRelu Selu", MapAlphaUnary, 1, 1, 7},
      {"ThresholdedRelu", MapAlphaUnary, 1, 1, 10},
      {"Celu", MapAlphaUnary, 1, 1, 12},
      {"Add Div Mul Pow Sub", MapBinary, 2, 2, 7},
      {"Max Min", MapVariadic, 1, kAnyNumber, 7},
      {"Mean Sum", MapVariadic, 1, kAnyNumber, 7, "add"},
      {"Clip", MapClip, 1, 3, 7},
      {"Gelu", MapGelu, 1, 1, 20},
      {"PRelu", MapPRelu, 2, 2, 7},
      {"Shrink", MapShrink, 1, 1, 9},
  };
}

}  // namespace hone::onnx
