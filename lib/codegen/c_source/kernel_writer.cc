#include "codegen/c_source/kernel_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/walk.h"

namespace hone::codegen {

using ir::Expr;
using ir::Scope;
using ir::Stmt;

namespace {

constexpr int64_t kPrivateElements = 512;  // larger arrays do not fit into registers
constexpr int64_t kLoopOfItsOwn = 32;      // with this many steps per iteration, unrolling a loop gains nothing
constexpr int64_t kUnrolledSteps = 8192;   // above this, compiling the text takes too long

// Words of both dialects and names of called functions, which a buffer or variable might have as well.
bool IsReserved(const std::string& name) {
  static const std::set<std::string> words = {
      "abs",      "auto",      "bool",     "break",    "ceil",     "char",   "const",    "constant", "continue",
      "double",   "else",      "erf",      "exp",      "extern",   "fabs",   "false",    "float",    "floor",
      "fma",      "fmax",      "fmin",     "for",      "global",   "goto",   "half",     "if",       "image",
      "inline",   "int",       "kernel",   "local",    "log",      "long",   "max",      "min",      "pow",
      "private",  "read_only", "register", "restrict", "return",   "rint",   "short",    "signed",   "sizeof",
      "sqrt",     "static",    "struct",   "switch",   "tanh",     "true",   "uint",     "union",    "unsigned",
      "using",    "void",      "volatile", "while",    "INFINITY", "NAN",    "barrier",  "blockIdx", "threadIdx",
      "blockDim", "gridDim",   "class",    "this",     "new",      "delete", "template", "operator", "sampler_t",
      "uchar",    "ushort",    "ulong",    "select",   "step",     "mix",    "clamp",    "sign",     "dot",
      "any",      "all"};
  return words.count(name) != 0;
}

bool IsPrivate(Scope scope) { return scope == Scope::kScratch || scope == Scope::kRegister; }

// Variables in indices of private arrays: the arrays stay in registers only if the loops of these variables are
// unrolled.
std::unordered_set<const ir::VarNode*> PrivateIndices(const Stmt& body) {
  std::unordered_set<const ir::VarNode*> vars;
  const auto access = [&](const auto& op) {
    if (!IsPrivate(op.buffer->scope) || op.buffer->size > kPrivateElements) return;
    for (const ir::Var& var : ir::FreeVars(op.index)) vars.insert(var.node());
  };
  ir::Walk(body, ir::Overloaded{[&](const ir::Load& op) { access(op); }, [&](const ir::Store& op) { access(op); },
                                [](const auto&) {}});
  return vars;
}

// The total number of steps of the innermost loops if every loop's extent is known; else -1.
int64_t StepsOf(const Stmt& s) {
  if (ir::IsEmpty(s)) return 0;
  switch (s.kind()) {
    case ir::StmtKind::kFor: {
      auto* loop = s.as<ir::For>();
      const int64_t* extent = ir::AsIntImm(loop->extent);
      const int64_t inner = StepsOf(loop->body);
      return extent && inner >= 0 && *extent < kUnrolledSteps ? std::max<int64_t>(*extent, 0) * inner : -1;
    }
    case ir::StmtKind::kBlock: {
      int64_t sum = 0;
      for (const Stmt& child : s.as<ir::Block>()->stmts) {
        const int64_t steps = StepsOf(child);
        if (steps < 0) return -1;
        sum += steps;
      }
      return sum;
    }
    case ir::StmtKind::kIf: {
      const int64_t a = StepsOf(s.as<ir::If>()->then_case), b = StepsOf(s.as<ir::If>()->else_case);
      return a < 0 || b < 0 ? -1 : a + b;
    }
    case ir::StmtKind::kAllocate:
      return StepsOf(s.as<ir::Allocate>()->body);
    case ir::StmtKind::kPragma:
      return StepsOf(s.as<ir::Pragma>()->body);
    default:
      return 1;
  }
}

bool HasBarrier(const Stmt& s) {
  bool found = false;
  ir::Walk(s, ir::Overloaded{[&](const ir::Barrier&) { found = true; }, [&](const auto&) { return !found; }});
  return found;
}

}  // namespace

std::string KernelWriter::Fresh(const std::string& name) {
  std::string clean;
  for (const char c : name) clean += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean[0]))) clean = "v" + clean;
  if (IsReserved(clean) || clean.rfind("hone_", 0) == 0) clean += "_";
  int& count = names_[clean];
  while (true) {
    const std::string candidate = count == 0 ? clean : fmt::format("{}_{}", clean, count);
    ++count;
    if (candidate == clean || names_.emplace(candidate, 1).second) return candidate;
  }
}

void KernelWriter::Declare(const ir::Buffer& buffer) {
  buffers_[buffer.get()] = {Fresh(buffer.name()), IsPrivate(buffer->scope)};
}

