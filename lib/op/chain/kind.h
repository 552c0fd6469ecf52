// The kinds of chains that there are kernels for: a new one is a line in kind.cc.
#pragma once

#include <string>
#include <vector>

#include "op/operator.h"

namespace hone::op {

struct ChainKind {
  const char* text;  // for people
  bool (*matches)(const std::vector<Workload>& parts);
  // At least one. `parts` matches.
  std::vector<const Template*> (*templates)(const std::vector<Workload>& parts, const Target& target);
};

// The first kind that matches; null if none does. REQUIRES: each part is legal by itself, and their types fit.
const ChainKind* FindChainKind(const std::vector<Workload>& parts);
std::string ChainKindsText();
const Template& ChainConvPool();
const Template& ChainDepthwiseConv();
const Template& ChainConvDepthwise();
const Template& ChainBottleneck();
// Those of all kinds.
std::vector<const Template*> AllChainTemplates();

}  // namespace hone::op
