#include "compile/backend.h"

#include "base/file.h"
#include "base/text.h"
#include "op/gpu/packing.h"
#include "target/backend_table.h"

namespace hone::compile {
namespace {

BackendTable<Backend>& CodeTable() {
#define HONE_BACKEND(folder, Name) &Name##Backend(),
  static BackendTable<Backend> table("code generator", {
#include "target/backends.def"
                                                       });
#undef HONE_BACKEND
  return table;
}

}  // namespace

Result<std::optional<schedule::Schedule>> Backend::PrepareSchedule(const schedule::Schedule& kernel,
                                                                   const Target&) const {
  return schedule::PrepareSchedule(kernel);
}

Result<std::string> Backend::Write(const CompiledKernel& kernel, const std::string& path) const {
  HONE_RETURN_IF_ERROR(WriteFileAtomic(path, kernel.object));
  return kernel.format;
}

std::string RenamedSymbol(std::string_view symbol, const std::string& from, const std::string& to) {
  return StartsWith(symbol, from) ? to + std::string(symbol.substr(from.size())) : std::string(symbol);
}

void RenameEntries(const std::string& from, const std::string& to, CompiledKernel* kernel) {
  for (EntryPoint* entry : {&kernel->kernel, &kernel->prepare}) {
    entry->symbol = RenamedSymbol(entry->symbol, from, to);
    for (Launch& launch : entry->launches) launch.symbol = RenamedSymbol(launch.symbol, from, to);
  }
}

Result<std::optional<schedule::Schedule>> GpuBackend::PrepareSchedule(const schedule::Schedule& kernel,
                                                                      const Target& target) const {
  const std::vector<te::Tensor> constants = schedule::PreparedConstants(kernel);
  if (constants.empty()) return std::optional<schedule::Schedule>();
  HONE_ASSIGN_OR_RETURN(schedule::Schedule prepare, schedule::Schedule::Create(constants));
  HONE_RETURN_IF_ERROR(prepare.ApplyAll(op::PackingSteps(constants, target.limits)));
  return std::optional<schedule::Schedule>(std::move(prepare));
}

const std::vector<const Backend*>& Backends() { return CodeTable().parts(); }

void AddBackend(const Backend* backend) { CodeTable().Add(backend); }

Result<const Backend*> FindBackend(const Target& target) { return CodeTable().Find(target); }

}  // namespace hone::compile
