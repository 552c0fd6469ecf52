#include <fmt/format.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/math.h"

namespace hone::codegen {

using ir::Expr;
using ir::ExprKind;
using ir::Intrinsic;
using llvm::Value;

llvm::Type* Emitter::TypeOf(DType type) {
  llvm::Type* element = nullptr;
  if (type.is_handle()) {
    element = b_.getPtrTy();
  } else if (type.is_float()) {
    element = type.bits == 16 ? b_.getHalfTy() : type.bits == 32 ? b_.getFloatTy() : b_.getDoubleTy();
  } else {
    element = b_.getIntNTy(type.bits);
  }
  return type.is_vector() ? llvm::FixedVectorType::get(element, type.lanes) : element;
}

llvm::Type* Emitter::MemoryTypeOf(DType type) { return TypeOf(type.is_bool() ? DType::UInt(8, type.lanes) : type); }

int Emitter::LevelOf(const Expr& e) {
  int level = 0;
  const auto at = [&](int of) {
    level = level < 0 || of < 0 ? -1 : std::max(level, of);
    return level >= 0;
  };
  const auto of_var = [&](const ir::VarNode& var) {
    auto it = at_.vars.find(&var);
    return at(it == at_.vars.end() ? -1 : it->second.level);
  };
  const auto of_binary = [&](const ir::Binary& op) {
    // Moved outwards, a variable divisor could be 0.
    const bool divides = (op.kind == ExprKind::kDiv || op.kind == ExprKind::kMod) && !op.type.is_float();
    const int64_t* divisor = ir::AsIntImm(op.b);
    return at(divides && (!divisor || *divisor == 0) ? -1 : 0);
  };
  ir::Walk(e, ir::Overloaded{of_var, of_binary, [&](const ir::Load&) { return at(-1); },
                             [&](const ir::Call&) { return at(-1); }, [&](const auto&) { return level >= 0; }});
  return level;
}

namespace {

template <typename T>
void AppendBytes(T value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void Emitter::AppendKey(const Expr& e, std::string* key) {
  AppendBytes(e.kind(), key);
  AppendBytes(e.type(), key);
  if (const auto* var = e.as<ir::VarNode>()) {
    auto it = at_.vars.find(var);
    return AppendBytes(it == at_.vars.end() ? static_cast<const void*>(var) : it->second.value, key);
  }
  const auto append = [&]<typename T>(const T& field) {
    if constexpr (std::is_same_v<T, Expr>) {
      AppendKey(field, key);
    } else if constexpr (std::is_same_v<T, std::vector<Expr>>) {
      AppendBytes(field.size(), key);
      for (const Expr& item : field) AppendKey(item, key);
    } else if constexpr (std::is_same_v<T, ir::Buffer>) {
      AppendBytes(field.get(), key);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      AppendBytes(field, key);
    }
  };
  ir::WithNode(e, [&](const auto& node) { ir::ForEachField(node, append); });
}

std::string Emitter::KeyOf(const Expr& e) {
  std::string key;
  AppendKey(e, &key);
  return key;
}

Value* Emitter::EmitAtLevel(const Expr& e) {
  int level = LevelOf(e);
  if (level < 0) return EmitPlain(e);
  std::string key = KeyOf(e);
  auto found = at_.levels[level].values.find(key);
  if (found != at_.levels[level].values.end()) return found->second;
  Value* value = AtLevel(level, [&] { return EmitPlain(e); });
  at_.levels[level].values.emplace(std::move(key), value);
  return value;
}

Value* Emitter::EmitExpr(const Expr& e) {
  if (!status_.ok()) return llvm::PoisonValue::get(TypeOf(e.type()));
  return IsMoved(e) ? EmitAtLevel(e) : EmitPlain(e);
}

bool Emitter::IsMoved(const Expr& e) {
  bool leaf = e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kVar || e.kind() == ExprKind::kLoad;
  return !leaf && e.type().is_scalar() && !e.type().is_float();
}

Value* Emitter::EmitPlain(const Expr& e) {
  llvm::Type* type = TypeOf(e.type());
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return llvm::ConstantInt::getSigned(type, e.as<ir::IntImm>()->value);
    case ExprKind::kFloatImm:
      return llvm::ConstantFP::get(type, e.as<ir::FloatImm>()->value);
    case ExprKind::kVar: {
      auto it = at_.vars.find(static_cast<const ir::VarNode*>(e.get()));
      if (it != at_.vars.end()) return it->second.value;
      return Fail(fmt::format("variable `{}` is used outside its loop", e.as<ir::VarNode>()->name), type);
    }
    case ExprKind::kCast: {
      const Expr& value = e.as<ir::Cast>()->value;
      // One instruction rounds and converts.
      const auto* round = value.as<ir::Call>();
      if (round && round->fn == Intrinsic::kRound && e.type() == DType::Int(32, e.type().lanes) &&
          value.type().bits == 32) {
        Value* number = EmitExpr(round->args[0]);
        return b_.CreateIntrinsic(llvm::Intrinsic::lrint, {type, number->getType()}, {number});
      }
      return EmitCast(value.type(), e.type(), EmitExpr(value));
    }
    case ExprKind::kNot:
      return b_.CreateNot(EmitExpr(e.as<ir::Not>()->a));
    case ExprKind::kSelect: {
      auto* select = e.as<ir::Select>();
      Value* condition = EmitExpr(select->condition);
      Value* if_true = EmitExpr(select->if_true);
      return b_.CreateSelect(condition, if_true, EmitExpr(select->if_false));
    }
    case ExprKind::kLoad:
      return EmitLoad(*e.as<ir::Load>());
    case ExprKind::kRamp:
      return EmitRamp(*e.as<ir::Ramp>());
    case ExprKind::kBroadcast:
      if (auto* load = mask_ ? e.as<ir::Broadcast>()->value.as<ir::Load>() : nullptr)
        return EmitMaskedLoad(*load, e.type().lanes);
      if (auto* load = e.as<ir::Broadcast>()->value.as<ir::Load>()) {
        if (Value* splat = EmitElement(*load, e.type().lanes)) return splat;
      }
      return Splat(EmitExpr(e.as<ir::Broadcast>()->value), e.type().lanes);
    case ExprKind::kCall:
      return EmitCall(*e.as<ir::Call>());
    case ExprKind::kAccess:
    case ExprKind::kReduce:
      return Fail("a tensor expression reached code generation without being lowered", type);
    default:
      return EmitBinary(*e.as<ir::Binary>());
  }
}

Value* Emitter::EmitRamp(const ir::Ramp& e) {
  int lanes = e.type.lanes;
  Value* base = Splat(EmitExpr(e.base), lanes);
  Value* stride = Splat(EmitExpr(e.stride), lanes);
  std::vector<llvm::Constant*> steps;
  llvm::Type* element = TypeOf(e.type.element());
  for (int i = 0; i < lanes; ++i) steps.push_back(llvm::ConstantInt::get(element, i));
  return b_.CreateAdd(base, b_.CreateMul(stride, llvm::ConstantVector::get(steps)));
}

Value* Emitter::Splat(Value* value, int lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), constant);
  }
  Value*& splat = at_.splats[value][lanes];
  if (!splat) splat = b_.CreateVectorSplat(lanes, value);
  return splat;
}

