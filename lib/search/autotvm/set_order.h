// The order in which CPython (3.7 to 3.12) iterates the set that AutoTVM's policy `verbose` takes its factors from:
// set(divisors ascending) | set(powers of two ascending). Its indices depend on that order, so it is part of the
// format.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::search {

// The divisors of n and the powers of two up to n, each once. REQUIRES: n >= 1
std::vector<int64_t> VerboseFactors(int64_t n);

}  // namespace hone::search
