// Chains `A -> B`: two or three workloads as one kernel, so that the data between them never leaves the caches of the
// core that computes it.
//
// Check's message lists the supported pairs. Operands: those of A except its output, then those of each following
// member except its data; MemberOperandName gives the names. A's output type is the type of its follower's first input.
#include "op/chain/chain.h"

#include <utility>

#include "op/conv/conv2d_winograd.h"
#include "op/defined_operator.h"
#include "op/operators.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

// A kind of chains with kernels.
struct ChainKind {
  const char* text;  // for people
  bool (*matches)(const std::vector<Workload>& parts);
  // At least one template. `parts` matches.
  std::vector<const Template*> (*templates)(const std::vector<Workload>& parts, const Target& target);
};

bool IsPool(const Workload& w) { return w.op == "max_pool2d" || w.op == "avg_pool2d"; }

bool IsConv(const Workload& w) { return w.op == "conv2d" && Conv2dShape::Of(w).groups == 1; }

bool IsDepthwise(const Workload& w) { return w.op == "conv2d" && Conv2dShape::Of(w).depthwise(); }

// Without stride and padding: pixels are independent.
bool IsPointwise(const Workload& w) {
  if (!IsConv(w)) return false;
  const Conv2dShape s = Conv2dShape::Of(w);
  return s.kh == 1 && s.kw == 1 && s.sh == 1 && s.sw == 1 && !s.padded();
}

using Parts = std::vector<Workload>;
using Templates = std::vector<const Template*>;

// Add a line for a new kind.
const std::vector<ChainKind>& Kinds() {
  static const std::vector<ChainKind> kinds = {
      {"conv2d (groups=1) -> max_pool2d or avg_pool2d",
       [](const Parts& p) { return p.size() == 2 && IsConv(p[0]) && IsPool(p[1]); },
       [](const Parts& p, const Target& target) {
         Workload chain = p[0];
         chain.then = {p[1]};
         Templates templates = {&ChainConvPool()};
         if (WinogradPoolApplies(chain, target)) templates.push_back(&ChainWinogradPool());
         return templates;
       }},
      {"conv2d depthwise (blocked) -> conv2d 1x1",
       [](const Parts& p) {
         return p.size() == 2 && IsDepthwise(p[0]) && !Conv2dShape::Of(p[0]).plain_input && IsPointwise(p[1]);
       },
       [](const Parts&, const Target&) { return Templates{&ChainDepthwiseConv()}; }},
      {"conv2d 1x1 -> conv2d depthwise",
       [](const Parts& p) { return p.size() == 2 && IsPointwise(p[0]) && IsDepthwise(p[1]); },
       [](const Parts&, const Target&) { return Templates{&ChainConvDepthwise()}; }},
      {"conv2d 1x1 -> conv2d depthwise -> conv2d 1x1",
       [](const Parts& p) { return p.size() == 3 && IsPointwise(p[0]) && IsDepthwise(p[1]) && IsPointwise(p[2]); },
       [](const Parts&, const Target&) { return Templates{&ChainBottleneck()}; }},
  };
  return kinds;
}

// The first kind that matches, or null. REQUIRES: each part is legal by itself, and their types fit.
const ChainKind* FindChainKind(const std::vector<Workload>& parts) {
  for (const ChainKind& kind : Kinds()) {
    if (kind.matches(parts)) return &kind;
  }
  return nullptr;
}

std::string ChainKindsText() {
  std::string text;
  for (const ChainKind& kind : Kinds()) text += (text.empty() ? "" : "; ") + std::string(kind.text);
  return text;
}

class ChainOperator final : public Operator {
 public:
  const char* name() const override { return "chain"; }

  Status Check(const Workload& w) const override {
    if (w.then.size() > Workload::kMostFollowers) {
      return Status::Invalid("chain: at most {} members", Workload::kMostFollowers + 1);
    }
    HONE_RETURN_IF_ERROR(semantics::InferOutput(w).status());
    const std::vector<Workload> parts = w.Parts();
    for (size_t i = 1; i < parts.size(); ++i) {
      if (semantics::InputLayout(parts[i], 0) == Layout::kBlocked) continue;
      return Status::Invalid("chain: {} follows {}, whose output is blocked: it takes no `in`", parts[i].op,
                             parts[i - 1].op);
    }
    if (FindChainKind(parts)) return Status::Ok();
    return Status::Unsupported("chain: there is no kernel for {}; supported: {}", w.Text(), ChainKindsText());
  }

  std::vector<Operand> Operands(const Workload& w, const Target& target) const override {
    std::vector<Operand> operands;
    const std::vector<Workload> parts = w.Parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      std::vector<Operand> own = (*FindOperator(parts[i]))->Operands(parts[i], target);
      const size_t end = own.size() - (i + 1 < parts.size() ? 1 : 0);
      for (size_t j = i == 0 ? 0 : 1; j < end; ++j) {
        if (own[j].role != OperandRole::kOutput) own[j].name = MemberOperandName(own[j].name, i);
        operands.push_back(std::move(own[j]));
      }
    }
    return operands;
  }

  std::vector<const Template*> Templates(const Workload& w, const Target& target) const override {
    if (target.family() != kCpuFamily) return {};
    return FindChainKind(w.Parts())->templates(w.Parts(), target);
  }
  TemplateList AllTemplates() const override {
    return {
        {kCpuFamily,
         {&ChainConvPool(), &ChainWinogradPool(), &ChainDepthwiseConv(), &ChainConvDepthwise(), &ChainBottleneck()}}};
  }
  Result<Computation> Compute(const Workload& w, const Target& target, const Algorithm& algorithm) const override {
    return ComputeBy(
        {{kCpuFamily, "direct", {}, ComputeChain}, {kCpuFamily, "winograd", {"m", "tiles"}, ComputeWinograd}}, w,
        target, algorithm);
  }

  // Each member's reference in turn. Tensors between them are rounded to their type, as in kernels.
  void Reference(const Workload& w, const Target& target, const std::vector<void*>& buffers) const override {
    std::vector<char> between;
    size_t next = 0;
    const std::vector<Workload> parts = w.Parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      const Operator* op = *FindOperator(parts[i]);
      const std::vector<Operand> operands = op->Operands(parts[i], target);
      std::vector<void*> own;
      if (i > 0) own.push_back(between.data());
      while (own.size() + 1 < operands.size()) own.push_back(buffers[next++]);
      std::vector<char> made;
      if (i + 1 < parts.size()) made.resize(static_cast<size_t>(operands.back().PhysicalBytes()));
      own.push_back(i + 1 < parts.size() ? static_cast<void*>(made.data()) : buffers[next]);
      op->Reference(parts[i], target, own);
      between = std::move(made);
    }
  }
};

}  // namespace

const Operator& Chain() {
  static const ChainOperator op;
  return op;
}

}  // namespace hone::op
