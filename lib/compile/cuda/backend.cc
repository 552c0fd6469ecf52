#include "compile/backend.h"

#include <utility>

#include "codegen/cuda/codegen.h"

namespace hone::compile {
namespace {

class NvrtcBackend final : public GpuBackend {
 public:
  const TargetKind& kind() const override { return CudaKind(); }

  Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                           const CompileOptions& options, CompiledKernel* kernel) const override {
    HONE_ASSIGN_OR_RETURN(codegen::CudaCode code,
                          codegen::CompileToCuda(functions, target, {.newest = options.newest_cuda}));
    kernel->format = std::move(code.artifact.format);
    kernel->object = std::move(code.artifact.bytes);
    kernel->resources = std::move(code.resources);
    if (options.keep_text) kernel->source = std::move(code.source);
    return std::move(code.artifact.entries);
  }

  Result<std::string> CompilerVersion(const std::string& arch, int newest) const override {
    return codegen::NvrtcVersion(arch, {.newest = newest});
  }

  // NVRTC takes 0.1 to 0.2 s per kernel, as long as measuring several: with smaller groups the GPU would wait for it
  // more often.
  int group() const override { return 16; }
};

}  // namespace

const Backend& CudaBackend() {
  static const NvrtcBackend backend;
  return backend;
}

}  // namespace hone::compile
