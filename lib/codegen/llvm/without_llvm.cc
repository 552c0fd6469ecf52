// This layer in a build without LLVM (-DHONE_LLVM=OFF): no code for CPUs; the system's `ld` links libraries for GPUs.
#include <fmt/format.h>

#include "base/file.h"
#include "base/subprocess.h"
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
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create());
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::string> paths;
  for (const LinkInput& input : inputs) {
    paths.push_back(dir.Join(fmt::format("{}.o", paths.size())));
    names.emplace_back(paths.back(), input.name);
    HONE_RETURN_IF_ERROR(WriteFileAtomic(paths.back(), input.bytes));
  }
  const std::string script = ExportScript(options), exports = script.empty() ? "" : dir.Join("exports");
  if (!exports.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(exports, script));
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> args, LinkArguments(paths, exports, options, output_path));
  // The archive for machines with a GPU has an `ld` beside its tools.
  HONE_ASSIGN_OR_RETURN(const std::string self, CurrentExecutable());
  const std::string beside = JoinPath(DirName(self), "ld");
  args.insert(args.begin(), Exists(beside) ? beside : "ld");
  const Result<CommandResult> run = RunCommand(args);
  if (!run.ok() && run.status().kind() == StatusKind::kNotFound) {
    return Status::NotFound(
        "`ld`, which links network libraries in a build without LLVM, is not there: install binutils");
  }
  HONE_RETURN_IF_ERROR(run.status());
  if (run->status.ok()) return Status::Ok();
  const std::string message = fmt::format("linking {}: {}", output_path, LinkerMessage(run->err, names));
  const bool refused = run->status.signal != 0 || message.find("cannot open output file") != std::string::npos ||
                       message.find("final link failed") != std::string::npos;
  return refused ? Status::Io(message) : Status::Invalid(message);
}

std::string LlvmVersion() { return "no LLVM"; }

std::string LlvmHostCpu() { return ""; }

}  // namespace hone::codegen
