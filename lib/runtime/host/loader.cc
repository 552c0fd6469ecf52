#include "runtime/host/loader.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/file.h"

namespace hone::runtime {

void LoadedModule::Close::operator()(void* handle) const { dlclose(handle); }

Result<LoadedModule> LoadedModule::Open(const std::string& path) {
  if (!Exists(path)) return Status::NotFound("{}: no such file", path);
  // Without a '/', dlopen would search the library path.
  void* handle = dlopen(AbsolutePath(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const std::string reason = dlerror();
    const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
    // glibc's messages for lack of memory, addresses or descriptors; dlopen returns no error number.
    const bool refused = says("annot allocate") || says("failed to map") || says("cannot open");
    return Status(refused ? StatusKind::kIo : StatusKind::kInvalid,
                  fmt::format("{}: cannot be loaded: {}", path, reason));
  }
  return LoadedModule(handle, path);
}

Result<HoneKernel> LoadedModule::Find(const std::string& symbol) const {
  void* address = dlsym(handle_.get(), symbol.c_str());
  if (!address) return Status::NotFound("{}: has no function `{}`", path_, symbol);
  return reinterpret_cast<HoneKernel>(address);
}

Result<LentScratch> LentScratch::Create(ThreadPool* pool, int64_t bytes) {
  LentScratch scratch;
  scratch.pool_ = pool;
  for (int i = 0; i < pool->threads(); ++i) {
    HONE_ASSIGN_OR_RETURN(scratch.blocks_.emplace_back(), AlignedBuffer::Create(bytes, /*guard=*/true));
  }
  return scratch;
}

LentScratch::~LentScratch() {
  if (!blocks_.empty() && pool_->scratch() == blocks_[0].data()) pool_->LendScratch({});
}

void LentScratch::Lend() {
  if (pool_ == nullptr) return;
  std::vector<char*> blocks;
  for (AlignedBuffer& block : blocks_) blocks.push_back(block.data());
  pool_->LendScratch(blocks);
}

bool LentScratch::Intact() const {
  return std::all_of(blocks_.begin(), blocks_.end(), [](const AlignedBuffer& b) { return b.Intact(); });
}

// Each block is filled by its own thread, so that its pages are near it; not with zeros, which might hide a read before
// a write.
static void FillScratch(void* closure, int64_t, int64_t, char* scratch) {
  AlignedBuffer::Mark(scratch, scratch + *static_cast<const int64_t*>(closure));
}

Result<KernelRunner> KernelRunner::Create(const LoadedModule& module, const EntryPoint& entry, ThreadPool* pool,
                                          bool guard) {
  KernelRunner runner;
  HONE_ASSIGN_OR_RETURN(runner.kernel_, module.Find(entry.symbol));
  HONE_ASSIGN_OR_RETURN(runner.workspace_, AlignedBuffer::Create(entry.workspace_bytes, guard));
  runner.pool_ = pool;
  runner.parallel_ = pool->parallel();
  if (!guard) {
    HONE_RETURN_IF_ERROR(pool->Reserve(entry.scratch_bytes));
    return runner;
  }
  HONE_ASSIGN_OR_RETURN(runner.scratch_, LentScratch::Create(pool, entry.scratch_bytes));
  runner.TakeScratch();
  int64_t bytes = entry.scratch_bytes;
  hone_pool_launch(pool->get(), FillScratch, &bytes, pool->threads());
  return runner;
}

void KernelRunner::TakeScratch() { scratch_.Lend(); }

bool KernelRunner::Intact() const { return workspace_.Intact() && scratch_.Intact(); }

}  // namespace hone::runtime
