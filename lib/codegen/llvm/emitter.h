// Emitter: writes one ir::Function as LLVM IR into a module. Private to codegen/llvm.
//
// Idea: no LLVM optimiser runs afterwards, so the emitter writes good code itself. It knows at which loop each value
// becomes known, and emits the value there.
// - A scalar integer expression (above all an address) is emitted once, at the outermost loop level (Level) that knows
//   its variables, and is found again by a structural key. So loops contain no invariant arithmetic.
// - An address is a base, plus terms level by level from the outside, plus a constant, which becomes a displacement. A
//   term that is a multiple of the loop's counter becomes a pointer that advances with the loop.
// - A buffer of Scope::kRegister is one alloca per slot, promoted to SSA right afterwards (passes.h). Accesses that
//   overlap are in one slot, from which shuffles take their lanes.
// - Straight-line code shares loads until their buffer is stored to.
//
// Invariants: buffers of a function never overlap, except for an argument that is marked in place; every access says so
// in its alias.scope and noalias metadata. A value that is emitted at a level dominates every use inside that level.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

class Emitter {
 public:
  // Both must outlive this object. For `separate_products`, see LlvmOptions.
  Emitter(llvm::Module* module, const Target& target, bool separate_products = false);

  // Adds the function (kernel_abi.h) to the module and describes it.
  Status EmitFunction(const ir::Function& function, EntryPoint* entry);

 private:
  // A loop (or the function itself, level 0) and the place in its header for values that depend only on its variables
  // and outer ones: after `last`, or at the start of `block`.
  struct Level {
    llvm::BasicBlock* block = nullptr;
    llvm::Instruction* last = nullptr;
    std::unordered_map<std::string, llvm::Value*> values;
    // A loop's counter, the block before the loop, and the addresses that advance by a constant in each iteration.
    llvm::PHINode* counter = nullptr;
    llvm::BasicBlock* before = nullptr;
    llvm::Value* begin = nullptr;
    std::vector<std::pair<llvm::PHINode*, int64_t>> pointers;
  };
  struct Binding {
    llvm::Value* value = nullptr;
    int level = 0;
    bool not_negative = false;
  };
  // Neighbouring elements of a register buffer that are one value. An access to some of them takes them out or puts
  // them in.
  struct Slot {
    int lanes = 0;
    llvm::AllocaInst* memory = nullptr;  // promoted to SSA right afterwards
  };
  struct BufferInfo {
    llvm::Value* base = nullptr;  // null: a register buffer in slots
    bool in_slots = false;
    std::map<int64_t, Slot> slots;  // by the first element
    llvm::MDNode* alias_scope = nullptr;
    llvm::MDNode* no_alias = nullptr;
  };
  // The state that changes when a parallel loop's body becomes a separate function.
  struct Context {
    llvm::Function* function = nullptr;
    llvm::Value* buffers = nullptr;   // ptr to the argument pointers; null in an outlined body
    llvm::Value* parallel = nullptr;  // HoneParallel*; null in an outlined body
    llvm::Value* workspace = nullptr;
    llvm::Value* scratch = nullptr;
    std::vector<Level> levels;
    std::unordered_map<const ir::VarNode*, Binding> vars;
    std::unordered_map<const ir::BufferNode*, BufferInfo> buffer_info;
    std::unordered_map<const ir::BufferNode*, std::unordered_map<std::string, llvm::Value*>> loads;  // by index
    std::unordered_map<llvm::Value*, std::map<int, llvm::Value*>> splats;
    std::unordered_map<llvm::Value*, llvm::Value*> words;  // dot4.cc: four bytes a lane as one number,
    std::unordered_map<llvm::Value*, std::pair<llvm::Value*, llvm::Value*>> halves;  // and these in 16 bits
  };
  struct Term {
    ir::Expr atom;
    int64_t coefficient = 0;
    int level = 0;
    std::string key;
  };

  // function.cc
  llvm::Function* NewFunction(const std::string& name, llvm::FunctionType* type, bool exported);
  void BeginFunction(llvm::Function* function);
  void DeclareBuffer(const ir::Buffer& buffer, llvm::Value* base);
  void MakeAliasScopes(const ir::Function& function);
  // Records the first failure; returns poison of that type so that emitting can continue.
  llvm::Value* Fail(const std::string& message, llvm::Type* type = nullptr);

