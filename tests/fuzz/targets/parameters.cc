// A graph's parameter file. It ends with its digest, which the target corrects.
#include "base/hash.h"
#include "fuzz_target.h"
#include "graph/graph.h"

namespace hone::graph {

HONE_FUZZ_TARGET(parameters) {
  (void)ParseParameterFile(input, "fuzz").ok();
  std::string whole(input);
  const uint64_t digest = Digest128(whole).lo;
  for (int i = 0; i < 8; ++i) whole += static_cast<char>(digest >> (8 * i));
  return ParseParameterFile(whole, "fuzz").status();
}

}  // namespace hone::graph
