// Which CPUs multiply bytes fast.
#pragma once

#include "target/target.h"

namespace hone {

// Whether the CPU has an instruction for sums of four products of bytes: VNNI on x86-64, the dot product extension on
// AArch64. A CPU's name implies features that the target does not list; these do not count.
bool HasByteProducts(const Target& target);

}  // namespace hone