  // expr.cc
  llvm::Type* TypeOf(DType type);
  llvm::Type* MemoryTypeOf(DType type);  // a bool takes a byte
  llvm::Value* EmitExpr(const ir::Expr& e);
  llvm::Value* EmitPlain(const ir::Expr& e);  // at the current place, not at its level
  llvm::Value* EmitBinary(const ir::Binary& e);
  llvm::Value* EmitArithmetic(ir::ExprKind kind, DType type, llvm::Value* a, llvm::Value* b, bool not_negative);
  llvm::Value* EmitCompare(ir::ExprKind kind, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitCast(DType from, DType to, llvm::Value* value);
  llvm::Value* EmitCall(const ir::Call& e);
  llvm::Value* EmitDot4(const ir::Call& e);  // dot4.cc
  llvm::Value* EmitWord(const ir::Load& e);  // null if it is not such a load
  llvm::Value* EmitIfThenElse(const ir::Call& e);
  llvm::Value* EmitMaskedChoice(const ir::Call& e, llvm::Value* condition);
  llvm::Value* EmitRamp(const ir::Ramp& e);
  llvm::Value* Splat(llvm::Value* value, int lanes);
  bool IsNotNegative(const ir::Expr& e);
  int LevelOf(const ir::Expr& e);          // the outermost level that knows all its variables; -1: must not be moved
  static bool IsMoved(const ir::Expr& e);  // whether EmitExpr puts it at its level (unless that is -1)
  // A key that is equal only for structurally equal expressions, where a variable stands for its bound value. Valid
  // while nodes and values live.
  std::string KeyOf(const ir::Expr& e);
  void AppendKey(const ir::Expr& e, std::string* key);
  llvm::Value* EmitAtLevel(const ir::Expr& e);
  // Runs `emit` with the builder at the hoisting place of `level`.
  template <typename F>
  llvm::Value* AtLevel(int level, F emit);

  // memory.cc
  void Decompose(const ir::Expr& index, int64_t scale, std::vector<Term>* terms, int64_t* constant);
  llvm::Value* Address(const ir::Buffer& buffer, const ir::Expr& index);
  llvm::Value* Pointer(Level* level, llvm::Value* base, int64_t step);
  llvm::Value* EmitLoad(const ir::Load& e);
  llvm::Value* EmitBlockLoad(const ir::Load& e);
  llvm::Value* EmitElement(const ir::Load& e, int lanes);  // null: do as usual
  llvm::Value* EmitMaskedLoad(const ir::Load& e, int lanes);
  void EmitStore(const ir::Store& s);
  // Lanes of a slot, from `first` on.
  struct Lanes {
    Slot* slot;
    int first, count;
  };
  Lanes LanesOf(BufferInfo* info, const ir::Buffer& buffer, const ir::Expr& index);
  llvm::Value* LoadLanes(const Lanes& at);
  void StoreLanes(const Lanes& at, llvm::Value* value);
  bool FitsSlots(const ir::Buffer& buffer, const ir::Stmt& body);
  // First element and lanes of a contiguous index that is constant under the current bindings.
  bool ConstantRange(const ir::Expr& index, int64_t* first, int* lanes);
  llvm::Instruction* Annotate(llvm::Instruction* access, const ir::Buffer& buffer);
  BufferInfo* Info(const ir::Buffer& buffer);
  void ForgetShared();  // at the end of straight-line code

  // stmt.cc
  void EmitStmt(const ir::Stmt& s);
  void EmitFor(const ir::For& s);
  void EmitOnce(const ir::For& s, llvm::Value* value);
  void EmitLoop(const ir::Var& var, llvm::Value* begin, llvm::Value* end, bool runs, bool not_negative,
                const ir::Stmt& body);
  void EmitIf(const ir::If& s);
  void EmitAllocate(const ir::Allocate& s);
  void EmitPrefetch(const ir::Call& e);
  void BindVar(const ir::VarNode* var, llvm::Value* value, int level, bool not_negative = false) {
    at_.vars[var] = {value, level, not_negative};
  }
  void PushLevel(llvm::Instruction* last);
  void PopLevel();
  int Current() const { return static_cast<int>(at_.levels.size()) - 1; }

  // parallel.cc
  void EmitParallel(const ir::For& s);

  llvm::LLVMContext& context_;
  llvm::Module* module_;
  const Target& target_;
  const bool separate_products_;
  llvm::IRBuilder<> b_;
  Context at_;
  Status status_;
  const ir::Function* source_ = nullptr;
  std::unordered_map<const ir::BufferNode*, std::pair<llvm::MDNode*, llvm::MDNode*>> alias_;
  int64_t workspace_used_ = 0, workspace_bytes_ = 0;
  int64_t scratch_used_ = 0, scratch_bytes_ = 0;
  bool in_parallel_ = false;
  llvm::Value* mask_ =
      nullptr;  // the lanes whose memory may be read, inside an if_then_else that each lane decides for itself
  int outlined_ = 0;
};

template <typename F>
llvm::Value* Emitter::AtLevel(int level, F emit) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  Level& at = at_.levels[level];
  if (at.last && at.last->getNextNode()) {
    b_.SetInsertPoint(at.last->getNextNode());
  } else if (at.last) {
    b_.SetInsertPoint(at.last->getParent());
  } else {
    b_.SetInsertPoint(at.block, at.block->begin());
  }
  llvm::Value* value = emit();
  auto point = b_.GetInsertPoint();
  if (point != b_.GetInsertBlock()->begin()) at_.levels[level].last = &*std::prev(point);
  return value;
}

}  // namespace hone::codegen