void KernelWriter::DeclareIndices(const ir::DeviceKernel& kernel) {
  const auto declare = [&](const ir::Var& var, int64_t extent, const char* source) {
    if (!var.defined() || !ir::UsesVar(kernel.body, var)) return;
    facts_.Bind(var.node(), {0, extent - 1});
    vars_[var.node()] = {"0", 0};
    if (extent == 1) return;
    const std::string name = Fresh(var.name());
    Line(fmt::format("const int {} = {};", name, source));
    vars_[var.node()] = {name, 0};
  };
  for (int i = 0; i < 3; ++i) declare(kernel.block_index[i], kernel.grid[i], dialect_.block_index[i]);
  for (int i = 0; i < 3; ++i) declare(kernel.thread_index[i], kernel.block[i], dialect_.thread_index[i]);
}

void KernelWriter::DeclareShared(const ir::DeviceKernel& kernel, int64_t* dynamic_shared) {
  const bool at_launch = kernel.shared_bytes > dialect_.static_shared_limit;
  *dynamic_shared = at_launch ? kernel.shared_bytes : 0;
  if (at_launch) Line(dialect_.dynamic_shared);
  int64_t offset = 0;
  for (const ir::Buffer& buffer : kernel.shared) {
    Declare(buffer);
    const std::string type = MemoryType(buffer->type);
    const std::string& name = buffers_[buffer.get()].name;
    if (at_launch) {
      Line(
          fmt::format("{0}{1}* const {2} = ({0}{1}*)(hone_shared + {3});", dialect_.shared_prefix, type, name, offset));
    } else {
      Line(fmt::format("{}{} {}[{}];", dialect_.shared_array, type, name, std::max<int64_t>(buffer->size, 1)));
    }
    offset += (buffer->size * buffer->type.element_bytes() + 15) / 16 * 16;
  }
}

Result<std::string> KernelWriter::Write(const ir::DeviceKernel& kernel, int64_t* dynamic_shared) {
  const std::vector<ir::Buffer> read = ir::BuffersRead(kernel.body), written = ir::BuffersWritten(kernel.body);
  const auto holds = [](const std::vector<ir::Buffer>& list, const ir::Buffer& b) {
    return std::ranges::any_of(list, [&](const ir::Buffer& x) { return x.same_as(b); });
  };
  std::string params;
  for (const ir::Buffer& buffer : kernel.params) {
    Declare(buffer);
    global_fence_ = global_fence_ || (holds(read, buffer) && holds(written, buffer));
    params += fmt::format("{}{}{}{}* {} {}", params.empty() ? "" : ", ", dialect_.global_prefix,
                          holds(written, buffer) ? "" : "const ", MemoryType(buffer->type), dialect_.restrict_word,
                          buffers_[buffer.get()].name);
  }
  private_index_ = PrivateIndices(kernel.body);
  DeclareShared(kernel, dynamic_shared);
  DeclareIndices(kernel);
  WriteStmt(kernel.body);
  if (!status_.ok()) return status_.WithContext("kernel `" + kernel.name + "`");
  return fmt::format("{}({}) {{\n{}}}\n", dialect_.kernel_head(kernel.name, kernel.block), params, out_);
}

void KernelWriter::Define(const ir::Var& var, const Expr& value) {
  if (value.kind() == ir::ExprKind::kIntImm) {  // an immediate needs no name
    vars_[var.node()] = Write(value);
    facts_.Bind(var.node(), facts_.RangeOf(value), facts_.DivisorOf(value));
    return;
  }
  const std::string type = IntType(value);
  const arith::ConstInterval range = facts_.RangeOf(value);
  const int64_t divisor = facts_.DivisorOf(value);
  const std::string text = WriteAt(value, 99);
  const std::string name = Fresh(var.name());
  Line(fmt::format("const {} {} = {};", type, name, text));
  vars_[var.node()] = {name, 0};
  if (!value.type().is_float()) facts_.Bind(var.node(), range, divisor);
}

bool KernelWriter::Unrolled(const ir::For& loop) {
  if (loop.for_kind == ir::ForKind::kUnrolled) return true;
  const int64_t steps = StepsOf(Stmt(&loop));
  if (steps < 0) return false;
  // With a barrier in each step, unrolling saves nothing and gives each step registers of its own.
  if (steps <= unroll_limit_) return true;
  return private_index_.count(loop.var.node()) != 0 && steps <= kUnrolledSteps && !HasBarrier(loop.body);
}

