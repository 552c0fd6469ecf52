#include <fmt/format.h>

#include "base/check.h"
#include "codegen/llvm/emitter.h"

namespace hone::codegen {

using ir::Expr;
using ir::Stmt;
using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Emitter::PushLevel(llvm::Instruction* last) {
  Level& level = at_.levels.emplace_back();
  level.block = b_.GetInsertBlock();
  level.last = last;
}

void Emitter::PopLevel() { at_.levels.pop_back(); }

void Emitter::EmitStmt(const Stmt& s) {
  if (!s.defined() || !status_.ok()) return;
  if (auto* store = s.as<ir::Store>()) {
    EmitStore(*store);
  } else if (auto* loop = s.as<ir::For>()) {
    EmitFor(*loop);
  } else if (auto* block = s.as<ir::Block>()) {
    for (const Stmt& child : block->stmts) EmitStmt(child);
  } else if (auto* branch = s.as<ir::If>()) {
    EmitIf(*branch);
  } else if (auto* allocate = s.as<ir::Allocate>()) {
    EmitAllocate(*allocate);
  } else if (auto* evaluate = s.as<ir::Evaluate>()) {
    auto* call = evaluate->value.as<ir::Call>();
    if (call && call->fn == ir::Intrinsic::kPrefetch) {
      EmitPrefetch(*call);
    } else {
      EmitExpr(evaluate->value);
    }
  } else if (auto* pragma = s.as<ir::Pragma>()) {
    EmitStmt(pragma->body);
  } else {
    Fail("a barrier has no meaning on a CPU");
  }
}

void Emitter::EmitFor(const ir::For& s) {
  const int64_t* known = ir::AsIntImm(s.extent);
  if (s.for_kind == ir::ForKind::kParallel && !in_parallel_ && !(known && *known <= 1)) return EmitParallel(s);
  Value* begin = EmitExpr(s.min);
  Value* extent = EmitExpr(s.extent);
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
  if (constant && constant->getSExtValue() <= 0) return;
  if (constant && constant->isOne()) return EmitOnce(s, begin);
  int level = std::max(LevelOf(s.min), LevelOf(s.extent));
  bool movable = LevelOf(s.min) >= 0 && LevelOf(s.extent) >= 0;
  const auto add = [&] { return b_.CreateAdd(begin, extent); };
  Value* end = movable ? AtLevel(level, add) : add();
  EmitLoop(s.var, begin, end, constant != nullptr, IsNotNegative(s.min), s.body);
}

// The body of a loop of one iteration, whose variable is `value`.
void Emitter::EmitOnce(const ir::For& s, Value* value) {
  int level = LevelOf(s.min);
  bool everywhere = !llvm::isa<llvm::Instruction>(value);
  // The earliest place for users of a value that stays in place is right after it.
  bool stays = !everywhere && (level < 0 || !(s.min.kind() == ir::ExprKind::kVar || IsMoved(s.min)));
  if (stays) PushLevel(b_.GetInsertBlock()->empty() ? nullptr : &b_.GetInsertBlock()->back());
  BindVar(s.var.node(), value, stays ? Current() : std::max(level, 0), IsNotNegative(s.min));
  EmitStmt(s.body);
  if (stays) PopLevel();
  at_.vars.erase(s.var.node());
}

void Emitter::EmitLoop(const ir::Var& var, Value* begin, Value* end, bool runs, bool not_negative, const Stmt& body) {
  auto* header = BasicBlock::Create(context_, var.name(), at_.function);
  auto* exit = BasicBlock::Create(context_, var.name() + ".end", at_.function);
  BasicBlock* before = b_.GetInsertBlock();
  if (runs) {
    b_.CreateBr(header);
  } else {
    b_.CreateCondBr(b_.CreateICmpSLT(begin, end), header, exit);
  }
  ForgetShared();
  b_.SetInsertPoint(header);
  llvm::PHINode* i = b_.CreatePHI(begin->getType(), 2, var.name());
  i->addIncoming(begin, before);
  PushLevel(i);
  at_.levels.back().counter = i;
  at_.levels.back().before = before;
  at_.levels.back().begin = begin;
  BindVar(var.node(), i, Current(), not_negative);
  EmitStmt(body);
  for (auto& [pointer, step] : at_.levels.back().pointers) {
    pointer->addIncoming(b_.CreateGEP(b_.getInt8Ty(), pointer, b_.getInt64(step)), b_.GetInsertBlock());
  }
  PopLevel();
  at_.vars.erase(var.node());
  ForgetShared();
  Value* next = b_.CreateNSWAdd(i, llvm::ConstantInt::get(i->getType(), 1));
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), header, exit);
  exit->moveAfter(b_.GetInsertBlock());
  b_.SetInsertPoint(exit);
}

