#include "target/device_kind.h"

namespace hone {
namespace {

class OpenClTargetKind final : public DeviceKind {
 public:
  const char* name() const override { return "opencl"; }

 private:
  bool has_arch() const override { return false; }
};

}  // namespace

const TargetKind& OpenClKind() {
  static const OpenClTargetKind kind;
  return kind;
}

}  // namespace hone
