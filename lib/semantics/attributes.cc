#include "semantics/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone::semantics {

Attribute MakeRealAttribute(const std::string& name, const std::vector<double>& values) {
  Attribute attribute;
  attribute.name = name;
  bool whole = std::ranges::all_of(values, [](double v) { return std::floor(v) == v && std::fabs(v) < 1e15; });
  if (whole) {
    for (double v : values) attribute.values.push_back(static_cast<int64_t>(v));
  } else {
    for (double v : values) attribute.word += (attribute.word.empty() ? "" : ",") + FormatDouble(v);
  }
  return attribute;
}

std::vector<double> Reals(const Workload& w, const std::string& name, std::vector<double> fallback) {
  const Attribute* a = w.Find(name);
  if (a == nullptr) return fallback;
  if (a->word.empty()) return {a->values.begin(), a->values.end()};
  std::vector<double> values;
  for (const std::string& word : Split(a->word, ',')) {
    const Result<double> value = ParseReal(word);
    if (!value.ok()) return fallback;
    values.push_back(*value);
  }
  return values;
}

double Real(const Workload& w, const std::string& name, double fallback) {
  std::vector<double> values = Reals(w, name, {fallback});
  return values.empty() ? fallback : values[0];
}

int64_t Whole(const Workload& w, const std::string& name, int64_t fallback) {
  const Shape values = w.Numbers(name, {fallback});
  return values.empty() ? fallback : values[0];
}

std::string Word(const Workload& w, const std::string& name, const std::string& fallback) {
  const Attribute* a = w.Find(name);
  return a && !a->word.empty() ? a->word : fallback;
}

Shape Expanded(const Workload& w, const std::string& name, size_t count, int64_t fallback) {
  Shape values = w.Numbers(name, {fallback});
  if (values.size() == 1) values.assign(count, values[0]);
  return values;
}

Status CheckAttributes(const Workload& w, const std::vector<AttributeSpec>& specs) {
  std::vector<std::string> names;
  for (const AttributeSpec& spec : specs) names.push_back(spec.name);
  for (size_t i = 0; i < w.attributes.size(); ++i) {
    const Attribute& a = w.attributes[i];
    auto found = std::ranges::find(names, a.name);
    if (found == names.end()) {
      return Status::Invalid("{}: unknown attribute `{}`{}", w.op, a.name, SuggestionText(a.name, names));
    }
    for (size_t j = 0; j < i; ++j) {
      if (w.attributes[j].name == a.name) {
        return Status::Invalid("{}: attribute `{}` is given twice", w.op, a.name);
      }
    }
    const AttributeSpec& spec = specs[static_cast<size_t>(found - names.begin())];
    switch (spec.kind) {
      case AttributeKind::kWhole:
        if (!a.word.empty() || a.values.empty()) {
          return Status::Invalid("{}: `{}` takes whole numbers", w.op, a.name);
        }
        break;
      case AttributeKind::kReal: {
        const std::vector<double> values = Reals(w, a.name, {});
        const bool infinite = std::ranges::any_of(values, [](double v) { return std::isinf(v); });
        if (!a.word.empty() && (values.empty() || (infinite && !spec.infinite))) {
          return Status::Invalid("{}: `{}` takes numbers, not `{}`", w.op, a.name, a.word);
        }
        break;
      }
      case AttributeKind::kWord:
        if (std::ranges::find(spec.words, a.word) == spec.words.end()) {
          return Status::Invalid("{}: `{}` is one of {}", w.op, a.name, fmt::join(spec.words, ", "));
        }
        break;
    }
  }
  return Status();
}

Workload CanonicalAttributes(const Workload& w, const std::vector<AttributeSpec>& specs) {
  Workload c{.op = w.op, .inputs = w.inputs, .attributes = {}, .epilogue = w.epilogue, .from = w.from};
  for (const AttributeSpec& spec : specs) {
    const Attribute* a = w.Find(spec.name);
    if (a == nullptr) continue;
    Attribute canonical =
        spec.kind == AttributeKind::kReal ? MakeRealAttribute(spec.name, Reals(w, spec.name, {})) : *a;
    if (spec.spatial > 0 && canonical.values.size() == 1 && !w.inputs.empty() && w.inputs[0].shape.size() > 2) {
      canonical.values.assign(static_cast<size_t>(spec.spatial) * (w.inputs[0].shape.size() - 2), canonical.values[0]);
    }
    canonical.separator = canonical.values.size() > 1 ? spec.separator : ',';
    bool fallback = !spec.fallback.empty();
    if (fallback && spec.kind == AttributeKind::kWord) fallback = canonical.word == spec.fallback;
    if (fallback && spec.kind != AttributeKind::kWord) {
      const std::vector<double> values = Reals(w, spec.name, {});
      const Result<double> usual = ParseDouble(spec.fallback);
      fallback = std::ranges::all_of(values, [&](double v) { return usual.ok() && v == *usual; });
    }
    if (!fallback) c.attributes.push_back(std::move(canonical));
  }
  return c;
}

