#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "codegen/llvm/emitter.h"
#include "target/arm_cores.h"

namespace hone::codegen {

using ir::Expr;
using ir::ExprKind;
using llvm::Value;

Emitter::BufferInfo* Emitter::Info(const ir::Buffer& buffer) {
  auto it = at_.buffer_info.find(buffer.get());
  if (it != at_.buffer_info.end()) return &it->second;
  Fail(fmt::format("buffer `{}` is used outside its allocation", buffer.name()));
  return nullptr;
}

llvm::Instruction* Emitter::Annotate(llvm::Instruction* access, const ir::Buffer& buffer) {
  const BufferInfo& info = at_.buffer_info[buffer.get()];
  if (info.alias_scope) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, info.alias_scope);
    access->setMetadata(llvm::LLVMContext::MD_noalias, info.no_alias);
  }
  return access;
}

// index * scale = sum of coefficient * atom + constant, all in i64; equal atoms are one term.
void Emitter::Decompose(const Expr& index, int64_t scale, std::vector<Term>* terms, int64_t* constant) {
  if (const int64_t* value = ir::AsIntImm(index)) {
    *constant += scale * *value;
    return;
  }
  bool wide = index.type() == DType::Int(64);
  if (auto* var = index.kind() == ExprKind::kVar && wide ? index.get() : nullptr) {
    auto it = at_.vars.find(static_cast<const ir::VarNode*>(var));
    if (it != at_.vars.end()) {
      if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(it->second.value)) {
        *constant += scale * known->getSExtValue();
        return;
      }
    }
  }
  if (auto* binary = wide ? index.as<ir::Binary>() : nullptr) {
    const int64_t* a = ir::AsIntImm(binary->a);
    const int64_t* b = ir::AsIntImm(binary->b);
    if (index.kind() == ExprKind::kAdd || index.kind() == ExprKind::kSub) {
      Decompose(binary->a, scale, terms, constant);
      return Decompose(binary->b, index.kind() == ExprKind::kAdd ? scale : -scale, terms, constant);
    }
    if (index.kind() == ExprKind::kMul && b) return Decompose(binary->a, scale * *b, terms, constant);
    if (index.kind() == ExprKind::kMul && a) return Decompose(binary->b, scale * *a, terms, constant);
  }
  std::string key = KeyOf(index);
  for (Term& term : *terms) {
    if (term.key == key) {
      term.coefficient += scale;
      return;
    }
  }
  terms->push_back({index, scale, LevelOf(index), std::move(key)});
}

// base + counter * step, advanced in each iteration.
Value* Emitter::Pointer(Level* level, Value* base, int64_t step) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(level->before->getTerminator());
  Value* start = b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(level->begin, b_.getInt64(step)));
  b_.SetInsertPoint(level->block, level->block->begin());
  llvm::PHINode* pointer = b_.CreatePHI(b_.getPtrTy(), 2);
  pointer->addIncoming(start, level->before);
  level->pointers.emplace_back(pointer, step);
  return pointer;
}

Value* Emitter::Address(const ir::Buffer& buffer, const Expr& index) {
  BufferInfo* info = Info(buffer);
  if (!info) return llvm::PoisonValue::get(b_.getPtrTy());
  HONE_CHECK(info->base);
  std::vector<Term> terms;
  int64_t constant = 0;
  Decompose(index, buffer->type.element_bytes(), &terms, &constant);
  std::erase_if(terms, [](const Term& t) { return t.coefficient == 0; });
  auto is_counter = [&](const Term& t) {
    if (t.level <= 0 || t.atom.kind() != ExprKind::kVar) return false;
    auto* var = static_cast<const ir::VarNode*>(t.atom.get());
    return at_.levels[t.level].counter && at_.vars[var].value == at_.levels[t.level].counter;
  };
  // From the outermost level inwards, the loop's counter first, terms that cannot be moved last.
  std::stable_sort(terms.begin(), terms.end(), [&](const Term& x, const Term& y) {
    if (x.level != y.level) return static_cast<unsigned>(x.level) < static_cast<unsigned>(y.level);
    return is_counter(x) && !is_counter(y);
  });
  Value* address = info->base;
  std::string key(reinterpret_cast<const char*>(&address), sizeof address);
  for (const Term& term : terms) {
    auto add = [&] {
      Value* atom = EmitExpr(term.atom);
      if (atom->getType() != b_.getInt64Ty()) {
        atom = term.atom.type().is_uint() ? b_.CreateZExt(atom, b_.getInt64Ty()) : b_.CreateSExt(atom, b_.getInt64Ty());
      }
      Value* offset = b_.CreateMul(atom, b_.getInt64(term.coefficient));
      return b_.CreateGEP(b_.getInt8Ty(), address, offset);
    };
    if (term.level < 0) {
      address = add();
      continue;
    }
    key.append(term.key);
    key.append(reinterpret_cast<const char*>(&term.coefficient), sizeof term.coefficient);
    auto found = at_.levels[term.level].values.find(key);
    if (found != at_.levels[term.level].values.end()) {
      address = found->second;
      continue;
    }
    if (is_counter(term)) {
      address = Pointer(&at_.levels[term.level], address, term.coefficient);
      at_.levels[term.level].values.emplace(key, address);
      continue;
    }
    // The atom first: it may go to the same level, and must precede its use.
    EmitExpr(term.atom);
    address = AtLevel(term.level, add);
    at_.levels[term.level].values.emplace(key, address);
  }
  if (constant != 0) address = b_.CreateGEP(b_.getInt8Ty(), address, b_.getInt64(constant));
  return address;
}

