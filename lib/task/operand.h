// An operand of a task: its role, its type, and how a target stores it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace hone {

enum class OperandRole {
  kData,      // an activation; a parameter in its place is stored once, as the kernel reads it
  kConstant,  // weights, bias: a graph gives parameters; passed plain, packed once by the kernel's prepare function
  kOutput,
};

// kPlain: row-major. kBlocked: [N,C,H,W] is stored as [N, ceil(C/B), H, W, B], and [N,C,D,H,W] likewise, where B is
// Target::ChannelBlock(). Lanes beyond C are zero. kChannelsLast: [N,H,W,C], and [N,D,H,W,C]. Shapes are logical
// (channels are axis 1), whatever the layout. semantics/semantics.h defines the layout of a workload's operands.
enum class Layout { kPlain, kBlocked, kChannelsLast };
// The names that users write.
inline const std::vector<std::pair<Layout, const char*>> kLayoutNames = {
    {Layout::kBlocked, "blocked"}, {Layout::kPlain, "nchw"}, {Layout::kChannelsLast, "nhwc"}};
const char* LayoutName(Layout layout);
// Returns kInvalid with a suggestion for an unknown name.
Result<Layout> LayoutNamed(const std::string& name);

struct Operand {
  std::string name;  // "data", "weight", "bias", "residual", "out"
  OperandRole role = OperandRole::kData;
  TensorType logical;
  Layout layout = Layout::kPlain;
  std::vector<int64_t> physical;  // shape as stored

  int64_t PhysicalElements() const { return TensorType{logical.type, physical}.Elements(); }
  int64_t PhysicalBytes() const { return PhysicalElements() * logical.type.bytes(); }
};

}  // namespace hone
