#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "codegen/c_source/kernel_writer.h"
#include "ir/printer.h"

namespace hone::codegen {

using ir::Expr;
using ir::ExprKind;
using ir::Intrinsic;

namespace {

// Precedence of C's operators; a smaller number binds tighter.
enum Level { kPrimary = 0, kUnary = 2, kMul = 3, kAdd = 4, kShift = 5, kRelation = 6, kEqual = 7, kBitAnd = 8 };
constexpr int kAndAnd = 11, kOrOr = 12, kChoice = 13, kAny = 99;

bool IsIndex(const Expr& e) { return e.type() == DType::Int(64); }

bool FitsInt(arith::ConstInterval range) { return range.min >= INT32_MIN && range.max <= INT32_MAX; }

}  // namespace

std::string KernelWriter::Type(DType type) {
  if (type.is_bool()) return "bool";
  if (type.is_float() && type.bits == 32) return "float";
  if (type.is_float() && type.bits == 64) {
    needs_->f64 = true;
    return "double";
  }
  if (type.is_int() || type.is_uint()) {
    switch (type.bits) {
      case 8:
        return type.is_int() ? "signed char" : "unsigned char";
      case 16:
        return type.is_int() ? "short" : "unsigned short";
      case 32:
        return type.is_int() ? "int" : "unsigned int";
      case 64:
        return type.is_int() ? dialect_.int64 : dialect_.uint64;
      default:
        break;
    }
  }
  Fail(fmt::format("values of type {} are not supported", ToString(type)));
  return "int";
}

std::string KernelWriter::MemoryType(DType type) { return type.is_bool() ? "unsigned char" : Type(type); }

std::string KernelWriter::IntType(const Expr& e) { return Narrow(e) ? "int" : Type(e.type()); }

bool KernelWriter::Narrow(const Expr& e) { return IsIndex(e) && FitsInt(facts_.RangeOf(e)); }

KernelWriter::Text KernelWriter::As(const std::string& type, const Text& value) {
  return {"(" + type + ")" + (value.level <= kUnary ? value.text : "(" + value.text + ")"), kUnary};
}

std::string KernelWriter::Helper(const std::string& name, const std::string& text) {
  needs_->helpers.insert(std::string(dialect_.helper_prefix) + text);
  return name;
}

std::string KernelWriter::WriteAt(const Expr& e, int level) {
  Text text = Write(e);
  return text.level <= level ? text.text : "(" + text.text + ")";
}

KernelWriter::Text KernelWriter::WriteInt(int64_t value, DType type, bool narrow) {
  if (type.is_bool()) return {value ? "true" : "false", kPrimary};
  const bool wide = type.bits == 64 && !narrow;
  if (type.is_uint()) {
    return {fmt::format("{}u{}", static_cast<uint64_t>(value), wide ? dialect_.int64_suffix : ""), kPrimary};
  }
  const char* suffix = wide ? dialect_.int64_suffix : "";
  // The smallest number has no literal: it would be the negative of a number that does not fit.
  if (value == (wide ? INT64_MIN : INT32_MIN)) return {fmt::format("(-{}{} - 1)", -(value + 1), suffix), kPrimary};
  return {fmt::format("{}{}", value, suffix), value < 0 ? kUnary : kPrimary};
}

std::string KernelWriter::WriteFloat(double value, DType type) {
  if (type.bits == 64) needs_->f64 = true;
  if (type.bits == 32) value = static_cast<float>(value);
  if (std::isnan(value)) return dialect_.nan;
  if (std::isinf(value)) return fmt::format("{}{}", value < 0 ? "-" : "", dialect_.infinity);
  std::string text = type.bits == 32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return type.bits == 32 ? text + "f" : text;
}

KernelWriter::Text KernelWriter::Write(const Expr& e) {
  if (!e.type().is_scalar()) {
    Fail("a vector where a scalar is expected: " + ir::ToString(e));
    return {"0", kPrimary};
  }
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return WriteInt(e.as<ir::IntImm>()->value, e.type(), Narrow(e));
    case ExprKind::kFloatImm: {
      if (Type(e.type()).empty()) return {};
      const std::string text = WriteFloat(e.as<ir::FloatImm>()->value, e.type());
      return {text, text[0] == '-' ? kUnary : kPrimary};
    }
    case ExprKind::kVar: {
      auto it = vars_.find(e.as<ir::VarNode>());
      if (it != vars_.end()) return it->second;
      Fail(fmt::format("variable `{}` is used outside its loop", e.as<ir::VarNode>()->name));
      return {"0", kPrimary};
    }
    case ExprKind::kCast:
      return WriteCast(*e.as<ir::Cast>());
    case ExprKind::kNot:
      return {"!" + WriteAt(e.as<ir::Not>()->a, kUnary), kUnary};
    case ExprKind::kSelect: {
      auto* select = e.as<ir::Select>();
      return WriteChoice(select->condition, select->if_true, select->if_false);
    }
    case ExprKind::kLoad: {
      auto* load = e.as<ir::Load>();
      const std::string text = Access(load->buffer, load->index);
      return e.type().is_bool() ? Text{text + " != 0", kEqual} : Text{text, kPrimary};
    }
    case ExprKind::kCall:
      return WriteCall(*e.as<ir::Call>());
    case ExprKind::kRamp:
    case ExprKind::kBroadcast:
    case ExprKind::kAccess:
    case ExprKind::kReduce:
      Fail("a tensor expression or vector reached code generation: " + ir::ToString(e));
      return {"0", kPrimary};
    default:
      return WriteBinary(*e.as<ir::Binary>(), e);
  }
}

