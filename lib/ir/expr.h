// Expressions of Hone's loop-level program: immutable nodes behind value handles.
//
// The interpreter (tests/interpreter) defines what a program means, and every back end must agree with it:
// - Integers are two's complement of their width; add, sub and mul wrap. Index arithmetic is i64 throughout.
// - Div and Mod of integers round towards minus infinity (floor); the divisor is never 0. On floats Div is IEEE, Mod is
//   not defined.
// - ShiftLeft and ShiftRight of integers move bits; the amount lies between 0 and the width less 1. Left drops what
//   leaves the width (wraps); right keeps the sign of signed integers, and so rounds x / 2^n towards minus infinity.
// - Floats follow IEEE 754; a back end may contract a*b+c into one rounding, but may not reorder operations. Min and
//   Max return the second operand if either is NaN (`a < b ? a : b`, `a > b ? a : b`), as the x86 instructions do.
// - A Cast of a float to an integer rounds towards zero; the result is unspecified if it does not fit. Int to int
//   wraps.
// - Select evaluates both sides (no memory access in it may be out of bounds); kIfThenElse of Call evaluates only one.
// - And and Or evaluate both sides. Conditions are bool. Comparing vectors gives a vector of bool.
// - A vector value has lanes > 1; every operand of an operation has the same lanes (Broadcast makes them so).
// - Load reads element `index` of a buffer, in elements from its start; with a vector index it reads each lane. A Ramp
//   index of stride 1 is one contiguous access. Buffers of a function do not overlap, except for an argument that is
//   marked in place.
//
// Nodes are shared and never change, so handles are cheap to copy and safe to read from several threads. A pass returns
// the same handle if it changed nothing: same_as() tells whether it did.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace hone::ir {

enum class ExprKind : uint8_t {
  kIntImm,
  kFloatImm,
  kVar,
  kCast,
  // Binary:
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kShiftLeft,
  kShiftRight,
  kMin,
  kMax,
  // Binary, result bool:
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  // Others:
  kNot,
  kSelect,
  kLoad,
  kRamp,
  kBroadcast,
  kCall,
  kAccess,  // te only: a tensor read at a multi-dimensional index
  kReduce,  // te only: the root of a computation
};

// Base of all nodes: an intrusive atomic count, as nodes are shared everywhere and must cost one pointer.
struct ExprNode {
  ExprNode(ExprKind k, DType t) : kind(k), type(t) {}
  virtual ~ExprNode() = default;
  ExprNode(const ExprNode&) = delete;
  ExprNode& operator=(const ExprNode&) = delete;

  const ExprKind kind;
  const DType type;
  mutable std::atomic<int> refs{0};
};

