// An operand of a task: its role, its type, and how a target stores it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/workload.h"

namespace hone {

enum class OperandRole {
  kData,      // an activation; a parameter in its place is stored once, as the kernel reads it
  kConstant,  // weights, bias: a graph gives parameters; passed plain, packed once by the kernel's prepare function
  kOutput,
};

// kPlain: row-major. kBlocked: [N,C,H,W] is stored as [N, ceil(C/B), H, W, B], and [N,C,D,H,W] likewise, where B is
// Target::ChannelBlock(). Lanes beyond C are zero. semantics/semantics.h defines the layout of a workload's operands.
enum class Layout { kPlain, kBlocked };

struct Operand {
  std::string name;  // "data", "weight", "bias", "residual", "out"
  OperandRole role = OperandRole::kData;
  TensorType logical;
  Layout layout = Layout::kPlain;
  std::vector<int64_t> physical;  // shape as stored: blocked or equal to logical.shape

  int64_t PhysicalElements() const { return TensorType{logical.type, physical}.Elements(); }
  int64_t PhysicalBytes() const { return PhysicalElements() * logical.type.bytes(); }
};

}  // namespace hone
