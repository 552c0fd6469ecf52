#include "semantics/elementwise.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "semantics/quantise.h"
#include "semantics/tables.h"

namespace hone::semantics {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Least(double a, double b) { return -Most(-a, -b); }
double Softplus(double x) { return Most(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

using X = const double*;

double Gelu(X x, X a) {
  if (a[0] == 0) return 0.5 * x[0] * (1 + std::erf(x[0] / std::sqrt(2.0)));
  return 0.5 * x[0] * (1 + std::tanh(std::sqrt(2 / kPi) * (x[0] + 0.044715 * x[0] * x[0] * x[0])));
}

const std::vector<ScalarFunction> kFunctions = {
    {"relu", 1, 1, [](X x, X) { return Most(x[0], 0); }, {}},
    {"relu6", 1, 2, [](X x, X) { return Least(Most(x[0], 0), 6); }, {}},
    {"sigmoid", 1, 4, [](X x, X) { return 1 / (1 + std::exp(-x[0])); }, {}},
    {"tanh", 1, 4, [](X x, X) { return std::tanh(x[0]); }, {}},
    {"exp", 1, 4, [](X x, X) { return std::exp(x[0]); }, {}},
    {"identity", 1, 0, [](X x, X) { return x[0]; }, {}},
    {"sqrt", 1, 1, [](X x, X) { return std::sqrt(x[0]); }, {}},
    {"log", 1, 4, [](X x, X) { return std::log(x[0]); }, {}},
    {"abs", 1, 1, [](X x, X) { return std::fabs(x[0]); }, {}},
    {"neg", 1, 1, [](X x, X) { return -x[0]; }, {}},
    {"reciprocal", 1, 1, [](X x, X) { return 1 / x[0]; }, {}},
    {"erf", 1, 4, [](X x, X) { return std::erf(x[0]); }, {}},
    {"floor", 1, 1, [](X x, X) { return std::floor(x[0]); }, {}},
    {"ceil", 1, 1, [](X x, X) { return std::ceil(x[0]); }, {}},
    {"round", 1, 1, [](X x, X) { return std::nearbyint(x[0]); }, {}},
    {"sign", 1, 2, [](X x, X) { return x[0] > 0   ? 1.0
                                       : x[0] < 0 ? -1.0
                                                  : x[0]; }, {}},
    {"sin", 1, 8, [](X x, X) { return std::sin(x[0]); }, {}},
    {"cos", 1, 8, [](X x, X) { return std::cos(x[0]); }, {}},
    {"tan", 1, 12, [](X x, X) { return std::tan(x[0]); }, {}},
    {"asin", 1, 8, [](X x, X) { return std::asin(x[0]); }, {}},
    {"acos", 1, 8, [](X x, X) { return std::acos(x[0]); }, {}},
    {"atan", 1, 8, [](X x, X) { return std::atan(x[0]); }, {}},
    {"sinh", 1, 8, [](X x, X) { return std::sinh(x[0]); }, {}},
    {"cosh", 1, 8, [](X x, X) { return std::cosh(x[0]); }, {}},
    {"asinh", 1, 8, [](X x, X) { return std::asinh(x[0]); }, {}},
    {"acosh", 1, 8, [](X x, X) { return std::acosh(x[0]); }, {}},
    {"atanh", 1, 8, [](X x, X) { return std::atanh(x[0]); }, {}},
    {"softplus", 1, 8, [](X x, X) { return Softplus(x[0]); }, {}},
    {"softsign", 1, 3, [](X x, X) { return x[0] / (1 + std::fabs(x[0])); }, {}},
    {"mish", 1, 12, [](X x, X) { return x[0] * std::tanh(Softplus(x[0])); }, {}},
    {"hard_swish", 1, 5, [](X x, X) { return x[0] * Least(Most(x[0] / 6 + 0.5, 0), 1); }, {}},
    {"gelu", 1, 8, Gelu, {{"approximate", 0}}},
    {"leaky_relu", 1, 2, [](X x, X a) { return x[0] < 0 ? a[0] * x[0] : x[0]; }, {{"alpha", 0.01}}},
    {"elu", 1, 6, [](X x, X a) { return x[0] < 0 ? a[0] * std::expm1(x[0]) : x[0]; }, {{"alpha", 1}}},
    {"celu", 1, 6, [](X x, X a) { return x[0] < 0 ? a[0] * std::expm1(x[0] / a[0]) : x[0]; }, {{"alpha", 1}}},
    {"selu",
     1,
     6,
     [](X x, X a) { return a[1] * (x[0] < 0 ? a[0] * std::expm1(x[0]) : x[0]); },
     {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}}},
    {"hard_sigmoid",
     1,
     4,
     [](X x, X a) { return Least(Most(a[0] * x[0] + a[1], 0), 1); },
     {{"alpha", 0.2}, {"beta", 0.5}}},
    {"thresholded_relu", 1, 1, [](X x, X a) { return x[0] > a[0] ? x[0] : 0.0; }, {{"alpha", 1}}},
    {"clip", 1, 2, [](X x, X a) { return Least(Most(x[0], a[0]), a[1]); }, {{"low", -kInfinity}, {"high", kInfinity}}},
    {"add", 2, 1, [](X x, X) { return x[0] + x[1]; }, {}},
    {"sub", 2, 1, [](X x, X) { return x[0] - x[1]; }, {}},
    {"mul", 2, 1, [](X x, X) { return x[0] * x[1]; }, {}},
    {"div", 2, 1, [](X x, X) { return x[0] / x[1]; }, {}},
    {"pow", 2, 12, [](X x, X) { return std::pow(x[0], x[1]); }, {}},
    {"min", 2, 1, [](X x, X) { return Least(x[0], x[1]); }, {}},
    {"max", 2, 1, [](X x, X) { return Most(x[0], x[1]); }, {}},
    {"prelu", 2, 2, [](X x, X) { return x[0] < 0 ? x[1] * x[0] : x[0]; }, {}},
};

// numpy's rule: aligned at the last axis, an extent of 1 is repeated.
Result<Shape> Broadcast(const Workload& w) {
  Shape shape;
  for (const TensorType& input : w.inputs) {
    const Shape& s = input.shape;
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), 1);
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t& extent = shape[shape.size() - s.size() + i];
      if (s[i] != extent && s[i] != 1 && extent != 1) {
        return Status::Invalid(w.op + ": " + w.inputs[0].Text() + " and " + input.Text() +
                               " differ in shape, and do not broadcast");
      }
      if (extent == 1) extent = s[i];
    }
  }
  for (const TensorType& input : w.inputs) {
    Shape s = input.shape;
    const bool image = shape.size() == 4 || shape.size() == 5;
    if (StatedLayout(w) != Layout::kChannelsLast || !image || s.size() == shape.size()) continue;
    s.insert(s.begin(), shape.size() - s.size(), 1);
    // An input with fewer axes is plain. It must have its elements in the same order.
    if (s[1] == 1 || Product(s, 2, s.size()) == 1) continue;
    return Status::Invalid("{}: {} has channels and pixels, but no images, so it cannot be read with layout=nhwc", w.op,
                           input.Text());
  }
  return shape;
}