std::string KernelWriter::Access(const ir::Buffer& buffer, const Expr& index) {
  auto it = buffers_.find(buffer.get());
  if (it == buffers_.end()) {
    Fail(fmt::format("buffer `{}` is used outside its allocation", buffer.name()));
    return "0";
  }
  return fmt::format("{}[{}]", it->second.name, WriteAt(index, kAny));
}

KernelWriter::Text KernelWriter::WriteBinary(const ir::Binary& e, const Expr& self) {
  const char* op = ir::OperatorText(e.kind);
  switch (e.kind) {
    case ExprKind::kAnd:
      return {WriteAt(e.a, kAndAnd) + " && " + WriteAt(e.b, kEqual), kAndAnd};
    case ExprKind::kOr: {
      const Text a = Write(e.a);
      const bool bare = a.level == kOrOr || a.level <= kEqual;
      return {(bare ? a.text : "(" + a.text + ")") + " || " + WriteAt(e.b, kEqual), kOrOr};
    }
    case ExprKind::kEq:
    case ExprKind::kNe:
      return {fmt::format("{} {} {}", WriteAt(e.a, kShift), op, WriteAt(e.b, kShift)), kEqual};
    case ExprKind::kLt:
    case ExprKind::kLe:
    case ExprKind::kGt:
    case ExprKind::kGe:
      return {fmt::format("{} {} {}", WriteAt(e.a, kShift), op, WriteAt(e.b, kShift)), kRelation};
    case ExprKind::kMin:
    case ExprKind::kMax: {
      const bool is_min = e.kind == ExprKind::kMin;
      const std::string name = is_min ? "min" : "max";
      if (e.type.is_float()) {
        // For a NaN, C's function returns the other operand, which is right if the second one is a number.
        auto* number = e.b.as<ir::FloatImm>();
        std::string function = fmt::format("f{}{}", name, dialect_.float_suffix && e.type.bits == 32 ? "f" : "");
        if (!number || std::isnan(number->value)) {
          const std::string type = Type(e.type);
          function = fmt::format("hone_{}_f{}", name, e.type.bits);
          Helper(function, fmt::format("{0} {1}({0} a, {0} b) {{ return a {2} b ? a : b; }}", type, function,
                                       is_min ? '<' : '>'));
        }
        const std::string a = WriteAt(e.a, kAny);
        return {fmt::format("{}({}, {})", function, a, WriteAt(e.b, kAny)), kPrimary};
      }
      // Both operands must have the same type, or the call is ambiguous.
      const bool both_narrow = Narrow(e.a) && Narrow(e.b);
      std::string type = IsIndex(self) ? (both_narrow ? "int" : Type(e.type)) : e.type.bits < 32 ? "int" : Type(e.type);
      const auto side = [&](const Expr& x) {
        const bool as_is = (IsIndex(x) && Narrow(x) == both_narrow) || (!IsIndex(x) && x.type().bits >= 32);
        Text text = Write(x);
        return as_is ? text.text : As(type, text).text;
      };
      const std::string a = side(e.a);
      Text result{fmt::format("{}({}, {})", name, a, side(e.b)), kPrimary};
      return Narrow(self) && !both_narrow ? As("int", result) : result;
    }
    case ExprKind::kDiv:
    case ExprKind::kMod:
      if (!e.type.is_float()) return WriteDivision(e, self);
      if (e.kind == ExprKind::kMod) Fail("modulo of floats");
      return {WriteAt(e.a, kMul) + " / " + WriteAt(e.b, kUnary), kMul};
    case ExprKind::kShiftLeft:  // of an unsigned number, as a sign would not be defined
    case ExprKind::kShiftRight: {
      const bool left = e.kind == ExprKind::kShiftLeft;
      const DType from = left ? DType::UInt(std::max<int>(e.type.bits, 32)) : e.type;
      const std::string by = WriteAt(e.b, kAdd);
      return As(Type(e.type), {fmt::format("{} {} {}", As(Type(from), Write(e.a)).text, op, by), kShift});
    }
    default:
      return WriteArithmetic(e, self);
  }
}