bool Emitter::ConstantRange(const Expr& index, int64_t* first, int* lanes) {
  const Expr* base = &index;
  *lanes = 1;
  if (auto* ramp = index.as<ir::Ramp>()) {
    const int64_t* stride = ir::AsIntImm(ramp->stride);
    if (!stride || *stride != 1) return false;
    *lanes = index.type().lanes;
    base = &ramp->base;
  } else if (index.type().is_vector()) {
    return false;
  }
  std::vector<Term> terms;
  *first = 0;
  Decompose(*base, 1, &terms, first);
  return std::all_of(terms.begin(), terms.end(), [](const Term& t) { return t.coefficient == 0; });
}

// Divides the buffer into slots: the known ranges that are accessed, with those that overlap joined. False if an index
// is not known, or if a slot would be larger than a vector may be.
bool Emitter::FitsSlots(const ir::Buffer& buffer, const ir::Stmt& body) {
  constexpr int64_t kMostLanes = 64;
  std::map<int64_t, int64_t> ends;  // of the ranges, by their first element
  bool fits = true;
  auto access = [&](const ir::Buffer& accessed, const Expr& index) {
    if (accessed.get() != buffer.get()) return;
    int64_t first = 0;
    int lanes = 0;
    fits = fits && ConstantRange(index, &first, &lanes);
    ends[first] = std::max(ends[first], first + lanes);
  };
  std::vector<const ir::VarNode*> bound;
  const auto enter = [&](const ir::For& loop) {
    // An outlined body cannot reach registers of the enclosing function.
    if (loop.for_kind == ir::ForKind::kParallel && !in_parallel_) fits = false;
    // In a loop of one iteration the variable is a constant.
    const int64_t *extent = ir::AsIntImm(loop.extent), *min = ir::AsIntImm(loop.min);
    if (!extent || *extent != 1 || !min) return;
    BindVar(loop.var.node(), b_.getInt64(*min), 0);
    bound.push_back(loop.var.node());
  };
  ir::Walk(body, ir::Overloaded{enter, [&](const ir::Store& op) { access(op.buffer, op.index); },
                                [&](const ir::Load& op) { access(op.buffer, op.index); }, [](const auto&) {}});
  for (const ir::VarNode* var : bound) at_.vars.erase(var);
  std::map<int64_t, Slot>& slots = at_.buffer_info[buffer.get()].slots;
  int64_t end = 0;
  for (const auto& [first, last] : ends) {
    if (slots.empty() || first >= end) slots[first];
    end = std::max(end, last);
    auto& [begin, slot] = *slots.rbegin();
    slot.lanes = static_cast<int>(end - begin);
    fits = fits && slot.lanes <= kMostLanes;
  }
  return fits;
}

Emitter::Lanes Emitter::LanesOf(BufferInfo* info, const ir::Buffer& buffer, const Expr& index) {
  int64_t first = 0;
  int lanes = 0;
  HONE_CHECK(ConstantRange(index, &first, &lanes));
  auto& [begin, slot] = *std::prev(info->slots.upper_bound(first));
  if (!slot.memory) {
    llvm::BasicBlock& entry = at_.function->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    slot.memory = at_entry.CreateAlloca(TypeOf(buffer->type.WithLanes(slot.lanes)), nullptr, buffer.name());
  }
  return {&slot, static_cast<int>(first - begin), lanes};
}