void Apply(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const ScalarFunction& f = ScalarFunctionOf(w.op);
  const std::vector<double> a = ParameterValues(f, w);
  std::vector<Walk> walks;  // one per input
  for (const TensorType& input : w.inputs) walks.emplace_back(shape, BroadcastStrides(input.shape, shape));
  double values[2] = {};
  for (double& value : *out) {
    for (size_t i = 0; i < x.size(); ++i) {
      values[i] = (*x[i])[static_cast<size_t>(walks[i].at())];
      walks[i].Next();
    }
    value = f.value(values, a.data());
  }
}

// Whether `tensor` of `type` broadcasts to the shape of `data`.
bool BroadcastsTo(const TensorType& tensor, DType type, const TensorType& data) {
  const Shape &from = tensor.shape, &to = data.shape;
  if (tensor.type != type) return false;
  if (from == Shape{1}) return true;
  const auto fits = [](int64_t a, int64_t b) { return a == 1 || a == b; };
  return from.size() <= to.size() && std::equal(from.rbegin(), from.rend(), to.rbegin(), fits);
}

// The type rules of quantise and dequantise.
template <bool kQuantise>
Result<DType> ConversionType(const Workload& w) {
  const DType byte = w.inputs[2].type, real = DType::Float(32);
  if (byte != DType::UInt(8) && byte != DType::Int(8) && (kQuantise || byte != DType::Int(32))) {
    return Status::Invalid("{}: the zero point is {}, not u8[1] or i8[1]{}", w.op, w.inputs[2].Text(),
                           kQuantise ? "" : ", or i32[1]");
  }
  const DType from = kQuantise ? real : byte;
  if (w.inputs[0].type != from || !BroadcastsTo(w.inputs[1], real, w.inputs[0]) ||
      !BroadcastsTo(w.inputs[2], byte, w.inputs[0])) {
    return Status::Invalid("{}: takes {}[..], f32[1] and {}[1], not {}, {} and {}", w.op, ToString(from),
                           ToString(byte), w.inputs[0].Text(), w.inputs[1].Text(), w.inputs[2].Text());
  }
  return kQuantise ? byte : real;
}