void KernelWriter::WriteFor(const ir::For& loop) {
  const int64_t* extent = ir::AsIntImm(loop.extent);
  const int64_t* min = ir::AsIntImm(loop.min);
  const int64_t rounds = unroll_next_;
  unroll_next_ = 0;
  if (extent && *extent <= 0) return;
  if (extent && *extent == 1) {
    Define(loop.var, loop.min);
    WriteStmt(loop.body);
    return;
  }
  const Expr end = ir::MakeBinary(ir::ExprKind::kAdd, loop.min, loop.extent);
  const arith::ConstInterval low = facts_.RangeOf(loop.min), high = facts_.RangeOf(end);
  const int64_t last = high.max == arith::ConstInterval::kPlusInf ? high.max : std::max(low.min, high.max - 1);
  std::string end_text = WriteAt(end, 5);
  const bool narrow = Narrow(loop.min) && Narrow(end) && last < INT32_MAX;
  if (!ir::AsIntImm(end) && !end.as<ir::VarNode>()) {
    const std::string name = Fresh(loop.var.name() + "_end");
    Line(fmt::format("const {} {} = {};", IntType(end), name, end_text));
    end_text = name;
  }
  const std::string begin = min ? WriteInt(*min, DType::Int(64), narrow).text : WriteAt(loop.min, 99);
  const std::string name = Fresh(loop.var.name());
  const bool partly = rounds > 0 && !(extent && *extent <= rounds);
  if (partly) {
    Line(fmt::format("#pragma unroll {}", rounds));
  } else if (rounds > 0 || Unrolled(loop)) {
    Line("#pragma unroll");
  } else if (const int64_t steps = StepsOf(loop.body); steps < 0 || steps >= kLoopOfItsOwn || HasBarrier(loop.body)) {
    Line("#pragma unroll 1");  // explicit, as compilers would unroll some loops, at a cost of minutes and registers
  }
  Line(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1}) {{", narrow ? "int" : Type(DType::Int(64)), name, begin,
                   end_text));
  vars_[loop.var.node()] = {name, 0};
  facts_.Bind(loop.var.node(), narrow ? arith::ConstInterval{low.min, last} : arith::ConstInterval{});
  ++indent_;
  WriteStmt(loop.body);
  --indent_;
  Line("}");
}

bool KernelWriter::WriteAsyncCopy(const ir::Store& store) {
  if (store.buffer->scope != Scope::kShared || store.buffer->type != DType::Float(32)) return false;
  Expr inside, value = store.value;
  // Elements outside are zero.
  while (const auto* choice = value.as<ir::Call>()) {
    if (choice->fn != ir::Intrinsic::kIfThenElse || !choice->args[0].type().is_scalar()) return false;
    Expr zero = choice->args[2];
    if (const auto* same = zero.as<ir::Broadcast>()) zero = same->value;
    const auto* number = zero.as<ir::FloatImm>();
    if (!number || number->value != 0) return false;
    inside = inside.defined() ? inside && choice->args[0] : choice->args[0];
    value = choice->args[1];
  }
  const auto* load = value.as<ir::Load>();
  if (!load || IsPrivate(load->buffer->scope) || load->buffer->scope == Scope::kShared) return false;
  const int lanes = store.index.type().lanes;
  const int chunk = lanes == 1 ? 1 : std::min(Chunk(store.buffer, store.index), Chunk(load->buffer, load->index));
  if (lanes > 1 && (chunk != 4 || lanes != 4)) return false;
  const Expr to = lanes == 1 ? store.index : store.index.as<ir::Ramp>()->base;
  const Expr from = lanes == 1 ? load->index : load->index.as<ir::Ramp>()->base;
  const int bytes = 4 * chunk;
  needs_->helpers.insert(dialect_.async_copy(bytes));
  Line(fmt::format("hone_copy_async_{}({} + {}, {} + {}, {});", bytes, buffers_[store.buffer.get()].name,
                   WriteAt(to, 4), buffers_[load->buffer.get()].name, WriteAt(from, 4),
                   inside.defined() ? WriteAt(inside, 99) : "true"));
  return true;
}

// Its lanes are passed as arguments, and the results are written directly to where they are stored.
void KernelWriter::WriteWarpProduct(const ir::Store& store, const ir::Call& product) {
  if (!dialect_.mma_tf32) return Fail("mma_tf32 is for CUDA from sm_80 on");
  needs_->helpers.insert(dialect_.mma_tf32);
  std::string list;
  for (int i = 0; i < product.type.lanes; ++i) list += (i ? ", " : "") + Access(store.buffer, LaneOf(store.index, i));
  for (const Expr& arg : product.args) {
    for (int i = 0; i < arg.type().lanes; ++i) list += ", " + WriteAt(LaneOf(arg, i), 99);
  }
  Line(fmt::format("hone_mma_tf32({});", list));
}

