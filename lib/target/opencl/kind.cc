#include "target/device_kind.h"

namespace hone {

const TargetKind& OpenClKind() {
  static const DeviceKind kind("opencl", /*has_arch=*/false);
  return kind;
}

}  // namespace hone