void Emitter::EmitIf(const ir::If& s) {
  Value* condition = EmitExpr(s.condition);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return EmitStmt(known->isZero() ? s.else_case : s.then_case);
  }
  auto* then_block = BasicBlock::Create(context_, "then", at_.function);
  BasicBlock* else_block = s.else_case.defined() ? BasicBlock::Create(context_, "else", at_.function) : nullptr;
  auto* join = BasicBlock::Create(context_, "join", at_.function);
  b_.CreateCondBr(condition, then_block, else_block ? else_block : join);
  ForgetShared();
  b_.SetInsertPoint(then_block);
  EmitStmt(s.then_case);
  b_.CreateBr(join);
  ForgetShared();
  if (else_block) {
    else_block->moveAfter(b_.GetInsertBlock());
    b_.SetInsertPoint(else_block);
    EmitStmt(s.else_case);
    b_.CreateBr(join);
    ForgetShared();
  }
  join->moveAfter(b_.GetInsertBlock());
  b_.SetInsertPoint(join);
}

void Emitter::EmitAllocate(const ir::Allocate& s) {
  const ir::Buffer& buffer = s.buffer;
  ir::Scope scope = buffer->scope;
  int64_t bytes = RoundUp(buffer->size * buffer->type.element_bytes());
  if (scope == ir::Scope::kRegister) {
    DeclareBuffer(buffer, nullptr);
    if (FitsSlots(buffer, s.body)) {
      at_.buffer_info[buffer.get()].in_slots = true;
    } else {
      // On the stack in the entry block, so that a loop does not grow the stack.
      BasicBlock& entry = at_.function->getEntryBlock();
      llvm::IRBuilder<> at_entry(&entry, entry.begin());
      auto* type = llvm::ArrayType::get(MemoryTypeOf(buffer->type), buffer->size);
      auto* memory = at_entry.CreateAlloca(type, nullptr, buffer.name());
      memory->setAlignment(llvm::Align(kAlignment));
      at_.buffer_info[buffer.get()].base = memory;
    }
    return EmitStmt(s.body);
  }
  HONE_CHECK(scope == ir::Scope::kWorkspace || scope == ir::Scope::kScratch);
  // Inside a parallel loop, a thread's storage is scratch, whatever its scope.
  bool scratch = scope == ir::Scope::kScratch || in_parallel_;
  int64_t* used = scratch ? &scratch_used_ : &workspace_used_;
  int64_t* most = scratch ? &scratch_bytes_ : &workspace_bytes_;
  int64_t offset = *used;
  *used += bytes;
  *most = std::max(*most, *used);
  Value* block = scratch ? at_.scratch : at_.workspace;
  Value* base = AtLevel(0, [&] { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), block, offset, buffer.name()); });
  DeclareBuffer(buffer, base);
  EmitStmt(s.body);
  *used = offset;
}

void Emitter::EmitPrefetch(const ir::Call& e) {
  auto* load = e.args.at(0).as<ir::Load>();
  if (!load) {
    Fail("prefetch takes a load");
    return;
  }
  BufferInfo* info = Info(load->buffer);
  if (!info || info->in_slots) return;
  const Expr& index = load->index;
  const auto* ramp = index.as<ir::Ramp>();
  Value* address = Address(load->buffer, ramp ? ramp->base : index);
  const int64_t* locality = e.args.size() > 1 ? ir::AsIntImm(e.args[1]) : nullptr;
  const uint32_t write = load->buffer->written;  // a line that will be written is requested for writing
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {b_.getPtrTy()},
      {address, b_.getInt32(write), b_.getInt32(locality ? static_cast<uint32_t>(*locality) : 3), b_.getInt32(1)});
}

}  // namespace hone::codegen