KernelWriter::Text KernelWriter::WriteArithmetic(const ir::Binary& e, const Expr& self) {
  const bool product = e.kind == ExprKind::kMul;
  const int level = product ? kMul : kAdd;
  const char* op = ir::OperatorText(e.kind);
  const auto plain = [&] {
    const std::string a = WriteAt(e.a, level);
    const int64_t* constant = ir::AsIntImm(e.b);
    if (e.kind == ExprKind::kAdd && constant && *constant < 0 && *constant > INT32_MIN && Narrow(e.b)) {
      return Text{fmt::format("{} - {}", a, -*constant), level};
    }
    return Text{fmt::format("{} {} {}", a, op, WriteAt(e.b, level - 1)), level};
  };
  if (e.type.is_float()) {
    (void)Type(e.type);
    return plain();
  }
  if (facts_.MayWrap(self) && !e.type.is_uint()) {
    if (e.type.bits < 32) return As(Type(e.type), plain());
    const std::string type = Type(DType::UInt(e.type.bits));
    const std::string a = As(type, Write(e.a)).text;
    return As(Type(e.type), {fmt::format("{} {} {}", a, op, As(type, Write(e.b)).text), level});
  }
  if (e.type.is_uint() && e.type.bits < 32) return As(Type(e.type), plain());
  if (!IsIndex(self)) return plain();
  const bool narrow_operands = Narrow(e.a) && Narrow(e.b);
  if (Narrow(self)) return narrow_operands ? plain() : As("int", plain());
  if (!narrow_operands) return plain();
  const std::string a = As(Type(e.type), Write(e.a)).text;
  return {fmt::format("{} {} {}", a, op, WriteAt(e.b, level - 1)), level};
}

// Division that rounds down. Shifts round down; C's division does so if nothing is negative.
KernelWriter::Text KernelWriter::WriteDivision(const ir::Binary& e, const Expr& self) {
  const bool div = e.kind == ExprKind::kDiv;
  const int64_t* divisor = ir::AsIntImm(e.b);
  const bool unsigned_type = e.type.is_uint();
  if (!unsigned_type && divisor && *divisor > 0 && std::has_single_bit(static_cast<uint64_t>(*divisor))) {
    const int shift = std::countr_zero(static_cast<uint64_t>(*divisor));
    Text result =
        div ? Text{fmt::format("{} >> {}", WriteAt(e.a, kMul), shift), kShift}
            : Text{fmt::format("{} & {}", WriteAt(e.a, kMul), WriteInt(*divisor - 1, e.type, true).text), kBitAnd};
    return Narrow(self) && !Narrow(e.a) ? As("int", result) : result;
  }
  const bool positive = divisor && *divisor > 0 && facts_.RangeOf(e.a).min >= 0;
  if (unsigned_type || positive) {
    const std::string a = WriteAt(e.a, kMul);
    Text result{fmt::format("{} {} {}", a, div ? "/" : "%", WriteAt(e.b, kUnary)), kMul};
    const bool wide = IsIndex(self) && !(Narrow(e.a) && Narrow(e.b));
    return Narrow(self) && wide ? As("int", result) : result;
  }
  const bool wide = e.type.bits == 64 && !(Narrow(e.a) && Narrow(e.b));
  const std::string type = wide ? dialect_.int64 : "int";
  const std::string u = wide ? dialect_.uint64 : "unsigned int";
  const std::string name = fmt::format("hone_floor_{}_i{}", div ? "div" : "mod", wide ? 64 : 32);
  // Dividing the smallest number by -1 would overflow.
  const std::string rest = fmt::format("{0} r = a % b; bool below = r != 0 && (r < 0) != (b < 0);", type);
  if (div) {
    Helper(name, fmt::format("{0} {1}({0} a, {0} b) {{ if (b == -1) return ({0})(0 - ({2})a); {3} "
                             "return a / b - (below ? 1 : 0); }}",
                             type, name, u, rest));
  } else {
    Helper(name, fmt::format("{0} {1}({0} a, {0} b) {{ if (b == -1) return 0; {2} return below ? r + b : r; }}", type,
                             name, rest));
  }
  const std::string a = WriteAt(e.a, kAny);
  Text result{fmt::format("{}({}, {})", name, a, WriteAt(e.b, kAny)), kPrimary};
  if (IsIndex(self)) {
    if (wide && Narrow(self)) return As("int", result);
    if (!wide && !Narrow(self)) return As(Type(e.type), result);
    return result;
  }
  return e.type.bits < 32 ? As(Type(e.type), result) : result;
}