Status CheckInputs(const Workload& w, size_t least, size_t most) {
  if (w.inputs.size() < least || w.inputs.size() > most) {
    const std::string count = least == most ? fmt::format("{}", least)
                              : most > 100  ? fmt::format("at least {}", least)
                                            : fmt::format("{} to {}", least, most);
    return Status::Invalid("{}: takes {} tensor{}, not {}", w.op, count, least == 1 && most == 1 ? "" : "s",
                           w.inputs.size());
  }
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const TensorType& t = w.inputs[i];
    if (t.shape.size() > 8) return Status::Unsupported("{}: input {} has more than 8 axes", w.op, i);
    for (int64_t extent : t.shape) {
      if (extent < 1) {
        return Status::Invalid("{}: input {} is {}: extents must be at least 1", w.op, i, t.Text());
      }
    }
    HONE_RETURN_IF_ERROR(Checked(w, t.shape).status());
  }
  return Status();
}

Status CheckElementType(const std::string& what, const DType& type) {
  if (type == DType::Float(32)) return Status();
  return Status::Unsupported(what + "; only f32 is supported");
}

Result<DType> FloatToFloat(const Workload& w) {
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    HONE_RETURN_IF_ERROR(
        CheckElementType(fmt::format("{}: input {} is {}", w.op, i, w.inputs[i].Text()), w.inputs[i].type));
  }
  return DType::Float(32);
}

Result<DType> SameType(const Workload& w) {
  const DType type = w.inputs[0].type;
  const bool known =
      type == DType::Float(32) || type == DType::UInt(8) || type == DType::Int(8) || type == DType::Int(32);
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    if (known && w.inputs[i].type == type) continue;
    return Status::Unsupported("{}: input {} is {}; {}", w.op, i, w.inputs[i].Text(),
                               known ? "all inputs need one type" : "f32, u8, i8 and i32 are supported");
  }
  return type;
}

Result<DType> ProductType(const Workload& w) {
  const auto is = [&](size_t i, DType type) { return w.inputs[i].type == type; };
  const auto wrong = [&](size_t i, const std::string& wanted) {
    return Status::Unsupported("{}: input {} is {}; {}", w.op, i, w.inputs[i].Text(), wanted);
  };
  constexpr DType kSigned = DType::Int(8), kUnsigned = DType::UInt(8);
  if (is(0, DType::Float(32)) && w.inputs.size() == 2) return FloatToFloat(w);
  if (!is(0, kSigned) && !is(0, kUnsigned))
    return wrong(0, w.inputs.size() == 2 ? "f32, u8 and i8 are supported" : "zero points are for u8 and i8");
  if (!is(1, kSigned)) return wrong(1, "the weights of u8 or i8 data are i8");
  const Shape& weight = w.inputs[1].shape;
  for (size_t i = 2; i < w.inputs.size(); ++i) {
    const Shape& shape = w.inputs[i].shape;
    const bool fits = shape == Shape{1} || (i == 3 && !weight.empty() && shape == Shape{weight[0]});
    if (fits && is(i, i == 2 ? w.inputs[0].type : kSigned)) continue;
    return Status::Invalid("{}: input {} is {}, not {}", w.op, i, w.inputs[i].Text(),
                           i == 2 ? "the data's zero point, " + ToString(w.inputs[0].type) + "[1]"
                                  : "the zero points of the weights, i8[1] or one for each channel");
  }
  const int64_t most = 255 * (w.inputs.size() > 3 ? 255 : 128),
                length = weight.empty() ? 1 : Product(weight, 1, weight.size());
  if (length > INT32_MAX / most) {
    return Status::Invalid("{}: sums of {} products of bytes may leave i32; at most {} are possible", w.op, length,
                           INT32_MAX / most);
  }
  return DType::Int(32);
}

Status CheckRankIn(const Workload& w, size_t input, size_t least, size_t most) {
  const size_t rank = w.inputs[input].shape.size();
  if (rank >= least && rank <= most) return Status();
  const std::string count = least == most ? fmt::format("{}", least) : fmt::format("at least {}", least);
  return Status::Invalid("{}: input {} is {}; it must have {} axes", w.op, input, w.inputs[input].Text(), count);
}

Result<Shape> Checked(const Workload& w, Shape shape) {
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (extent < 1) {
      return Status::Invalid("{}: no output: its shape would be [{}]", w.op, fmt::join(shape, ","));
    }
    if (extent > kMaxElements || product * extent > kMaxElements) {
      return Status::Invalid("{}: [{}] has more than 2^29 elements", w.op, fmt::join(shape, ","));
    }
    product *= extent;
  }
  return shape;
}

Result<int64_t> AxisOf(const Workload& w, const std::string& name, int64_t rank, int64_t fallback) {
  const Shape values = w.Numbers(name, {fallback});
  if (values.size() != 1 || values[0] < 0 || values[0] >= rank) {
    return Status::Invalid("{}: `{}` must be one of 0 .. {}", w.op, name, rank - 1);
  }
  return values[0];
}

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}
int64_t Product(const Shape& shape) { return Product(shape, 0, shape.size()); }

Shape Strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
  return strides;
}

}  // namespace hone::semantics
