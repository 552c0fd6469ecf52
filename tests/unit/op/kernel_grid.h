// The grid of odd layers: channels 1, 3, 17, 33 by extents 1, 2, 5, 7, 13, of every kind of operator. Other odd
// properties take turns: another width, batch 3, stride 2, the epilogue. Padding always differs between the two sides.
#pragma once

#include <string>
#include <vector>

namespace hone::op {

// Texts of legal workloads (operator.h), each once.
std::vector<std::string> OddLayers();

}  // namespace hone::op
