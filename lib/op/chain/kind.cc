#include "op/chain/chain.h"
#include "op/conv/conv2d_shape.h"
#include "op/conv/conv2d_winograd.h"

namespace hone::op {
namespace {

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

}  // namespace

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

std::vector<const Template*> AllChainTemplates() {
  return {&ChainConvPool(), &ChainWinogradPool(), &ChainDepthwiseConv(), &ChainConvDepthwise(), &ChainBottleneck()};
}

}  // namespace hone::op
