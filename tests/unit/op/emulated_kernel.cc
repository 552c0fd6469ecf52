#include "unit/op/emulated_kernel.h"

#include "codegen/llvm/codegen.h"
#include "common/emulator.h"

namespace hone::testing {

// The program, made once.
static Result<std::string> Program() {
  static const TempDir dir = *TempDir::Create();
  std::string path = dir.Join("run_kernel");
  if (Exists(path)) return path;
  HONE_ASSIGN_OR_RETURN(const CommandResult made,
                        RunCommand({kCrossCompiler, "-std=gnu11", "-O1", "-Ilib", "-o", path,
                                    "tests/unit/op/run_kernel.c", "lib/runtime/host/pool.c", "-ldl", "-pthread"}));
  if (!made.status.ok()) return Status::Invalid(made.err);
  return path;
}

Result<EmulatedKernel> EmulatedKernel::Create(const compile::CompiledKernel& compiled, int threads) {
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  EmulatedKernel kernel(std::move(dir));
  const std::string library = kernel.dir_.Join("kernel.so");
  const codegen::LinkOptions options{.need_libc = true, .triple = "aarch64-unknown-linux-gnu"};
  HONE_RETURN_IF_ERROR(codegen::LinkShared({{compiled.kernel.symbol, compiled.object}}, options, library));
  HONE_ASSIGN_OR_RETURN(const std::string program, Program());
  kernel.argv_ = Emulated("max", {program, library, compiled.kernel.symbol, std::to_string(threads),
                                  std::to_string(compiled.kernel.workspace_bytes),
                                  std::to_string(compiled.kernel.scratch_bytes), kernel.dir_.Join("args")});
  return kernel;
}

Status EmulatedKernel::Run(const std::vector<Argument>& args) const {
  std::string text;
  std::vector<std::string> argv = argv_;
  for (const Argument& arg : args) {
    argv.push_back(std::to_string(arg.bytes));
    text.append(arg.data, static_cast<size_t>(arg.bytes));
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("args"), text));
  HONE_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(argv));
  if (!result.status.ok()) return Status::Corrupt("{}: {}", result.status.ToString(), result.err);
  HONE_ASSIGN_OR_RETURN(const std::string after, ReadFile(dir_.Join("args")));
  if (after.size() != text.size()) return Status::Corrupt("the emulated kernel's arguments are cut off");
  size_t at = 0;
  for (const Argument& arg : args) {
    after.copy(arg.data, static_cast<size_t>(arg.bytes), at);
    at += static_cast<size_t>(arg.bytes);
  }
  return Status();
}

}  // namespace hone::testing
