// Epilogues: operations on each value of an anchor's output before it is stored: bias, residual, activation, in the
// workload's order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "op/operator.h"
#include "te/tensor.h"

namespace hone::op {

// The operands that the epilogue adds, in order: "bias", "bias1".., "residual", "residual1".., for one of bytes also
// "residual_scale" and "residual_zero", and for a requant "multiplier" and "limits". With a shift, these are
// "residual_shift", "shift" and "limits". Residuals are stored like the output, all others plain.
std::vector<Operand> EpilogueOperands(const Workload& workload, const Operand& output, int lanes);

// The placeholders of the epilogue's operands, as a kernel over a blocked [n, co, y, x, lane] or plain output reads
// them. A residual has the shape `stored` (any view of the output's storage). A bias is [blocks, lanes], which a
// constant computation pads with zeros if the channels do not fill the last block, or plain [channels] if lanes is 0.
// `rename` gives an operand's name from that in EpilogueOperands (chains have several epilogues).
struct EpilogueTensors {
  std::vector<Tensor> placeholders;  // raw, in operand order
  std::vector<Tensor> read;   // what the kernel reads at an element or its channel, in operand order; four for a shift
  std::vector<bool> is_bias;  // of these: whether it has a value for each channel, as a requant's multiplier
  // Constants made from a requant's limits: f32 {least - zero point, most - zero point}, and the zero point as i32;
  // from a shift's, i32 {least, most}.
  Tensor bounds, zero;
  Tensor residual_scale, residual_zero;  // of a residual of bytes: its scale, and the constant zero point as i32

  // Computation::inputs of a kernel with these `inputs` and the epilogue's.
  std::vector<Tensor> After(std::vector<Tensor> inputs) const;
};
EpilogueTensors MakeEpilogueTensors(const Workload& workload, const std::vector<int64_t>& stored, int64_t channels,
                                    int lanes, const std::function<std::string(const std::string&)>& rename = {});

// The value of a blocked output at [n, co, y.., lane]: epilogue applied, lanes beyond `channels` zero. `at` has the
// indices of the output: the block of channels second, the lane last.
Expr BlockedEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const std::vector<Var>& at,
                     int64_t channels, int lanes);

// The value of an output without blocks at `at`, where `channels` is the axis of the channels.
Expr PlainEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const std::vector<Var>& at,
                   size_t channels = 1);

}  // namespace hone::op