// The scale and zero point of each element, in order.
class Grid {
 public:
  Grid(const Workload& w, const std::vector<const Values*>& x, const Shape& shape)
      : scales_(*x[1]),
        zeros_(*x[2]),
        scale_(shape, BroadcastStrides(w.inputs[1].shape, shape)),
        zero_(shape, BroadcastStrides(w.inputs[2].shape, shape)) {}
  float scale() const { return static_cast<float>(scales_[static_cast<size_t>(scale_.at())]); }
  double zero() const { return zeros_[static_cast<size_t>(zero_.at())]; }
  void Next() { scale_.Next(), zero_.Next(); }

 private:
  const Values &scales_, &zeros_;
  Walk scale_, zero_;
};

void Quantise(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const auto [least, most] = LimitsOf(w.inputs[2].type);
  Grid grid(w, x, shape);
  for (size_t i = 0; i < out->size(); ++i, grid.Next()) {
    const float quotient = static_cast<float>((*x[0])[i]) / grid.scale();
    const double value = std::isnan(quotient) ? least : std::nearbyint(static_cast<double>(quotient)) + grid.zero();
    (*out)[i] = std::min(std::max(value, double(least)), double(most));
  }
}

void Dequantise(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  Grid grid(w, x, shape);
  for (size_t i = 0; i < out->size(); ++i, grid.Next()) {
    const auto above_zero = static_cast<int64_t>((*x[0])[i] - grid.zero());
    const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(above_zero));
    (*out)[i] = static_cast<double>(static_cast<float>(wrapped) * grid.scale());
  }
}

// The type rule of requantise.
Result<DType> RequantiseType(const Workload& w) {
  const auto is_byte = [](DType type) { return type == DType::UInt(8) || type == DType::Int(8); };
  const size_t terms = w.inputs.size() / 3 * 3 - 3;
  const DType out = w.inputs.back().type, factor = w.inputs[1].type;
  bool fits = w.inputs.size() % 3 == 0 && is_byte(out) && (factor == DType::Float(32) || factor == DType::Int(32));
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const TensorType& t = w.inputs[i];
    if (i < terms && i % 3 == 0) {
      fits = fits && is_byte(t.type);
    } else {
      const DType type = i >= terms ? out : i % 3 == 1 ? factor : w.inputs[i - 2].type;
      fits = fits && t == TensorType{type, {1}};
    }
  }
  if (fits) return out;
  return Status::Invalid(
      "requantise: takes bytes T[..], f32[1], T[1] once or twice, then V[1], V[1], V[1] of bytes; or i32[1] for all "
      "f32[1]");
}

