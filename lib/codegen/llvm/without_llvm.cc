// This layer in a build without LLVM (-DHONE_LLVM=OFF): no code for CPUs; the small linker serves the rest.
#include "base/file.h"
#include "codegen/llvm/codegen.h"

namespace hone::codegen {
namespace {

Status Missing(const char* what) {
  return Status::Unsupported(std::string("this build of Hone has no LLVM, which ") + what +
                             ": targets of kind cuda and opencl work; for `cpu` configure with -DHONE_LLVM=ON");
}

}  // namespace

Result<ObjectCode> CompileToObject(const std::vector<ir::Function>&, const Target&, const LlvmOptions&) {
  return Missing("makes the code for CPUs");
}

Status LinkShared(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, LinkElf(inputs, options));
  return WriteFileAtomic(output_path, bytes);
}

std::string LlvmVersion() { return "no LLVM"; }

std::string LlvmHostCpu() { return ""; }

}  // namespace hone::codegen