KernelWriter::Text KernelWriter::WriteCast(const ir::Cast& e) {
  const DType from = e.value.type();
  if (from == e.type) return Write(e.value);
  if (e.type.is_bool()) return {WriteAt(e.value, kShift) + " != 0", kEqual};
  const Expr self(&e);
  Text value = Write(e.value);
  if (e.type == DType::Int(64)) {
    const bool is_int = from.is_int() && from.bits <= 32;
    if (Narrow(self)) return is_int ? value : As("int", value);
    return As(Type(e.type), value);
  }
  if (e.type == DType::Int(32) && Narrow(e.value)) return value;
  return As(Type(e.type), value);
}

KernelWriter::Text KernelWriter::WriteChoice(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  std::string text = WriteAt(condition, kAndAnd - 1);
  text += " ? " + WriteAt(if_true, kAndAnd - 1);
  return {text + " : " + WriteAt(if_false, kAndAnd - 1), kChoice};
}

KernelWriter::Text KernelWriter::WriteCall(const ir::Call& e) {
  if (e.fn == Intrinsic::kIfThenElse) return WriteChoice(e.args[0], e.args[1], e.args[2]);
  if (!e.type.is_float()) {
    if (e.fn != Intrinsic::kAbs) Fail(fmt::format("{} of {}", ir::IntrinsicName(e.fn), ToString(e.type)));
    if (!e.type.is_int()) return Write(e.args[0]);
    const int bits = e.type.bits == 64 ? 64 : 32;
    const std::string type = bits == 64 ? dialect_.int64 : "int";
    const std::string u = bits == 64 ? dialect_.uint64 : "unsigned int";
    const std::string name = fmt::format("hone_abs_i{}", bits);
    Helper(name, fmt::format("{0} {1}({0} a) {{ return a < 0 ? ({0})(0 - ({2})a) : a; }}", type, name, u));
    Text result{fmt::format("{}({})", name, WriteAt(e.args[0], kAny)), kPrimary};
    return e.type.bits < 32 ? As(Type(e.type), result) : result;
  }
  (void)Type(e.type);
  if (e.fn == Intrinsic::kTf32 && dialect_.tf32) {
    needs_->helpers.insert(dialect_.tf32);
    return {fmt::format("hone_tf32({})", WriteAt(e.args[0], kAny)), kPrimary};
  }
  if (e.fn == Intrinsic::kTf32 || e.fn == Intrinsic::kMmaTf32) {
    Fail(fmt::format("{} is for CUDA from sm_80 on", ir::IntrinsicName(e.fn)));
  }
  const bool abs = e.fn == Intrinsic::kAbs, round = e.fn == Intrinsic::kRound;
  std::string text = abs ? "fabs" : round ? "rint" : ir::IntrinsicName(e.fn);
  if (dialect_.float_suffix && e.type.bits == 32) text += "f";
  text += "(";
  for (size_t i = 0; i < e.args.size(); ++i) text += (i ? ", " : "") + WriteAt(e.args[i], kAny);
  return {text + ")", kPrimary};
}

}  // namespace hone::codegen
