#include "runtime/host/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/file.h"

namespace hone::runtime {

void LoadedModule::Close::operator()(void* handle) const { dlclose(handle); }

Result<LoadedModule> LoadedModule::Open(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(fmt::format("{}: no such file", path));
  // Without a '/', dlopen would search the library path.
  void* handle = dlopen(AbsolutePath(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return Status::Invalid(fmt::format("{}: cannot be loaded: {}", path, dlerror()));
  return LoadedModule(handle, path);
}

Result<HoneKernel> LoadedModule::Find(const std::string& symbol) const {
  void* address = dlsym(handle_.get(), symbol.c_str());
  if (!address) return Status::NotFound(fmt::format("{}: has no function `{}`", path_, symbol));
  return reinterpret_cast<HoneKernel>(address);
}

Result<KernelRunner> KernelRunner::Create(const LoadedModule& module, const EntryPoint& entry, ThreadPool* pool,
                                          bool guard) {
  KernelRunner runner;
  HONE_ASSIGN_OR_RETURN(runner.kernel_, module.Find(entry.symbol));
  HONE_RETURN_IF_ERROR(pool->Reserve(entry.scratch_bytes));
  HONE_ASSIGN_OR_RETURN(runner.workspace_, AlignedBuffer::Create(entry.workspace_bytes, guard));
  runner.pool_ = pool;
  runner.parallel_ = pool->parallel();
  return runner;
}

}  // namespace hone::runtime
