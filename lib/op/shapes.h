// Converts tensors to and from their stored form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/integers.h"
#include "op/operator.h"
#include "task/workload.h"

namespace hone::op {

// [N,C,H,W] -> [N, ceil(C/lanes), H, W, lanes], [N,C,D,H,W] likewise. REQUIRES: four or five extents.
std::vector<int64_t> BlockedShape(const std::vector<int64_t>& shape, int lanes);
// Where the channels are, and where the spatial axes begin, in a tensor of `rank` axes stored as kPlain or
// kChannelsLast.
struct AxisPlaces {
  size_t channels = 1, spatial = 2;
  static AxisPlaces Of(Layout layout, size_t rank) {
    return layout == Layout::kChannelsLast ? AxisPlaces{rank - 1, 1} : AxisPlaces{};
  }
};

Operand MakeOperand(std::string name, OperandRole role, const TensorType& type, Layout layout, int lanes);

// The whole operand as plain doubles (without lanes beyond C), and back (with zeros in those lanes), rounded to its
// type.
std::vector<double> ReadPlain(const Operand& operand, const void* stored);
// The plain values in the order of their storage.
std::vector<double> StoredOrder(const Operand& operand, const std::vector<double>& plain);
void WritePlain(const Operand& operand, const std::vector<double>& plain, void* stored);

}  // namespace hone::op
