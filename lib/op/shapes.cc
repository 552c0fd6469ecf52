#include "op/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/suggest.h"
#include "semantics/attributes.h"

namespace hone::op {
namespace {

using semantics::kMaxElements;

// The product, or -1 beyond kMaxElements.
int64_t BoundedProduct(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (extent > kMaxElements || product * extent > kMaxElements) return -1;
    product *= extent;
  }
  return product;
}

// Calls visit(plain index, stored index) for each element of a blocked tensor.
template <typename Visit>
void ForBlocked(const Operand& operand, const Visit& visit) {
  const std::vector<int64_t>& s = operand.logical.shape;
  const int64_t blocks = operand.physical[1], lanes = operand.physical.back();
  const int64_t pixels = operand.logical.Elements() / (s[0] * s[1]);
  size_t plain = 0;
  for (int64_t n = 0; n < s[0]; ++n) {
    for (int64_t c = 0; c < s[1]; ++c) {
      const int64_t base = (n * blocks + c / lanes) * pixels;
      for (int64_t x = 0; x < pixels; ++x) visit(plain++, (base + x) * lanes + c % lanes);
    }
  }
}

}  // namespace

std::vector<int64_t> BlockedShape(const std::vector<int64_t>& shape, int lanes) {
  HONE_CHECK(shape.size() == 4 || shape.size() == 5);
  std::vector<int64_t> blocked = shape;
  blocked[1] = CeilDiv(shape[1], lanes);
  blocked.push_back(lanes);
  return blocked;
}

Layout ActivationLayout(const TensorType& type) {
  return type.shape.size() == 4 || type.shape.size() == 5 ? Layout::kBlocked : Layout::kPlain;
}

Operand MakeOperand(std::string name, OperandRole role, const TensorType& type, Layout layout, int lanes) {
  Operand operand{std::move(name), role, type, layout, type.shape};
  if (layout == Layout::kBlocked) operand.physical = BlockedShape(type.shape, lanes);
  return operand;
}

Operand Activation(std::string name, OperandRole role, const TensorType& type, int lanes) {
  return MakeOperand(std::move(name), role, type, ActivationLayout(type), lanes);
}

std::vector<double> ReadPlain(const Operand& operand, const float* stored) {
  std::vector<double> plain(operand.logical.Elements());
  if (operand.layout == Layout::kPlain) {
    std::copy(stored, stored + plain.size(), plain.begin());
  } else {
    ForBlocked(operand, [&](size_t from, int64_t at) { plain[from] = stored[at]; });
  }
  return plain;
}

void WritePlain(const Operand& operand, const std::vector<double>& plain, float* stored) {
  if (operand.layout == Layout::kPlain) {
    std::copy(plain.begin(), plain.end(), stored);
    return;
  }
  std::fill(stored, stored + operand.PhysicalElements(), 0.0f);
  ForBlocked(operand, [&](size_t from, int64_t at) { stored[at] = static_cast<float>(plain[from]); });
}

Status CheckInputs(const Workload& workload, size_t inputs) {
  if (workload.inputs.size() != inputs) {
    return Status::Invalid(fmt::format("{}: takes {} tensor{}, not {}", workload.op, inputs, inputs == 1 ? "" : "s",
                                       workload.inputs.size()));
  }
  for (size_t i = 0; i < inputs; ++i) {
    const TensorType& t = workload.inputs[i];
    if (t.type != DType::Float(32)) {
      return Status::Unsupported(fmt::format("{}: input {} is {}; only f32 is supported", workload.op, i, t.Text()));
    }
    for (int64_t extent : t.shape) {
      if (extent < 1) {
        return Status::Invalid(fmt::format("{}: input {} is {}: extents must be at least 1", workload.op, i, t.Text()));
      }
    }
    if (BoundedProduct(t.shape) < 0) {
      return Status::Invalid(fmt::format("{}: input {} is {}: more than 2^29 elements", workload.op, i, t.Text()));
    }
  }
  return Status::Ok();
}

Status CheckRank(const Workload& workload, size_t input, size_t rank) {
  const TensorType& t = workload.inputs[input];
  if (t.shape.size() == rank) return Status::Ok();
  return Status::Invalid(fmt::format("{}: input {} is {}; it must have {} axes", workload.op, input, t.Text(), rank));
}

Status CheckOutput(const Workload& workload, const std::vector<int64_t>& shape) {
  for (int64_t extent : shape) {
    if (extent < 1) {
      return Status::Invalid(fmt::format("{}: no output: its shape would be [{}]", workload.op, fmt::join(shape, ",")));
    }
  }
  if (BoundedProduct(shape) < 0) {
    return Status::Invalid(
        fmt::format("{}: the output [{}] has more than 2^29 elements", workload.op, fmt::join(shape, ",")));
  }
  return Status::Ok();
}

Status CheckAttributeNames(const Workload& workload, const std::vector<std::string>& known) {
  for (size_t i = 0; i < workload.attributes.size(); ++i) {
    const std::string& name = workload.attributes[i].name;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Status::Invalid(
          fmt::format("{}: unknown attribute `{}`{}", workload.op, name, SuggestionText(name, known)));
    }
    for (size_t j = 0; j < i; ++j) {
      if (workload.attributes[j].name == name) {
        return Status::Invalid(fmt::format("{}: attribute `{}` is given twice", workload.op, name));
      }
    }
  }
  return Status::Ok();
}

Status CheckNumbers(const Workload& workload, const std::string& name, size_t count, int64_t low, int64_t high) {
  const Attribute* attribute = workload.Find(name);
  if (!attribute) return Status::Ok();
  if (!attribute->word.empty() || (attribute->values.size() != count && attribute->values.size() != 1)) {
    return Status::Invalid(fmt::format("{}: `{}` takes {} number{}", workload.op, name, count, count == 1 ? "" : "s"));
  }
  for (int64_t value : attribute->values) {
    if (value < low || value > high) {
      return Status::Invalid(
          fmt::format("{}: `{}` has {}; it must be in {} .. {}", workload.op, name, value, low, high));
    }
  }
  return Status::Ok();
}

Status CheckNoEpilogue(const Workload& workload) {
  if (workload.epilogue.empty()) return Status::Ok();
  return Status::Invalid(fmt::format("{}: takes no epilogue (`+ ...`)", workload.op));
}

std::vector<int64_t> ExpandedNumbers(const Workload& workload, const std::string& name, size_t count,
                                     int64_t fallback) {
  std::vector<int64_t> values = workload.Numbers(name, {fallback});
  if (values.size() == 1) values.assign(count, values[0]);
  return values;
}

void AddCanonical(Workload* workload, const std::string& name, const std::vector<int64_t>& values, char separator,
                  int64_t fallback) {
  if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == fallback; })) return;
  Attribute attribute;
  attribute.name = name;
  attribute.values = values;
  attribute.separator = values.size() == 1 ? ',' : separator;
  workload->attributes.push_back(attribute);
}

}  // namespace hone::op