Value* Emitter::LoadLanes(const Lanes& at) {
  Value* all = b_.CreateLoad(at.slot->memory->getAllocatedType(), at.slot->memory);
  if (at.count == at.slot->lanes) return all;
  if (at.count == 1) return b_.CreateExtractElement(all, at.first);
  std::vector<int> pattern(static_cast<size_t>(at.count));
  std::iota(pattern.begin(), pattern.end(), at.first);
  return b_.CreateShuffleVector(all, pattern);
}

void Emitter::StoreLanes(const Lanes& at, Value* value) {
  const int lanes = at.slot->lanes;
  if (at.count < lanes) {
    Value* all = b_.CreateLoad(at.slot->memory->getAllocatedType(), at.slot->memory);
    if (at.count == 1) {
      value = b_.CreateInsertElement(all, value, at.first);
    } else {
      std::vector<int> wide(static_cast<size_t>(lanes), -1), blend(static_cast<size_t>(lanes));
      std::iota(wide.begin() + at.first, wide.begin() + at.first + at.count, 0);
      std::iota(blend.begin(), blend.end(), 0);
      std::iota(blend.begin() + at.first, blend.begin() + at.first + at.count, lanes + at.first);
      value = b_.CreateShuffleVector(all, b_.CreateShuffleVector(value, wide), blend);
    }
  }
  b_.CreateStore(value, at.slot->memory);
}

namespace {

// Splits a vector of indices into a scalar (null: 0) plus one constant per lane. False if that is not possible.
bool SplitLanes(const Expr& e, Expr* scalar, std::vector<int64_t>* offsets) {
  const size_t lanes = static_cast<size_t>(e.type().lanes);
  offsets->assign(lanes, 0);
  auto take = [&](const Expr& base) {
    const int64_t* value = ir::AsIntImm(base);
    for (int64_t& offset : *offsets) offset += value ? *value : 0;
    if (!value) *scalar = scalar->defined() ? *scalar + base : base;
    return true;
  };
  if (auto* broadcast = e.as<ir::Broadcast>()) return broadcast->value.type().is_scalar() && take(broadcast->value);
  if (auto* ramp = e.as<ir::Ramp>()) {
    const int64_t* stride = ir::AsIntImm(ramp->stride);
    if (!stride || !ramp->base.type().is_scalar()) return false;
    for (size_t i = 0; i < lanes; ++i) (*offsets)[i] = static_cast<int64_t>(i) * *stride;
    return take(ramp->base);
  }
  auto* binary = e.as<ir::Binary>();
  Expr a, b;
  std::vector<int64_t> x, y;
  if (!binary || !SplitLanes(binary->a, &a, &x) || !SplitLanes(binary->b, &b, &y)) return false;
  for (size_t i = 0; i < lanes; ++i) {
    int64_t& to = (*offsets)[i];
    switch (e.kind()) {
      case ExprKind::kAdd:
        to = x[i] + y[i];
        break;
      case ExprKind::kSub:
        to = x[i] - y[i];
        break;
      case ExprKind::kMul:
        to = x[i] * y[i];
        break;
      case ExprKind::kDiv:
      case ExprKind::kMod:
        if (x[i] < 0 || y[i] <= 0) return false;
        to = e.kind() == ExprKind::kDiv ? x[i] / y[i] : x[i] % y[i];
        break;
      default:
        return false;
    }
  }
  if (e.kind() == ExprKind::kAdd) {
    *scalar = a.defined() && b.defined() ? a + b : a.defined() ? a : b;
    return true;
  }
  *scalar = a;
  return !b.defined() && (!a.defined() || e.kind() == ExprKind::kSub);
}

}  // namespace