Value* Emitter::EmitBinary(const ir::Binary& e) {
  DType type = e.a.type();
  // a * b + c is one operation from here on; the target chooses the instructions.
  if (type.is_float() && e.kind == ExprKind::kAdd && !separate_products_) {
    auto fused = [&](const Expr& product, const Expr& addend) -> Value* {
      auto* mul = product.as<ir::Binary>();
      Value* c = nullptr;
      // Operands are evaluated left to right, as they are written.
      bool addend_first = addend.same_as(e.a);
      if (addend_first) c = EmitExpr(addend);
      Value* a = EmitExpr(mul->a);
      Value* b = EmitExpr(mul->b);
      if (!addend_first) c = EmitExpr(addend);
      return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
    };
    if (e.b.kind() == ExprKind::kMul) return fused(e.b, e.a);
    if (e.a.kind() == ExprKind::kMul) return fused(e.a, e.b);
  }
  Value* a = EmitExpr(e.a);
  Value* b = EmitExpr(e.b);
  switch (e.kind) {
    case ExprKind::kAnd:
      return b_.CreateAnd(a, b);
    case ExprKind::kOr:
      return b_.CreateOr(a, b);
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
    case ExprKind::kGt:
    case ExprKind::kGe:
      return EmitCompare(e.kind, type, a, b);
    default:
      return EmitArithmetic(e.kind, type, a, b, IsNotNegative(e.a));
  }
}

