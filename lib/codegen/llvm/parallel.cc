#include <fmt/format.h>

#include "codegen/llvm/emitter.h"

namespace hone::codegen {

using llvm::Value;

// The body of a parallel loop becomes
//   void name.parallelN(closure, begin, end, scratch)
// which runs iterations [begin, end). The closure is a struct on the caller's stack: the base addresses of the buffers
// that live outside, then the scalars that the body reads.
void Emitter::EmitParallel(const ir::For& s) {
  Value* begin = EmitExpr(s.min);
  Value* extent = EmitExpr(s.extent);
  bool not_negative = IsNotNegative(s.min);

  std::vector<const ir::VarNode*> vars;
  std::vector<ir::Buffer> buffers;
  auto add_buffer = [&](const ir::Buffer& buffer) {
    auto it = at_.buffer_info.find(buffer.get());
    if (it == at_.buffer_info.end()) return;
    for (const ir::Buffer& known : buffers) {
      if (known.get() == buffer.get()) return;
    }
    buffers.push_back(buffer);
  };
  const auto add_var = [&](const ir::VarNode& var) {
    if (at_.vars.contains(&var) && std::find(vars.begin(), vars.end(), &var) == vars.end()) vars.push_back(&var);
  };
  ir::Walk(s.body, ir::Overloaded{add_var, [&](const ir::Store& op) { add_buffer(op.buffer); },
                                  [&](const ir::Load& op) { add_buffer(op.buffer); }, [](const auto&) {}});

  std::vector<Value*> captured{begin};
  for (const ir::Buffer& buffer : buffers) captured.push_back(at_.buffer_info[buffer.get()].base);
  for (const ir::VarNode* var : vars) captured.push_back(at_.vars[var].value);
  std::vector<llvm::Type*> fields;
  for (Value* value : captured) fields.push_back(value->getType());
  auto* closure_type = llvm::StructType::get(context_, fields);
  Value* closure = nullptr;
  {
    llvm::BasicBlock& entry = at_.function->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    closure = at_entry.CreateAlloca(closure_type, nullptr, "closure");
  }
  for (size_t i = 0; i < captured.size(); ++i) {
    b_.CreateStore(captured[i], b_.CreateStructGEP(closure_type, closure, i));
  }

  llvm::Type* ptr = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  auto* body_type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, i64, i64, ptr}, false);
  std::string name = fmt::format("{}.parallel{}", source_->name, outlined_++);
  llvm::Function* body = NewFunction(name, body_type, false);

  auto* launch_type = llvm::FunctionType::get(b_.getVoidTy(), {ptr, ptr, ptr, i64}, false);
  Value* launch = b_.CreateLoad(ptr, at_.parallel);
  Value* pool = b_.CreateLoad(ptr, b_.CreateConstInBoundsGEP1_64(ptr, at_.parallel, 1));
  b_.CreateCall(launch_type, launch, {pool, body, closure, extent});
  ForgetShared();

  Context outer = std::move(at_);
  auto point = b_.saveIP();
  at_ = Context();
  in_parallel_ = true;
  BeginFunction(body);
  at_.scratch = body->getArg(3);
  std::vector<Value*> inside;
  for (size_t i = 0; i < captured.size(); ++i) {
    if (llvm::isa<llvm::Constant>(captured[i])) {
      inside.push_back(captured[i]);
      continue;
    }
    inside.push_back(b_.CreateLoad(fields[i], b_.CreateStructGEP(closure_type, body->getArg(0), i)));
  }
  size_t next = 1;
  for (const ir::Buffer& buffer : buffers) DeclareBuffer(buffer, inside[next++]);
  for (const ir::VarNode* var : vars) BindVar(var, inside[next++], 0, outer.vars[var].not_negative);
  Value* first = b_.CreateAdd(body->getArg(1), inside[0]);
  Value* end = b_.CreateAdd(body->getArg(2), inside[0]);
  llvm::BasicBlock& entry = *b_.GetInsertBlock();
  at_.levels[0].last = entry.empty() ? nullptr : &entry.back();
  EmitLoop(s.var, first, end, false, not_negative, s.body);
  b_.CreateRetVoid();
  in_parallel_ = false;
  at_ = std::move(outer);
  b_.restoreIP(point);
}

}  // namespace hone::codegen