// A counted handle to an immutable node; null when default-constructed.
template <typename Node>
class Handle {
 public:
  Handle() = default;
  explicit Handle(const Node* node) : node_(node) { Retain(); }
  Handle(const Handle& other) : node_(other.node_) { Retain(); }
  Handle(Handle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Handle() {
    if (node_ && node_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  bool defined() const { return node_ != nullptr; }
  const Node* get() const { return node_; }
  const Node* operator->() const { return node_; }
  bool same_as(const Handle& other) const { return node_ == other.node_; }

 private:
  void Retain() {
    if (node_) node_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  const Node* node_ = nullptr;
};

class Expr : public Handle<ExprNode> {
 public:
  using Handle::Handle;
  Expr() = default;
  Expr(int value);      // NOLINT: i64 immediate, so that `i * 4 + 1` reads as it should
  Expr(int64_t value);  // NOLINT: i64 immediate
  ExprKind kind() const { return get()->kind; }
  DType type() const { return get()->type; }
  // The node as a T if it is one, else null. T is one of the node structs below.
  template <typename T>
  const T* as() const {
    return defined() && T::Is(get()->kind) ? static_cast<const T*>(get()) : nullptr;
  }
};

// A node's fields in the order of evaluation. Comparing, hashing and walking programs (ir/walk.h) know nothing else of
// a node. A field that is a Var, or a list of axes, is bound there: the later fields may use it.
#define HONE_IR_FIELDS(...) \
  auto fields() const { return std::tie(__VA_ARGS__); }

// Base of the nodes of one kind.
template <ExprKind kOwn>
struct ExprOf : ExprNode {
  explicit ExprOf(DType t) : ExprNode(kOwn, t) {}
  static bool Is(ExprKind kind) { return kind == kOwn; }
};

struct IntImm final : ExprOf<ExprKind::kIntImm> {  // also bool (0 or 1)
  IntImm(DType t, int64_t v) : ExprOf(t), value(v) {}
  const int64_t value;
  HONE_IR_FIELDS(value)
};

struct FloatImm final : ExprOf<ExprKind::kFloatImm> {
  FloatImm(DType t, double v) : ExprOf(t), value(v) {}
  const double value;
  HONE_IR_FIELDS(value)
};

// The node is the identity, not the name; names are for reading and need not be unique.
struct VarNode final : ExprOf<ExprKind::kVar> {
  VarNode(DType t, std::string n) : ExprOf(t), name(std::move(n)) {}
  const std::string name;
  HONE_IR_FIELDS()
};

class Var : public Expr {
 public:
  Var() = default;
  explicit Var(std::string name, DType type = DType::Int(64)) : Expr(new VarNode(type, std::move(name))) {}
  explicit Var(const VarNode* node) : Expr(node) {}
  const VarNode* node() const { return static_cast<const VarNode*>(get()); }
  const std::string& name() const { return node()->name; }
};

struct Cast final : ExprOf<ExprKind::kCast> {
  Cast(DType t, Expr v) : ExprOf(t), value(std::move(v)) {}
  const Expr value;
  HONE_IR_FIELDS(value)
};

// All of kAdd .. kOr.
struct Binary final : ExprNode {
  static bool Is(ExprKind kind) { return kind >= ExprKind::kAdd && kind <= ExprKind::kOr; }
  Binary(ExprKind k, DType t, Expr x, Expr y) : ExprNode(k, t), a(std::move(x)), b(std::move(y)) {}
  const Expr a, b;
  HONE_IR_FIELDS(a, b)
};

struct Not final : ExprOf<ExprKind::kNot> {
  explicit Not(Expr x) : ExprOf(x.type()), a(std::move(x)) {}
  const Expr a;
  HONE_IR_FIELDS(a)
};

struct Select final : ExprOf<ExprKind::kSelect> {
  Select(Expr c, Expr t, Expr f)
      : ExprOf(t.type()), condition(std::move(c)), if_true(std::move(t)), if_false(std::move(f)) {}
  const Expr condition, if_true, if_false;
  HONE_IR_FIELDS(condition, if_true, if_false)
};

// Where a buffer lives.
enum class Scope : uint8_t {
  kArgument,   // passed by the caller
  kWorkspace,  // shared by all threads of one call
  kScratch,    // private to a thread
  kRegister,   // private; every access is at constant indices, so that it needs no memory (falls back to the stack)
  kShared,     // GPU: shared by a block
};

struct BufferNode {
  std::string name;
  DType type;        // of one element, lanes == 1
  int64_t size = 0;  // elements
  Scope scope = Scope::kArgument;
  bool written = false;  // an argument that the function writes
  mutable std::atomic<int> refs{0};
};

// The node is the identity.
class Buffer : public Handle<BufferNode> {
 public:
  using Handle::Handle;
  Buffer() = default;
  static Buffer Make(std::string name, DType type, int64_t size, Scope scope, bool written = false);
  const std::string& name() const { return get()->name; }
};

struct Load final : ExprOf<ExprKind::kLoad> {
  Load(Buffer buf, Expr i) : ExprOf(buf->type.WithLanes(i.type().lanes)), buffer(std::move(buf)), index(std::move(i)) {}
  const Buffer buffer;
  const Expr index;
  HONE_IR_FIELDS(buffer, index)
};

// base, base + stride, ..., base + (lanes-1)*stride; base and stride are scalars.
struct Ramp final : ExprOf<ExprKind::kRamp> {
  Ramp(Expr b, Expr s, int lanes) : ExprOf(b.type().WithLanes(lanes)), base(std::move(b)), stride(std::move(s)) {}
  const Expr base, stride;
  HONE_IR_FIELDS(base, stride)
};

struct Broadcast final : ExprOf<ExprKind::kBroadcast> {
  Broadcast(Expr v, int lanes) : ExprOf(v.type().WithLanes(lanes)), value(std::move(v)) {}
  const Expr value;
  HONE_IR_FIELDS(value)
};

enum class Intrinsic : uint8_t {
  kExp,
  kLog,
  kSqrt,
  kTanh,
  kErf,
  kAbs,
  kFloor,
  kCeil,
  kRound,
  kPow,
  kFma,         // elementwise on floats; kRound: ties to even
  kIfThenElse,  // (condition, a, b): evaluates only the chosen one; the condition is scalar, a and b may be vectors
  kPrefetch,    // (load, locality 0..3): brings the address of `load` near; no value. Statement position only
  // Rounds to the nearest f32 that TF32, with its 10 bits of mantissa, can represent; ties go away from zero.
  kTf32,
  // (a: f32 x 4, b: f32 x 2, c: f32 x 4): D = A B + C of 16x8, 8x8 and 16x8 values that the 32 threads of a warp hold
  // together. Thread 4 g + t has
  //   a: A[g, t], A[g+8, t], A[g, t+4], A[g+8, t+4]     b: B[t, g], B[t+4, g]
  //   c and the result: [g, 2t], [g, 2t+1], [g+8, 2t], [g+8, 2t+1]
  // TF32 must be able to represent all values of A and B. Products are exact; the rounding of their sum with C is
  // unspecified. It is the whole value of a Store, only on a device that has the instruction; all threads of a block
  // must reach it together.
  kMmaTf32,
  // (c: i32 x n, a: i8 or u8 x 4n or 4, b: i8 x 4n): lane i of the result is c[i] plus the sum of a[4i+q] * b[4i+q]
  // over q = 0 .. 3, in wrapping i32. Each lane takes the same values of an `a` with 4 lanes.
  kDot4,
};

struct Call final : ExprOf<ExprKind::kCall> {
  Call(DType t, Intrinsic f, std::vector<Expr> a) : ExprOf(t), fn(f), args(std::move(a)) {}
  const Intrinsic fn;
  const std::vector<Expr> args;
  HONE_IR_FIELDS(fn, args)
};

// A te tensor as the ir knows it: a name, an element type and a shape (elements an axis).
struct TensorNode {
  TensorNode(std::string n, DType t, std::vector<int64_t> s) : name(std::move(n)), type(t), shape(std::move(s)) {}
  virtual ~TensorNode() = default;
  const std::string name;
  const DType type;
  const std::vector<int64_t> shape;
  mutable std::atomic<int> refs{0};
};
using TensorHandle = Handle<TensorNode>;

struct Access final : ExprOf<ExprKind::kAccess> {
  Access(TensorHandle t, std::vector<Expr> i) : ExprOf(t->type), tensor(std::move(t)), indices(std::move(i)) {}
  const TensorHandle tensor;
  const std::vector<Expr> indices;  // one for each axis
  HONE_IR_FIELDS(tensor, indices)
};

// An axis with its range [0, extent). Shapes are static.
struct IterVar {
  Var var;
  int64_t extent = 0;
};

enum class Reducer : uint8_t { kSum, kMax, kMin };

struct Reduce final : ExprOf<ExprKind::kReduce> {
  Reduce(Reducer r, std::vector<IterVar> ax, Expr b)
      : ExprOf(b.type()), reducer(r), axes(std::move(ax)), body(std::move(b)) {}
  const Reducer reducer;
  const std::vector<IterVar> axes;
  const Expr body;
  HONE_IR_FIELDS(reducer, axes, body)
};

// X(kind) for every kind of node whose struct has that name: all except kVar (VarNode) and kAdd to kOr (Binary).
#define HONE_IR_EXPRS(X) \
  X(IntImm) X(FloatImm) X(Cast) X(Not) X(Select) X(Load) X(Ramp) X(Broadcast) X(Call) X(Access) X(Reduce)

// Makers. Binary makers check that types agree (HONE_CHECK), broadcast a scalar against a vector, convert an IntImm to
// the other side's type, and fold constants. Further simplification is in arith/simplify.h.
Expr Imm(DType type, double value);       // integer, float or bool; a vector type gives a Broadcast
Expr MakeInt(DType type, int64_t value);  // integer or bool, wrapped to the width; a vector type gives a Broadcast
Expr MakeBinary(ExprKind kind, Expr a, Expr b);
Expr MakeCast(DType type, Expr value);
Expr MakeNot(Expr a);
Expr MakeSelect(Expr condition, Expr if_true, Expr if_false);
Expr MakeLoad(Buffer buffer, Expr index);
Expr MakeRamp(Expr base, Expr stride, int lanes);
Expr MakeBroadcast(Expr value, int lanes);
Expr MakeCall(DType type, Intrinsic fn, std::vector<Expr> args);
Expr MakeIfThenElse(Expr condition, Expr if_true, Expr if_false);  // the Call of that name
int IntrinsicArity(Intrinsic fn);

inline Expr operator+(Expr a, Expr b) { return MakeBinary(ExprKind::kAdd, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return MakeBinary(ExprKind::kSub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return MakeBinary(ExprKind::kMul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return MakeBinary(ExprKind::kDiv, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return MakeBinary(ExprKind::kMod, std::move(a), std::move(b)); }
inline Expr ShiftLeft(Expr a, Expr b) { return MakeBinary(ExprKind::kShiftLeft, std::move(a), std::move(b)); }
inline Expr ShiftRight(Expr a, Expr b) { return MakeBinary(ExprKind::kShiftRight, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return MakeBinary(ExprKind::kLt, std::move(a), std::move(b)); }
inline Expr operator<=(Expr a, Expr b) { return MakeBinary(ExprKind::kLe, std::move(a), std::move(b)); }
inline Expr operator>(Expr a, Expr b) { return MakeBinary(ExprKind::kGt, std::move(a), std::move(b)); }
inline Expr operator>=(Expr a, Expr b) { return MakeBinary(ExprKind::kGe, std::move(a), std::move(b)); }
inline Expr operator&&(Expr a, Expr b) { return MakeBinary(ExprKind::kAnd, std::move(a), std::move(b)); }
inline Expr operator||(Expr a, Expr b) { return MakeBinary(ExprKind::kOr, std::move(a), std::move(b)); }
inline Expr Eq(Expr a, Expr b) { return MakeBinary(ExprKind::kEq, std::move(a), std::move(b)); }
inline Expr Ne(Expr a, Expr b) { return MakeBinary(ExprKind::kNe, std::move(a), std::move(b)); }
inline Expr Min(Expr a, Expr b) { return MakeBinary(ExprKind::kMin, std::move(a), std::move(b)); }
inline Expr Max(Expr a, Expr b) { return MakeBinary(ExprKind::kMax, std::move(a), std::move(b)); }

// The value if `e` is an integer immediate.
const int64_t* AsIntImm(const Expr& e);

}  // namespace hone::ir