// If all lanes lie near each other, in a known pattern: one load and a shuffle. Else null. The load takes the aligned
// block of as many elements that the lanes lie in, or what lies between the first and the last of them.
Value* Emitter::EmitBlockLoad(const ir::Load& e) {
  const int lanes = e.type.lanes;
  Expr base;
  std::vector<int64_t> offsets;
  if (e.buffer->type.is_bool() || !SplitLanes(e.index, &base, &offsets)) return nullptr;
  std::vector<Term> terms;
  int64_t constant = 0;
  if (base.defined()) Decompose(base, 1, &terms, &constant);
  const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  const int64_t block = *low + constant - ((*low + constant) % lanes + lanes) % lanes - constant;
  const bool aligned =
      e.buffer->size % lanes == 0 && *high < block + lanes &&
      std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return term.coefficient % lanes == 0; });
  const int64_t first = aligned ? block : *low, count = aligned ? lanes : *high - *low + 1;
  if (count > lanes) return nullptr;
  std::vector<int> pattern;
  for (int64_t offset : offsets) pattern.push_back(static_cast<int>(offset - first));
  const Expr start = base.defined() ? base + Expr(first) : Expr(first);
  auto* load =
      b_.CreateAlignedLoad(llvm::FixedVectorType::get(MemoryTypeOf(e.buffer->type), static_cast<unsigned>(count)),
                           Address(e.buffer, start), llvm::Align(e.buffer->type.element_bytes()));
  Annotate(load, e.buffer);
  return b_.CreateShuffleVector(load, pattern);
}

// For cores of AArch64 that execute in order: a scalar in all lanes, as one of four neighbours that one load brings, if
// these are an aligned block. A multiply-add takes such an element as it is, and three of four do not wait. Else null.
Value* Emitter::EmitElement(const ir::Load& e, int lanes) {
  constexpr int64_t kBlock = 4;
  if (!ArmCoreIsInOrder(target_.cpu) || lanes != kBlock || e.type != DType::Float(32) || LevelOf(e.index) < 0)
    return nullptr;
  BufferInfo* info = Info(e.buffer);
  if (!info || info->in_slots || e.buffer->size % kBlock != 0) return nullptr;
  std::vector<Term> terms;
  int64_t constant = 0;
  Decompose(e.index, 1, &terms, &constant);
  const auto whole = [](const Term& term) { return term.coefficient % kBlock == 0; };
  if (!std::ranges::all_of(terms, whole)) return nullptr;
  const int64_t lane = (constant % kBlock + kBlock) % kBlock;
  Value*& known = at_.loads[e.buffer.get()]["element " + KeyOf(e.index)];
  if (known) return known;
  const Expr block = ir::MakeLoad(e.buffer, ir::MakeRamp(e.index - Expr(lane), Expr(1), kBlock));
  const std::vector<int> pattern(kBlock, static_cast<int>(lane));
  return known = b_.CreateShuffleVector(EmitLoad(*block.as<ir::Load>()), pattern);
}