Value* Emitter::EmitArithmetic(ExprKind kind, DType type, Value* a, Value* b, bool not_negative) {
  bool is_float = type.is_float();
  bool is_signed = type.is_int();
  switch (kind) {
    case ExprKind::kAdd:
      return is_float ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
    case ExprKind::kSub:
      return is_float ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
    case ExprKind::kMul:
      return is_float ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
    case ExprKind::kShiftLeft:
      return b_.CreateShl(a, b);
    case ExprKind::kShiftRight:
      return is_signed ? b_.CreateAShr(a, b) : b_.CreateLShr(a, b);
    case ExprKind::kMin:
      return b_.CreateSelect(EmitCompare(ExprKind::kLt, type, a, b), a, b);
    case ExprKind::kMax:
      return b_.CreateSelect(EmitCompare(ExprKind::kGt, type, a, b), a, b);
    default:
      break;
  }
  if (is_float) return kind == ExprKind::kDiv ? b_.CreateFDiv(a, b) : Fail("modulo of floats", a->getType());
  bool div = kind == ExprKind::kDiv;
  auto* splat = llvm::dyn_cast<llvm::Constant>(b);
  if (splat && splat->getType()->isVectorTy()) splat = splat->getSplatValue();
  auto* divisor = llvm::dyn_cast_or_null<llvm::ConstantInt>(splat);
  if (is_signed && divisor && divisor->getValue().isPowerOf2() && !divisor->isNegative()) {
    if (div) return b_.CreateAShr(a, llvm::ConstantInt::get(a->getType(), divisor->getValue().logBase2()));
    return b_.CreateAnd(a, llvm::ConstantInt::get(a->getType(), divisor->getValue() - 1));
  }
  if (!is_signed || (not_negative && divisor && !divisor->isNegative())) {
    return div ? b_.CreateUDiv(a, b) : b_.CreateURem(a, b);
  }
  llvm::Constant* zero = llvm::Constant::getNullValue(a->getType());
  // Dividing the smallest number by -1 overflows (and traps on x86): division by -1 is a negation.
  if (divisor && divisor->isMinusOne()) return div ? b_.CreateNeg(a) : static_cast<Value*>(zero);
  Value* by_minus_one = nullptr;
  Value* safe = b;
  if (!divisor) {
    by_minus_one = b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(a->getType()));
    safe = b_.CreateSelect(by_minus_one, llvm::ConstantInt::get(a->getType(), 1), b);
  }
  Value* rest = b_.CreateSRem(a, safe);
  Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, safe), zero);
  Value* below = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
  Value* result = nullptr;
  if (div) {
    Value* quotient = b_.CreateSDiv(a, safe);
    result = b_.CreateSelect(below, b_.CreateSub(quotient, llvm::ConstantInt::get(a->getType(), 1)), quotient);
  } else {
    result = b_.CreateSelect(below, b_.CreateAdd(rest, safe), rest);
  }
  if (by_minus_one) result = b_.CreateSelect(by_minus_one, div ? b_.CreateNeg(a) : static_cast<Value*>(zero), result);
  return result;
}

