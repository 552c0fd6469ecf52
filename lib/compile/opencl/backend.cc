#include "compile/backend.h"

#include <utility>

#include "base/text.h"
#include "codegen/opencl/codegen.h"

namespace hone::compile {
namespace {

Status RenameText(const std::string& from, const std::string& to, CompiledKernel* kernel) {
  kernel->object = ReplaceAll(kernel->object, from, to);
  RenameEntries(from, to, kernel);
  return Status();
}

class OpenClCodeBackend final : public GpuBackend {
 public:
  const TargetKind& kind() const override { return OpenClKind(); }

  Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                           const CompileOptions& options, CompiledKernel* kernel) const override {
    HONE_ASSIGN_OR_RETURN(Artifact artifact, codegen::CompileToOpenCl(functions, target));
    if (options.keep_text) kernel->source = artifact.bytes;
    kernel->format = std::move(artifact.format);
    kernel->object = std::move(artifact.bytes);
    return std::move(artifact.entries);
  }

  Renaming renaming() const override { return RenameText; }
};

}  // namespace

const Backend& OpenClBackend() {
  static const OpenClCodeBackend backend;
  return backend;
}

}  // namespace hone::compile
