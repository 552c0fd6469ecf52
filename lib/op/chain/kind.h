// The kinds of chains with kernels; add a line in kind.cc for a new one.
#pragma once

#include <string>
#include <vector>

#include "op/operator.h"

namespace hone::op {

struct ChainKind {
  const char* text;  // for people
  bool (*matches)(const std::vector<Workload>& parts);
  // At least one template. `parts` matches.
  std::vector<const Template*> (*templates)(const std::vector<Workload>& parts, const Target& target);
};

// The first kind that matches, or null. REQUIRES: each part is legal by itself, and their types fit.
const ChainKind* FindChainKind(const std::vector<Workload>& parts);
std::string ChainKindsText();
const Template& ChainConvPool();
const Template& ChainDepthwiseConv();
const Template& ChainConvDepthwise();
const Template& ChainBottleneck();
// Templates of all kinds.
std::vector<const Template*> AllChainTemplates();

}  // namespace hone::op
