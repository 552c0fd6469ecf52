#include "target/cuda_arch.h"

#include <algorithm>
#include <cstdlib>

namespace hone {

int CudaArchNumber(const std::string& arch) { return std::atoi(arch.c_str() + std::min<size_t>(arch.size(), 3)); }

int64_t CudaSharedBytes(const std::string& arch) {
  constexpr int64_t kKib = 1024;
  switch (CudaArchNumber(arch)) {
    case 50:
    case 52:
    case 60:
    case 61:
      return 48 * kKib;
    case 70:
      return 96 * kKib;
    case 75:
      return 64 * kKib;
    case 80:
      return 163 * kKib;
    case 86:
    case 89:
      return 99 * kKib;
    case 90:
      return 227 * kKib;
    default:
      return 0;
  }
}

}  // namespace hone
