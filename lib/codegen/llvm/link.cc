#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <cerrno>
#include <mutex>

#include "base/fd.h"
#include "base/file.h"
#include "base/os_error.h"
#include "codegen/llvm/codegen.h"
#include "codegen/llvm/libc_stub.h"

LLD_HAS_DRIVER(elf)

namespace hone::codegen {
namespace {

// lld reads files; an anonymous file in memory has a path as long as it is open.
struct InMemory {
  Fd fd;

  Status Write(const std::string& name, const std::string& bytes) {
    fd = MemoryFile();
    if (fd.open() && WriteAll(fd, bytes)) return Status();
    return ErrnoStatus(errno, name + ": cannot hand to the linker");
  }
  std::string Path() const { return fmt::format("/proc/self/fd/{}", fd.get()); }
};

Status Link(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path) {
  // lld keeps its state in globals.
  static std::mutex mutex;
  static bool broken = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (broken) return Status::Crashed("the linker crashed earlier in this process and cannot be used again");

  const std::string script = ExportScript(options);
  std::vector<InMemory> files(inputs.size() + 1);
  std::vector<std::pair<std::string, std::string>> names;
  std::vector<std::string> paths;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HONE_RETURN_IF_ERROR(files[i].Write(inputs[i].name, inputs[i].bytes));
    paths.push_back(files[i].Path());
    names.emplace_back(paths.back(), inputs[i].name);
  }
  if (!script.empty()) {
    HONE_RETURN_IF_ERROR(files.back().Write("the export list", script));
    names.emplace_back(files.back().Path(), "the export list");
  }
  HONE_ASSIGN_OR_RETURN(std::vector<std::string> args,
                        LinkArguments(paths, script.empty() ? "" : files.back().Path(), options, output_path));
  // lld 19 keeps a pointer to this symbol from link to link, renews it only where the symbol occurs and writes
  // through it: after an object that mentions it, the next link without one would write into freed memory.
  args.insert(args.begin(),
              {"ld.lld", "--threads=1", "--color-diagnostics=never", "--undefined=_GLOBAL_OFFSET_TABLE_"});
  std::vector<const char*> argv;
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::string out_text;
  std::string error_text;
  llvm::raw_string_ostream out(out_text);
  llvm::raw_string_ostream errors(error_text);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(argv, out, errors, drivers);
  broken = !result.canRunAgain;
  if (result.retCode == 0) return Status::Ok();
  const std::string message = fmt::format("linking {}: {}", output_path, LinkerMessage(errors.str(), names));
  if (broken) return Status::Crashed(message);
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  // The inputs are files that we wrote, so only what they define and refer to can be wrong. All else is the machine's
  // fault: no space, descriptors or memory.
  const bool wrong = says("undefined symbol") || says("duplicate symbol") || says("relocation");
  return wrong ? Status::Invalid(message) : Status::Io(message);
}

}  // namespace

Status LinkShared(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path) {
  if (options.triple.empty()) return Link(inputs, options, output_path);
  HONE_ASSIGN_OR_RETURN(const TempDir stubs, TempDir::Create());
  LinkOptions with_libc = options;
  HONE_ASSIGN_OR_RETURN(with_libc.libc, WriteLibcStubs(options.triple, stubs.path()));
  return Link(inputs, with_libc, output_path);
}

}  // namespace hone::codegen
