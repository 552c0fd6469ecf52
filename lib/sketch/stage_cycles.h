// Parts of rules that look at all stages of a computation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "te/stage.h"

namespace hone::sketch {

using te::IsStage;

inline double Real(int64_t x) { return static_cast<double>(x); }
int64_t ElementsOf(const std::vector<int64_t>& extents);

template <typename F>
void ForEachAccess(const te::TensorNode& node, const F& fn) {
  te::ForEachAccess(node.body, fn);
}

// Cycles of one core for a vector of 16 floats: two operations or loads a cycle, and slower functions. Memory beyond
// the first cache does not count.
class StageCycles {
 public:
  // The cycles to read a vector of stage `name`: half a cycle, or those of computing it again.
  void Set(const std::string& name, double cycles) { reads_[name] = cycles; }
  double Of(const te::TensorNode& node) const;

 private:
  std::map<std::string, double> reads_;
};

// Whether a rule may compute element-wise stages again in each of their readers: only if each stage then takes at most
// 500 cycles a vector. The code grows with the number of paths to the inputs, which can double with each stage.
bool MayComputeAgain(const te::Tensor& output);

}  // namespace hone::sketch
