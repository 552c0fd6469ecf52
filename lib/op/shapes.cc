#include "op/shapes.h"

#include <utility>

#include "base/check.h"
#include "semantics/semantics.h"
#include "task/tensor_data.h"

namespace hone::op {
namespace {

// Calls visit(plain index, stored index) for each element.
template <typename Visit>
void ForEach(const Operand& operand, const Visit& visit) {
  const std::vector<int64_t>& s = operand.logical.shape;
  // Channels last is one block of all channels.
  const bool last = operand.layout == Layout::kChannelsLast;
  const int64_t blocks = last ? 1 : operand.physical[1], lanes = operand.physical.back();
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

Operand MakeOperand(std::string name, OperandRole role, const TensorType& type, Layout layout, int lanes) {
  Operand operand{std::move(name), role, type, layout, type.shape};
  if (layout == Layout::kBlocked) operand.physical = BlockedShape(type.shape, lanes);
  if (layout == Layout::kChannelsLast) operand.physical = semantics::StoredShape(type.shape, layout);
  return operand;
}

std::vector<double> ReadPlain(const Operand& operand, const void* stored) {
  std::vector<double> all = ToDoubles(operand.logical.type, stored, operand.PhysicalElements());
  if (operand.layout == Layout::kPlain) return all;
  std::vector<double> plain(static_cast<size_t>(operand.logical.Elements()));
  ForEach(operand, [&](size_t at, int64_t from) { plain[at] = all[static_cast<size_t>(from)]; });
  return plain;
}

std::vector<double> StoredOrder(const Operand& operand, const std::vector<double>& plain) {
  if (operand.layout == Layout::kPlain) return plain;
  std::vector<double> all(static_cast<size_t>(operand.PhysicalElements()), 0.0);
  ForEach(operand, [&](size_t from, int64_t at) { all[static_cast<size_t>(at)] = plain[from]; });
  return all;
}

void WritePlain(const Operand& operand, const std::vector<double>& plain, void* stored) {
  FromDoubles(StoredOrder(operand, plain), operand.logical.type, stored);
}

}  // namespace hone::op