Value* Emitter::EmitLoad(const ir::Load& e) {
  llvm::Type* type = TypeOf(e.type);
  BufferInfo* info = Info(e.buffer);
  if (!info) return llvm::PoisonValue::get(type);
  if (info->in_slots) return LoadLanes(LanesOf(info, e.buffer, e.index));
  if (mask_) return EmitMaskedLoad(e, e.type.lanes);

  // The meaning of an index that itself reads memory could change unnoticed.
  bool shared = LevelOf(e.index) >= 0;
  std::string key = shared ? KeyOf(e.index) : std::string();
  if (shared) {
    auto& known = at_.loads[e.buffer.get()];
    auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  DType element = e.buffer->type;
  int lanes = e.type.lanes;
  auto load_at = [&](llvm::Type* t, Value* address) {
    auto* load = b_.CreateAlignedLoad(t, address, llvm::Align(element.element_bytes()));
    Annotate(load, e.buffer);
    return load;
  };
  auto from_memory = [&](Value* v) {
    if (!element.is_bool()) return v;
    return b_.CreateTrunc(v, TypeOf(element.WithLanes(v->getType()->isVectorTy() ? lanes : 1)));
  };
  Value* value = nullptr;
  auto* ramp = e.index.as<ir::Ramp>();
  const int64_t* stride = ramp ? ir::AsIntImm(ramp->stride) : nullptr;
  if (lanes == 1) {
    value = from_memory(load_at(MemoryTypeOf(element), Address(e.buffer, e.index)));
  } else if (auto* broadcast = e.index.as<ir::Broadcast>()) {
    value = Splat(from_memory(load_at(MemoryTypeOf(element), Address(e.buffer, broadcast->value))), lanes);
  } else if (stride && *stride == 1) {
    value = from_memory(load_at(MemoryTypeOf(element.WithLanes(lanes)), Address(e.buffer, ramp->base)));
  } else if (Value* block = EmitBlockLoad(e)) {
    value = block;
  } else {
    // Lane by lane: as fast as a gather on the CPUs we tested, and possible on all.
    Value* index = ramp && stride ? nullptr : EmitExpr(e.index);
    value = llvm::PoisonValue::get(TypeOf(e.type));
    for (int lane = 0; lane < lanes; ++lane) {
      Value* address = nullptr;
      if (index) {
        Value* offset = b_.CreateSExt(b_.CreateExtractElement(index, lane), b_.getInt64Ty());
        address = b_.CreateGEP(MemoryTypeOf(element), info->base, offset);
      } else {
        address = Address(e.buffer, ramp->base + Expr(lane * *stride));
      }
      value = b_.CreateInsertElement(value, from_memory(load_at(MemoryTypeOf(element), address)), lane);
    }
  }
  if (shared) at_.loads[e.buffer.get()].emplace(std::move(key), value);
  return value;
}

// A load under mask_; a scalar is read into all lanes.
Value* Emitter::EmitMaskedLoad(const ir::Load& e, int lanes) {
  DType element = e.buffer->type;
  llvm::Type* type = MemoryTypeOf(element.WithLanes(lanes));
  BufferInfo* info = Info(e.buffer);
  auto* mask_type = llvm::cast<llvm::FixedVectorType>(mask_->getType());
  if (!info || static_cast<int>(mask_type->getNumElements()) != lanes ||
      (e.type.is_vector() && e.type.lanes != lanes)) {
    return Fail("a scalar load under a condition of lanes", TypeOf(element.WithLanes(lanes)));
  }
  llvm::Align align(element.element_bytes());
  Value* zero = llvm::Constant::getNullValue(type);
  auto* ramp = e.index.as<ir::Ramp>();
  const int64_t* stride = ramp ? ir::AsIntImm(ramp->stride) : nullptr;
  llvm::Instruction* load = nullptr;
  if (stride && *stride == 1) {
    load = b_.CreateMaskedLoad(type, Address(e.buffer, ramp->base), align, mask_, zero);
  } else {
    Value* index = Splat(EmitExpr(e.index), lanes);
    index = b_.CreateSExt(index, llvm::FixedVectorType::get(b_.getInt64Ty(), lanes));
    load = b_.CreateMaskedGather(type, b_.CreateGEP(MemoryTypeOf(element), info->base, index), align, mask_, zero);
  }
  Annotate(load, e.buffer);
  return element.is_bool() ? b_.CreateTrunc(load, TypeOf(element.WithLanes(lanes))) : static_cast<Value*>(load);
}

void Emitter::EmitStore(const ir::Store& s) {
  Value* value = EmitExpr(s.value);
  BufferInfo* info = Info(s.buffer);
  if (!info) return;
  if (info->in_slots) return StoreLanes(LanesOf(info, s.buffer, s.index), value);
  at_.loads.erase(s.buffer.get());
  DType element = s.buffer->type;
  int lanes = s.index.type().lanes;
  if (element.is_bool()) value = b_.CreateZExt(value, MemoryTypeOf(element.WithLanes(lanes)));
  llvm::Align align(element.element_bytes());
  auto* ramp = s.index.as<ir::Ramp>();
  const int64_t* stride = ramp ? ir::AsIntImm(ramp->stride) : nullptr;
  if (lanes == 1 || (stride && *stride == 1)) {
    Value* address = Address(s.buffer, ramp ? ramp->base : s.index);
    Annotate(b_.CreateAlignedStore(value, address, align), s.buffer);
    return;
  }
  Value* index = EmitExpr(s.index);
  for (int lane = 0; lane < lanes; ++lane) {
    Value* offset = b_.CreateSExt(b_.CreateExtractElement(index, lane), b_.getInt64Ty());
    Value* address = b_.CreateGEP(MemoryTypeOf(element), info->base, offset);
    Annotate(b_.CreateAlignedStore(b_.CreateExtractElement(value, lane), address, align), s.buffer);
  }
}

void Emitter::ForgetShared() {
  at_.loads.clear();
  at_.splats.clear();
  at_.words.clear();
  at_.halves.clear();
}

}  // namespace hone::codegen
