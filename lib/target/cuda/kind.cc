#include "target/device_kind.h"

namespace hone {
namespace {

class CudaTargetKind final : public DeviceKind {
 public:
  const char* name() const override { return "cuda"; }

 private:
  bool has_arch() const override { return true; }
};

}  // namespace

const TargetKind& CudaKind() {
  static const CudaTargetKind kind;
  return kind;
}

}  // namespace hone
