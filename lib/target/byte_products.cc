#include "target/byte_products.h"

#include <algorithm>
#include <string_view>

namespace hone {

bool HasByteProducts(const Target& target) {
  constexpr std::string_view kFeatures[] = {"avx512vnni", "avxvnni", "dotprod"};
  return std::ranges::find_first_of(target.features, kFeatures) != target.features.end();
}

}  // namespace hone
