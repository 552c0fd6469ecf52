#include "library/backend.h"

#include "codegen/cuda/codegen.h"

HONE_EMBED(cuda, HONE_RUNTIME)

namespace hone::library {
namespace {

class CudaLibrary final : public DeviceBackend {
 public:
  const TargetKind& kind() const override { return CudaKind(); }
  int64_t buffer_alignment() const override { return 256; }  // of CUDA's own allocations
  int64_t slice_alignment() const override { return 64; }
  Result<std::string_view> Runtime(const Target&) const override { return Embedded_cuda(); }

  void AddCompiler(const BuildInput& input, Json* manifest) const override {
    const Result<std::string> nvrtc = codegen::NvrtcVersion(input.target.cpu, {.newest = input.newest_cuda});
    (*manifest)["nvrtc"] = nvrtc.ok() ? *nvrtc : "unknown";
  }
};

}  // namespace

const Backend& CudaLibraries() {
  static const CudaLibrary backend;
  return backend;
}

}  // namespace hone::library
