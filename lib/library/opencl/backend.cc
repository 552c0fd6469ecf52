#include "library/backend.h"


HONE_EMBED(opencl, HONE_RUNTIME)

namespace hone::library {
namespace {

class OpenClLibrary final : public DeviceBackend {
 public:
  const TargetKind& kind() const override { return OpenClKind(); }
  // The strictest alignment of sub-buffers among current devices (CL_DEVICE_MEM_BASE_ADDR_ALIGN): 128 bytes in PoCL, up
  // to 512 elsewhere.
  int64_t buffer_alignment() const override { return 512; }
  Result<std::string_view> Runtime(const Target&) const override { return Embedded_opencl(); }
};

}  // namespace

const Backend& OpenClLibraries() {
  static const OpenClLibrary backend;
  return backend;
}

}  // namespace hone::library