void Requantise(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const size_t terms = x.size() - 3;
  std::vector<Walk> walks;
  for (size_t t = 0; t < terms; t += 3) walks.emplace_back(shape, BroadcastStrides(w.inputs[t].shape, shape));
  const double zero = (*x[terms])[0], least = (*x[terms + 1])[0], most = (*x[terms + 2])[0];
  const bool shifts = w.inputs[1].type == DType::Int(32);
  for (double& value : *out) {
    float sum = 0;
    double exact = 0.5;
    for (size_t t = 0; t < terms; t += 3) {
      const double above_zero = (*x[t])[static_cast<size_t>(walks[t / 3].at())] - (*x[t + 2])[0];
      const int exponent = static_cast<int>(std::clamp<double>((*x[t + 1])[0], kLeastExponent, kMostExponent));
      if (shifts) exact += std::ldexp(above_zero, exponent);
      sum = std::fma(static_cast<float>(above_zero), static_cast<float>((*x[t + 1])[0]), sum);
      walks[t / 3].Next();
    }
    if (shifts) sum = static_cast<float>(std::floor(exact));  // below 2^18
    value = std::isnan(sum) ? least : std::min(std::max(std::nearbyint(static_cast<double>(sum)) + zero, least), most);
  }
}

constexpr std::pair<const char*, EpilogueKind> kAsEpilogue[] = {{"add", EpilogueKind::kAdd},
                                                                {"relu", EpilogueKind::kRelu},
                                                                {"relu6", EpilogueKind::kRelu6},
                                                                {"clip", EpilogueKind::kClip}};

double ElementwiseFlop(const Workload& w, const Shape& shape) {
  return ScalarFunctionOf(w.op).flop * static_cast<double>(Product(shape));
}

}  // namespace

const std::vector<ScalarFunction>& ScalarFunctions() { return kFunctions; }

const ScalarFunction& ScalarFunctionOf(const std::string& name) {
  auto found = std::ranges::find(kFunctions, name, &ScalarFunction::name);
  HONE_CHECK(found != kFunctions.end());
  return *found;
}

std::vector<double> ParameterValues(const ScalarFunction& f, const Workload& w) {
  std::vector<double> values;
  for (const Parameter& p : f.parameters) values.push_back(Real(w, p.name, p.usual));
  return values;
}

std::vector<Definition> Elementwise() {
  std::vector<Definition> all;
  for (const ScalarFunction& f : kFunctions) {
    Definition d{f.name,          f.inputs,         f.inputs,         {},  Broadcast, Apply,
                 ElementwiseFlop, Layout::kBlocked, Layout::kBlocked, true};
    for (const Parameter& p : f.parameters) {
      d.attributes.push_back({p.name, AttributeKind::kReal, std::isinf(p.usual) ? "" : FormatDouble(p.usual), {}, ','});
    }
    d.attributes.push_back(LayoutSpec());
    for (auto [name, kind] : kAsEpilogue) {
      if (d.name == name) d.epilogue = kind;
    }
    if (d.name == "identity") d.passes_on = [](const Workload&) { return true; }, d.type = SameType, d.selects = true;
    all.push_back(std::move(d));
  }
  for (const bool quantise : {true, false}) {
    Definition d{quantise ? "quantise" : "dequantise", 3, 3, {LayoutSpec()}, Broadcast};
    d.evaluate = quantise ? Quantise : Dequantise, d.flop = OutputFlop<3>;
    d.type = quantise ? ConversionType<true> : ConversionType<false>;
    all.push_back(std::move(d));
  }
  Definition requantise{"requantise", 6, 9, {LayoutSpec()}, Broadcast};
  requantise.evaluate = Requantise, requantise.flop = OutputFlop<4>, requantise.type = RequantiseType;
  all.push_back(std::move(requantise));
  for (Definition& d : all) d.in = d.out = Layout::kBlocked, d.elementwise = true;
  return all;
}

}  // namespace hone::semantics
