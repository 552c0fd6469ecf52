#include "op/chain_kind.h"

namespace hone::op {
namespace {

const std::vector<ChainKind>& Kinds() {
  static const std::vector<ChainKind> kinds = {};
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

}  // namespace hone::op