void KernelWriter::WriteStore(const ir::Store& store) {
  if (const ir::Call* product = ir::WarpProductOf(Stmt(&store))) return WriteWarpProduct(store, *product);
  if (in_group_ && WriteAsyncCopy(store)) return;
  const auto assign = [&](const Expr& index, const Expr& value) {
    std::string text = WriteAt(value, 99);
    if (value.type().is_bool()) text = fmt::format("({}) ? 1 : 0", text);
    Line(fmt::format("{} = {};", Access(store.buffer, index), text));
  };
  if (store.value.type().is_scalar() && store.index.type().is_scalar()) return assign(store.index, store.value);
  const size_t mark = kept_.size();
  const int lanes = store.index.type().lanes;
  Hoist(store.value);
  Hoist(store.index);
  std::vector<Expr> values, places;
  for (int i = 0; i < lanes; ++i) values.push_back(LaneOf(store.value, i));
  for (int i = 0; i < lanes; ++i) places.push_back(LaneOf(store.index, i));
  // All lanes must be computed before the first is stored: move what reads the stored buffer into variables.
  const auto settle = [&](const Expr& e, std::vector<Expr>* parts) {
    const std::vector<ir::Buffer> read = ir::BuffersRead(e);
    if (std::ranges::none_of(read, [&](const ir::Buffer& b) { return b.same_as(store.buffer); })) return false;
    for (Expr& part : *parts) {
      const ir::Var lane("lane", part.type());
      Define(lane, part);
      part = lane;
    }
    return true;
  };
  settle(store.value, &values);
  const int chunk = settle(store.index, &places) ? 1 : Chunk(store.buffer, store.index);
  if (chunk > 1) {
    const std::string type = VectorType(store.buffer, chunk);
    const Expr base = store.index.as<ir::Ramp>()->base;
    for (int first = 0; first < lanes; first += chunk) {
      std::string list;
      for (int i = 0; i < chunk; ++i) list += (i ? ", " : "") + WriteAt(values[static_cast<size_t>(first + i)], 99);
      const std::string at = VectorAt(store.buffer, first ? base + Expr(first) : base, chunk, true);
      Line(fmt::format("{} = {}{}{}{});", at, dialect_.vector_make[0], type, dialect_.vector_make[1], list));
    }
  } else {
    for (size_t i = 0; i < values.size(); ++i) assign(places[i], values[i]);
  }
  ForgetFrom(mark);
}

void KernelWriter::WriteStmt(const Stmt& s) {
  if (ir::IsEmpty(s) || !status_.ok()) return;
  switch (s.kind()) {
    case ir::StmtKind::kStore:
      return WriteStore(*s.as<ir::Store>());
    case ir::StmtKind::kFor:
      return WriteFor(*s.as<ir::For>());
    case ir::StmtKind::kBlock:
      for (const Stmt& child : s.as<ir::Block>()->stmts) WriteStmt(child);
      return;
    case ir::StmtKind::kIf: {
      auto* branch = s.as<ir::If>();
      Line(fmt::format("if ({}) {{", WriteAt(branch->condition, 99)));
      ++indent_;
      WriteStmt(branch->then_case);
      --indent_;
      if (!ir::IsEmpty(branch->else_case)) {
        Line("} else {");
        ++indent_;
        WriteStmt(branch->else_case);
        --indent_;
      }
      Line("}");
      return;
    }
    case ir::StmtKind::kAllocate: {
      auto* allocate = s.as<ir::Allocate>();
      const ir::Buffer& buffer = allocate->buffer;
      if (!IsPrivate(buffer->scope)) {
        Fail(fmt::format("buffer `{}` of scope {} inside a thread", buffer.name(), ir::ScopeName(buffer->scope)));
        return;
      }
      Declare(buffer);
      Line(fmt::format("{} {}[{}];", MemoryType(buffer->type), buffers_[buffer.get()].name,
                       std::max<int64_t>(buffer->size, 1)));
      return WriteStmt(allocate->body);
    }
    case ir::StmtKind::kEvaluate:
      return;  // skip prefetches: devices gain nothing from them
    case ir::StmtKind::kPragma: {
      auto* note = s.as<ir::Pragma>();
      const int64_t* value = note->value.defined() ? ir::AsIntImm(note->value) : nullptr;
      if (note->key == "async_group" && dialect_.async_copy) {
        in_group_ = true;
        WriteStmt(note->body);
        in_group_ = false;
        return Line(dialect_.async_commit);
      }
      if (note->key == "async_wait" && dialect_.async_copy && value) {
        Line(fmt::format(fmt::runtime(dialect_.async_wait), *value));
        return WriteStmt(note->body);
      }
      const int64_t before = unroll_limit_;
      if (note->key == "auto_unroll_max_step" && value) unroll_limit_ = *value;
      unroll_next_ = note->key == "unroll" && value && note->body.as<ir::For>() != nullptr ? *value : 0;
      WriteStmt(note->body);
      unroll_limit_ = before;
      return;
    }
    case ir::StmtKind::kBarrier:
      return Line(global_fence_ ? dialect_.barrier_global : dialect_.barrier);
  }
}

}  // namespace hone::codegen
