// Statements of the loop-level program, and functions. ir/expr.h defines expressions.
//
// - For runs its body for var = min .. min+extent-1, and not at all if extent <= 0. Serial: in order. Parallel: in any
//   order, on any threads; no iteration may write what another one reads or writes. Vectorized and unrolled mean the
//   same as serial but must be gone before code generation (lower/vectorize.cc, lower/unroll.cc). Bound to a GPU index:
//   same as parallel.
// - Allocate gives its body a buffer with undefined content. Inside a parallel loop the buffer belongs to the thread.
// - Store writes `value` at `index`; with a vector index, lane by lane.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace hone::ir {

enum class StmtKind : uint8_t { kStore, kFor, kBlock, kIf, kAllocate, kEvaluate, kPragma, kBarrier };

struct StmtNode {
  explicit StmtNode(StmtKind k) : kind(k) {}
  virtual ~StmtNode() = default;
  StmtNode(const StmtNode&) = delete;
  StmtNode& operator=(const StmtNode&) = delete;
  const StmtKind kind;
  mutable std::atomic<int> refs{0};
};

class Stmt : public Handle<StmtNode> {
 public:
  using Handle::Handle;
  StmtKind kind() const { return get()->kind; }
  template <typename T>
  const T* as() const {
    return defined() && T::Is(get()->kind) ? static_cast<const T*>(get()) : nullptr;
  }
};

// Base of the nodes of one kind.
template <StmtKind kOwn>
struct StmtOf : StmtNode {
  StmtOf() : StmtNode(kOwn) {}
  static bool Is(StmtKind kind) { return kind == kOwn; }
};

struct Store final : StmtOf<StmtKind::kStore> {
  Store(Buffer b, Expr i, Expr v) : buffer(std::move(b)), index(std::move(i)), value(std::move(v)) {}
  const Buffer buffer;
  const Expr index, value;
  HONE_IR_FIELDS(buffer, index, value)
};

enum class ForKind : uint8_t {
  kSerial,
  kParallel,
  kVectorized,
  kUnrolled,
  kBlockX,
  kBlockY,
  kBlockZ,
  kThreadX,
  kThreadY,
  kThreadZ,
  kVThread
};

inline bool IsBlockLoop(ForKind kind) { return kind >= ForKind::kBlockX && kind <= ForKind::kBlockZ; }
inline bool IsThreadLoop(ForKind kind) { return kind >= ForKind::kThreadX && kind <= ForKind::kThreadZ; }

struct For final : StmtOf<StmtKind::kFor> {
  For(Var v, Expr m, Expr e, ForKind k, Stmt b)
      : var(std::move(v)), min(std::move(m)), extent(std::move(e)), for_kind(k), body(std::move(b)) {}
  const Var var;
  const Expr min, extent;
  const ForKind for_kind;
  const Stmt body;
  HONE_IR_FIELDS(for_kind, min, extent, var, body)
};

struct Block final : StmtOf<StmtKind::kBlock> {  // in order; never nested directly; an empty one means "nothing to do"
  explicit Block(std::vector<Stmt> s) : stmts(std::move(s)) {}
  const std::vector<Stmt> stmts;
  HONE_IR_FIELDS(stmts)
};

struct If final : StmtOf<StmtKind::kIf> {
  If(Expr c, Stmt t, Stmt e) : condition(std::move(c)), then_case(std::move(t)), else_case(std::move(e)) {}
  const Expr condition;  // scalar bool
  const Stmt then_case;
  const Stmt else_case;  // may be null
  HONE_IR_FIELDS(condition, then_case, else_case)
};

struct Allocate final : StmtOf<StmtKind::kAllocate> {
  Allocate(Buffer b, Stmt s) : buffer(std::move(b)), body(std::move(s)) {}
  const Buffer buffer;
  const Stmt body;
  HONE_IR_FIELDS(buffer, body)
};

struct Evaluate final : StmtOf<StmtKind::kEvaluate> {  // for its effect (prefetch)
  explicit Evaluate(Expr v) : value(std::move(v)) {}
  const Expr value;
  HONE_IR_FIELDS(value)
};

// A note on `body` for later passes or the back end; ignoring it never changes what the program means.
struct Pragma final : StmtOf<StmtKind::kPragma> {
  Pragma(std::string k, Expr v, Stmt b) : key(std::move(k)), value(std::move(v)), body(std::move(b)) {}
  const std::string key;
  const Expr value;
  const Stmt body;
  HONE_IR_FIELDS(key, value, body)
};

struct Barrier final : StmtOf<StmtKind::kBarrier> {  // GPU: of all threads of a block
  HONE_IR_FIELDS()
};

// X(kind) for every kind of statement; its struct has the same name.
#define HONE_IR_STMTS(X) X(Store) X(For) X(Block) X(If) X(Allocate) X(Evaluate) X(Pragma) X(Barrier)

Stmt MakeStore(Buffer buffer, Expr index, Expr value);  // checks types and lanes
Stmt MakeFor(Var var, Expr min, Expr extent, ForKind kind, Stmt body);
Stmt MakeBlock(std::vector<Stmt> stmts);  // flattens, drops nulls; a single statement is returned as it is
Stmt MakeIf(Expr condition, Stmt then_case, Stmt else_case = Stmt());
Stmt MakeAllocate(Buffer buffer, Stmt body);
Stmt MakeEvaluate(Expr value);
Stmt MakePragma(std::string key, Expr value, Stmt body);
Stmt MakeBarrier();
bool IsEmpty(const Stmt& stmt);  // null or an empty Block

// One kernel: its arguments in calling order, and its body.
struct Function {
  std::string name;            // a C identifier
  std::vector<Buffer> params;  // all Scope::kArgument
  Stmt body;
};

}  // namespace hone::ir
