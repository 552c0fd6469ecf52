#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/emitter.h"

namespace hone::codegen {

using llvm::Value;

Emitter::Emitter(llvm::Module* module, const Target& target, bool separate_products)
    : context_(module->getContext()),
      module_(module),
      target_(target),
      separate_products_(separate_products),
      b_(context_) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(!separate_products);
  b_.setFastMathFlags(flags);
}

Value* Emitter::Fail(const std::string& message, llvm::Type* type) {
  if (status_.ok()) status_ = Status::Unsupported(message).WithContext(source_->name);
  return llvm::PoisonValue::get(type ? type : b_.getInt64Ty());
}

llvm::Function* Emitter::NewFunction(const std::string& name, llvm::FunctionType* type, bool exported) {
  auto linkage = exported ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
  auto* function = llvm::Function::Create(type, linkage, name, module_);
  function->addFnAttr("target-cpu", target_.cpu);
  if (!target_.features.empty()) {
    std::string features;
    for (const std::string& f : target_.features) features += (features.empty() ? "+" : ",+") + f;
    function->addFnAttr("target-features", features);
  }
  function->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bytes * 8));
  function->addFnAttr("min-legal-vector-width", std::to_string(target_.vector_bytes * 8));
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (auto& arg : function->args()) {
    if (arg.getType()->isPointerTy()) arg.addAttr(llvm::Attribute::NoAlias);
  }
  return function;
}

void Emitter::BeginFunction(llvm::Function* function) {
  at_.function = function;
  auto* block = llvm::BasicBlock::Create(context_, "entry", function);
  b_.SetInsertPoint(block);
  at_.levels.clear();
  at_.levels.emplace_back().block = block;
}

// Each buffer of the function is its own scope, and every access states that it does not touch other buffers.
void Emitter::MakeAliasScopes(const ir::Function& function) {
  alias_.clear();
  std::vector<ir::Buffer> all = function.params;
  const auto add = [&](const ir::Allocate& op) {
    if (op.buffer->scope != ir::Scope::kRegister) all.push_back(op.buffer);
  };
  ir::Walk(function.body, ir::Overloaded{add, [](const ir::Store&) { return false; }, [](const auto&) {}});
  // Quadratic in the number of buffers; above this, the gain does not justify the metadata.
  constexpr size_t kMost = 64;
  if (all.size() < 2 || all.size() > kMost) return;
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(function.name);
  std::vector<llvm::Metadata*> scopes;
  for (const ir::Buffer& buffer : all) scopes.push_back(metadata.createAnonymousAliasScope(domain, buffer.name()));
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (size_t j = 0; j < all.size(); ++j) {
      if (all[j].get() != all[i].get()) others.push_back(scopes[j]);
    }
    alias_[all[i].get()] = {llvm::MDNode::get(context_, {scopes[i]}), llvm::MDNode::get(context_, others)};
  }
}

void Emitter::DeclareBuffer(const ir::Buffer& buffer, Value* base) {
  BufferInfo info;
  info.base = base;
  auto it = alias_.find(buffer.get());
  if (it != alias_.end()) std::tie(info.alias_scope, info.no_alias) = it->second;
  at_.buffer_info[buffer.get()] = std::move(info);
}

Status Emitter::EmitFunction(const ir::Function& function, EntryPoint* entry) {
  source_ = &function;
  status_ = Status();
  at_ = Context();
  workspace_used_ = workspace_bytes_ = scratch_used_ = scratch_bytes_ = 0;
  in_parallel_ = false;
  outlined_ = 0;
  if (module_->getNamedValue(function.name)) {
    return Status::Invalid(fmt::format("two functions are named `{}`", function.name));
  }
  MakeAliasScopes(function);

  llvm::Type* ptr = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, ptr, ptr}, false);
  llvm::Function* f = NewFunction(function.name, type, true);
  BeginFunction(f);
  at_.buffers = f->getArg(0);
  at_.parallel = f->getArg(1);
  at_.workspace = f->getArg(2);
  at_.scratch = f->getArg(3);
  for (size_t i = 0; i < function.params.size(); ++i) {
    Value* slot = b_.CreateConstInBoundsGEP1_64(ptr, at_.buffers, i);
    auto* base = b_.CreateLoad(ptr, slot, function.params[i].name());
    base->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    DeclareBuffer(function.params[i], base);
    at_.levels[0].last = base;
  }
  EmitStmt(function.body);
  b_.CreateRetVoid();
  HONE_RETURN_IF_ERROR(status_);

  entry->symbol = function.name;
  entry->args.clear();
  for (const ir::Buffer& param : function.params) {
    entry->args.push_back({param.name(), param->type, param->size, param->written});
  }
  entry->workspace_bytes = workspace_bytes_;
  entry->scratch_bytes = scratch_bytes_;
  return Status::Ok();
}

}  // namespace hone::codegen
