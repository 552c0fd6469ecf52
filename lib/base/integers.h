// Arithmetic of sizes that are not negative.
#pragma once

#include <cstdint>

namespace hone {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace hone
