#include "target/device_kind.h"

namespace hone {

const TargetKind& CudaKind() {
  static const DeviceKind kind("cuda", /*has_arch=*/true);
  return kind;
}

}  // namespace hone
