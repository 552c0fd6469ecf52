// This layer in a build without LLVM (-DHONE_LLVM=OFF): no code for CPUs; the small linker serves the rest.
#include "base/file.h"
#include "codegen/elf/linker.h"
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

Result<std::string> DataObject(const std::string&, const std::string&, const Target&) {
  return Missing("writes objects of data");
}

Status LinkShared(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path) {
  std::vector<ElfInput> objects;
  for (const LinkInput& input : inputs) objects.push_back({input.name, input.bytes});
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        LinkElf(objects, {options.soname, options.exports, options.need_libc, options.need_libdl}));
  return WriteFileAtomic(output_path, bytes);
}

std::string LlvmVersion() { return "no LLVM"; }

std::string LlvmHostCpu() { return ""; }

}  // namespace hone::codegen
