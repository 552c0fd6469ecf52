#include "target/cuda_arch.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hone {

int CudaArchNumber(const std::string& arch) { return std::atoi(arch.c_str() + std::min<size_t>(arch.size(), 3)); }

int64_t CudaSharedBytes(const std::string& arch) {
  constexpr std::pair<int, int64_t> kKibibytes[] = {{50, 48}, {52, 48},  {60, 48}, {61, 48}, {70, 96},
                                                    {75, 64}, {80, 163}, {86, 99}, {89, 99}, {90, 227}};
  for (const auto& [number, kibibytes] : kKibibytes) {
    if (CudaArchNumber(arch) == number) return 1024 * kibibytes;
  }
  return 0;
}

}  // namespace hone
