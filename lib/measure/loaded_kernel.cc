#include "measure/loaded_kernel.h"

#include <algorithm>
#include <utility>

namespace hone::measure {
namespace {

std::vector<void*> Addresses(const std::vector<ArgSource>& args, const std::vector<char*>& operands,
                             const std::vector<char*>& prepared) {
  std::vector<void*> addresses;
  for (const ArgSource& arg : args) {
    const size_t index = static_cast<size_t>(arg.index);
    addresses.push_back(arg.kind == ArgSource::Kind::kPrepared ? prepared[index] : operands[index]);
  }
  return addresses;
}

}  // namespace

Result<LoadedKernel> LoadedKernel::Load(const BuiltKernel& kernel, const std::vector<Operand>& operands,
                                        runtime::ThreadPool* pool) {
  HONE_RETURN_IF_ERROR(CheckArgs(kernel, operands));
  HONE_ASSIGN_OR_RETURN(runtime::LoadedModule module, runtime::LoadedModule::Open(kernel.path));
  LoadedKernel loaded(kernel, std::move(module));
  HONE_ASSIGN_OR_RETURN(loaded.kernel_,
                        runtime::KernelRunner::Create(loaded.module_, kernel.kernel, pool, /*guard=*/true));
  if (kernel.has_prepare) {
    HONE_ASSIGN_OR_RETURN(loaded.prepare_,
                          runtime::KernelRunner::Create(loaded.module_, kernel.prepare, pool, /*guard=*/true));
  }
  return loaded;
}

Status LoadedKernel::Prepare(const std::vector<char*>& operands) {
  std::vector<char*> prepared;
  for (const PreparedConstant& p : built_.prepared) {
    HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(p.Bytes(), /*guard=*/true));
    prepared.push_back(buffer.data());
    prepared_.push_back(std::move(buffer));
  }
  if (prepare_) {
    prepare_->TakeScratch();
    prepare_->Run(Addresses(built_.prepare_args, operands, prepared));
  }
  return Status();
}

void LoadedKernel::Bind(const std::vector<char*>& operands, const std::vector<char*>& prepared) {
  arguments_ = Addresses(built_.kernel_args, operands, prepared);
  kernel_->TakeScratch();
}

bool LoadedKernel::Intact() const {
  return std::ranges::all_of(prepared_, &runtime::AlignedBuffer::Intact) && kernel_->Intact() &&
         (!prepare_ || prepare_->Intact());
}

}  // namespace hone::measure