Value* Emitter::EmitCompare(ExprKind kind, DType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  struct Row {
    P of_float, of_signed, of_unsigned;
  };
  static constexpr Row kRows[] = {
      {P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
  };
  const Row& row = kRows[static_cast<int>(kind) - static_cast<int>(ExprKind::kEq)];
  if (type.is_float()) return b_.CreateFCmp(row.of_float, a, b);
  return b_.CreateICmp(type.is_int() ? row.of_signed : row.of_unsigned, a, b);
}

Value* Emitter::EmitCast(DType from, DType to, Value* value) {
  llvm::Type* type = TypeOf(to);
  if (from == to) return value;
  if (to.is_bool()) {
    return EmitCompare(ExprKind::kNe, from, value, llvm::Constant::getNullValue(value->getType()));
  }
  if (from.is_float() && to.is_float()) return b_.CreateFPCast(value, type);
  if (from.is_float()) return to.is_uint() ? b_.CreateFPToUI(value, type) : b_.CreateFPToSI(value, type);
  if (to.is_float()) return from.is_int() ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
  if (from.is_handle() || to.is_handle()) return Fail("a cast of addresses", type);
  return b_.CreateIntCast(value, type, from.is_int());
}

// Whether an i64 is known to be at least 0 (index arithmetic does not overflow).
bool Emitter::IsNotNegative(const Expr& e) {
  if (const int64_t* value = ir::AsIntImm(e)) return *value >= 0;
  if (e.type().element() != DType::Int(64)) return false;
  if (e.kind() == ExprKind::kVar) {
    auto it = at_.vars.find(static_cast<const ir::VarNode*>(e.get()));
    return it != at_.vars.end() && it->second.not_negative;
  }
  if (auto* ramp = e.as<ir::Ramp>()) return IsNotNegative(ramp->base) && IsNotNegative(ramp->stride);
  if (auto* broadcast = e.as<ir::Broadcast>()) return IsNotNegative(broadcast->value);
  auto* binary = e.as<ir::Binary>();
  if (!binary) return false;
  switch (e.kind()) {
    case ExprKind::kAdd:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMin:
      return IsNotNegative(binary->a) && IsNotNegative(binary->b);
    case ExprKind::kShiftRight:
      return IsNotNegative(binary->a);
    case ExprKind::kMod:
      return IsNotNegative(binary->b);
    case ExprKind::kMax:
      return IsNotNegative(binary->a) || IsNotNegative(binary->b);
    default:
      return false;
  }
}

Value* Emitter::EmitIfThenElse(const ir::Call& e) {
  llvm::Type* type = TypeOf(e.type);
  Value* condition = EmitExpr(e.args[0]);
  if (auto* known = llvm::dyn_cast<llvm::Constant>(condition)) {
    if (known->isNullValue()) return EmitExpr(e.args[2]);
    if (known->isOneValue() || known->isAllOnesValue()) return EmitExpr(e.args[1]);
  }
  if (condition->getType()->isVectorTy()) return EmitMaskedChoice(e, condition);
  auto* then_block = llvm::BasicBlock::Create(context_, "then", at_.function);
  auto* else_block = llvm::BasicBlock::Create(context_, "else", at_.function);
  auto* join = llvm::BasicBlock::Create(context_, "join", at_.function);
  b_.CreateCondBr(condition, then_block, else_block);
  ForgetShared();
  auto branch = [&](llvm::BasicBlock* block, const Expr& value) {
    block->moveAfter(&at_.function->back());
    b_.SetInsertPoint(block);
    Value* result = EmitExpr(value);
    ForgetShared();
    b_.CreateBr(join);
    return std::make_pair(result, b_.GetInsertBlock());
  };
  auto [if_true, true_end] = branch(then_block, e.args[1]);
  auto [if_false, false_end] = branch(else_block, e.args[2]);
  join->moveAfter(&at_.function->back());
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(if_true, true_end);
  phi->addIncoming(if_false, false_end);
  return phi;
}

// Both sides are evaluated, but each reads memory only for its own lanes.
Value* Emitter::EmitMaskedChoice(const ir::Call& e, Value* condition) {
  Value* outer = mask_;
  auto side = [&](Value* mask, const Expr& value) {
    mask_ = outer ? b_.CreateAnd(outer, mask) : mask;
    return EmitExpr(value);
  };
  Value* if_true = side(condition, e.args[1]);
  Value* if_false = side(b_.CreateNot(condition), e.args[2]);
  mask_ = outer;
  return b_.CreateSelect(condition, if_true, if_false);
}

Value* Emitter::EmitCall(const ir::Call& e) {
  if (e.fn == Intrinsic::kIfThenElse) return EmitIfThenElse(e);
  llvm::Type* type = TypeOf(e.type);
  if (e.fn == Intrinsic::kPrefetch) return Fail("prefetch is a statement and has no value", type);
  if (e.fn == Intrinsic::kTf32 || e.fn == Intrinsic::kMmaTf32) return Fail("TF32 is for CUDA alone", type);
  if (e.fn == Intrinsic::kDot4) return EmitDot4(e);
  if (!e.type.is_float()) {
    Value* value = EmitExpr(e.args[0]);
    if (e.fn == Intrinsic::kAbs && !e.type.is_int()) return value;
    if (e.fn == Intrinsic::kAbs) return b_.CreateIntrinsic(llvm::Intrinsic::abs, {type}, {value, b_.getFalse()});
    return Fail("a function of floats on integers", type);
  }
  std::vector<Value*> args;
  for (const Expr& arg : e.args) args.push_back(EmitExpr(arg));
  MathEmitter math(&b_, target_);
  return math.Emit(e.fn, args);
}

}  // namespace hone::codegen
