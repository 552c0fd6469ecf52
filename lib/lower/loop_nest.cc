// Loop nest: makes statements for every stage, with attached stages in their places.
//
// Second pass: turns the schedule and its bounds into one function. It leaves to later passes: vectorized and unrolled
// loops (as For kinds), extents that are minima over tails (specialize), prefetches (a Pragma "prefetch:<buffer>" whose
// value is the distance in elements; buffers of one function have different names).
//
// - A reduction first stores its identity, right outside its outermost reduce loop, then updates.
// - An attached stage's buffer is allocated inside the loop, holds only the region, and is indexed from the region's
//   min.
// - Scope: as in the schedule; by default scratch inside a parallel loop and workspace outside. A buffer that should be
//   private to a thread (register, scratch) but is used by a parallel loop inside becomes workspace. Registers beyond
//   16 KiB become scratch.
// - A parallel loop inside a parallel loop becomes serial.
//
// For a GPU (with `places`) each root stage is one kernel, with its loops over blocks and threads around everything
// (even if there is one block). A loop that is bound to threads is the thread's index, in every stage. The result is
// the program of one thread, still without virtual threads (vthread) and barriers (gpu_threads):
// - conditions exclude tails and threads that a stage does not need; they are inside the places where the block must
//   meet (lower/gpu_places.h);
// - if a stage is not bound to some of the block's indices and writes memory that others see, only index 0 computes it;
// - a reduction across threads: each thread reduces its own part, then halves of the threads add up in shared memory;
// - the nest of a double-buffered stage has a Pragma "double_buffer"; shared memory is allocated where it is used.
#include <algorithm>
#include <map>

#include "ir/analysis.h"
#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/gpu_kernel.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int64_t kMaxRegisterBytes = 16384;

// The location of a tensor's elements: index = sum((i[d] - min[d]) * stride[d]).
struct Storage {
  Buffer buffer;
  std::vector<Expr> min;
  std::vector<int64_t> stride;

  Expr Index(const std::vector<Expr>& indices) const {
    Expr sum(0);
    for (size_t d = 0; d < indices.size(); ++d) sum = sum + (indices[d] - min[d]) * stride[d];
    return sum;
  }
};

std::vector<int64_t> RowMajor(const std::vector<int64_t>& size) {
  std::vector<int64_t> stride(size.size(), 1);
  for (size_t d = size.size(); d-- > 1;) stride[d - 1] = stride[d] * size[d];
  return stride;
}

class Builder {
 public:
  Builder(const Schedule& schedule, const GpuPlaces* places, Bounds* bounds)
      : schedule_(schedule), places_(places), bounds_(*bounds) {}

  Status AddArguments(const std::vector<te::Tensor>& args, std::vector<Buffer>* params) {
    for (const te::Tensor& t : args) {
      const Stage* stage = schedule_.Find(t.name());
      auto is = [&](const te::Tensor& x) { return x.name() == t.name(); };
      const bool input = std::any_of(schedule_.inputs().begin(), schedule_.inputs().end(), is);
      if (!input && !(stage && stage->output)) {
        return Status::Invalid("argument `{}` is neither an input nor an output of the schedule", t.name());
      }
      if (storage_.count(t.name())) return Status::Invalid("argument `{}` is given twice", t.name());
      AddRootStorage(t, Scope::kArgument, !input);
      params->push_back(storage_[t.name()].buffer);
    }
    for (const auto* needed : {&schedule_.inputs(), &schedule_.outputs()}) {
      for (const te::Tensor& t : *needed) {
        if (!storage_.count(t.name()))
          return Status::Invalid("the schedule uses `{}`, which is not among the arguments", t.name());
      }
    }
    return Status::Ok();
  }

  Stmt BuildAll() {
    std::vector<const Stage*> roots;
    for (const Stage& stage : schedule_.stages()) {
      if (stage.attach != AttachKind::kRoot) continue;
      if (!stage.output) AddRootStorage(stage.tensor, Scope::kWorkspace, true);
      roots.push_back(&stage);
    }
    Stmt body;
    for (size_t i = roots.size(); i-- > 0;) {
      body = ir::MakeBlock({places_ ? BuildKernel(*roots[i]) : BuildStage(*roots[i]), body});
      if (!roots[i]->output) body = ir::MakeAllocate(storage_[roots[i]->name()].buffer, body);
    }
    return body;
  }

 private:
  // A root stage on a GPU, including all stages inside it.
  Stmt BuildKernel(const Stage& root) {
    kernel_ = GpuKernel(schedule_, *places_, root, &bounds_);
    inherited_.clear();
    return kernel_.Nest(BuildStage(root));
  }

  void AddRootStorage(const te::Tensor& t, Scope scope, bool written) {
    int64_t size = 1;
    for (int64_t e : t.shape()) size *= e;
    storage_[t.name()] = {Buffer::Make(t.name(), t.type(), size, scope, written && scope == Scope::kArgument),
                          std::vector<Expr>(t.shape().size(), Expr(0)), RowMajor(t.shape())};
  }

  // Whether a parallel loop runs during the life of this attached stage's buffer.
  bool UsedInParallel(const Stage& stage) {
    const auto is_parallel = [](ForKind kind) { return kind == ForKind::kParallel; };
    return std::any_of(stage.leaf.begin(), stage.leaf.end(),
                       [&](const std::string& leaf) { return is_parallel(stage.FindAxis(leaf)->kind); }) ||
           RunsInLifeOf(stage, schedule_, is_parallel);
  }

  void AddLocalStorage(const Stage& stage) {
    const StageBounds& b = bounds_.stages.at(stage.name());
    std::vector<int64_t> stride(b.size.size(), 1);
    int64_t total = 1;
    for (size_t d = b.size.size(); d-- > 0;) {
      stride[d] = total;
      for (const schedule::StorageAlign& align : stage.aligns) {
        if (align.axis != stage.tensor.node()->axes[d].var.name()) continue;
        stride[d] += ((align.offset - stride[d]) % align.factor + align.factor) % align.factor;
      }
      total = stride[d] * b.size[d];
    }
    Scope scope = stage.scope.value_or(parallel_depth_ > 0 ? Scope::kScratch : Scope::kWorkspace);
    if (places_) scope = places_->ScopeOf(stage);
    if (scope == Scope::kRegister && total * stage.tensor.type().bytes() > kMaxRegisterBytes) scope = Scope::kScratch;
    if (!places_ && parallel_depth_ == 0 && scope != Scope::kWorkspace && UsedInParallel(stage))
      scope = Scope::kWorkspace;
    storage_[stage.name()] = {Buffer::Make(stage.name(), stage.tensor.type(), total, scope), b.min, stride};
  }

  // `rest` inside the stages attached at this loop. They are built first, in order of the schedule, since `rest` reads
  // their storage; therefore it is a function.
  template <typename Rest>
  Stmt WithAttached(const Stage& stage, const std::string& axis, const Rest& rest) {
    std::vector<std::pair<Buffer, Stmt>> produced;
    for (const Stage& s : schedule_.stages()) {
      if (s.attach != AttachKind::kAt || s.at_stage != stage.name() || s.at_axis != axis) continue;
      AddLocalStorage(s);
      // A thread computes a private value only where its reader runs.
      if (places_ && storage_[s.name()].buffer->scope != Scope::kShared) inherited_[s.name()] = UnusedThreads(stage);
      Stmt nest = BuildStage(s);
      if (places_ && s.double_buffer) nest = ir::MakePragma(kDoubleBufferPragma, Expr(1), nest);
      produced.emplace_back(storage_[s.name()].buffer, nest);
    }
    Stmt body = rest();
    for (size_t i = produced.size(); i-- > 0;) {
      body = ir::MakeAllocate(produced[i].first, ir::MakeBlock({produced[i].second, body}));
    }
    return body;
  }

  Stmt BuildStage(const Stage& stage) {
    const StageBounds& b = bounds_.stages.at(stage.name());
    size_t first_reduce = 0;
    while (first_reduce < stage.leaf.size() && !stage.FindAxis(stage.leaf[first_reduce])->reduce) ++first_reduce;
    const bool reduction = stage.reduction();
    Nest nest{stage, b, b.guards, places_ ? places_->LastMeeting(stage) : -1, {}};
    if (places_) {
      const bool seen = Seen(storage_.at(stage.name()).buffer);
      for (const Expr& c : UnusedThreads(stage)) nest.guards.push_back({c, -1, false});
      for (const Expr& c : seen ? kernel_.SingleWriter(stage) : std::vector<Expr>())
        nest.guards.push_back({c, -1, false});
    }
    return Guarded(nest, -1, BuildLoops(nest, 0, reduction ? static_cast<int>(first_reduce) : -1));
  }

  // Whether other threads see stores to the buffer.
  static bool Seen(const Buffer& buffer) {
    return buffer->scope != Scope::kRegister && buffer->scope != Scope::kScratch;
  }

  // Conditions that are false for threads without work in this stage.
  std::vector<Expr> UnusedThreads(const Stage& stage) {
    std::vector<Expr> conditions = kernel_.OwnThreads(stage);
    const std::vector<Expr>& more = inherited_[stage.name()];
    conditions.insert(conditions.end(), more.begin(), more.end());
    return conditions;
  }

  // One stage while its loops are built.
  struct Nest {
    const Stage& stage;
    const StageBounds& bounds;
    std::vector<Guard> guards;
    int last_meeting;  // lower/gpu_places.h; guards of loops up to this one move right inside it
    Storage sum;       // for a reduction across threads: this thread's part
  };

  // Loops from `position` inwards. `init_at` is the loop for a reduction's identity; -1: not needed, or already stored.
  Stmt BuildLoops(const Nest& nest, int position, int init_at) {
    const StageBounds& b = nest.bounds;
    if (position == init_at) {
      if (places_ && !nest.sum.buffer.defined() && GpuPlaces::ReducesAcrossThreads(nest.stage))
        return BuildAcross(nest, position);
      Stmt init = BuildInit(nest, position);
      return ir::MakeBlock({init, BuildLoops(nest, position, -1)});
    }
    if (position == static_cast<int>(b.loops.size())) return BuildUpdate(nest);
    const Loop& loop = b.loops[position];
    const Axis& axis = *nest.stage.FindAxis(loop.axis);
    const ForKind kind = KindOf(axis);
    parallel_depth_ += kind == ForKind::kParallel;
    // Guards of reduce axes must not skip the identity; it is outside their loops, so they never do.
    Stmt body = WithAttached(nest.stage, loop.axis,
                             [&] { return GuardedBehind(nest, position, BuildLoops(nest, position + 1, init_at)); });
    body = Guarded(nest, position, body);
    parallel_depth_ -= kind == ForKind::kParallel;
    for (const schedule::PrefetchNote& note : nest.stage.prefetches) {
      if (note.axis == loop.axis && !places_) body = WithPrefetch(note, body);
    }
    Stmt result = IsIndex(kind) ? ir::Substitute(body, loop.var, kernel_.IndexOf(kind))
                                : ir::MakeFor(loop.var, Expr(0), loop.extent, kind, body);
    for (const auto& [key, value] : axis.pragmas) result = ir::MakePragma(key, Expr(value), result);
    return result;
  }

  ForKind KindOf(const Axis& axis) const {
    const bool serial = axis.kind == ForKind::kParallel && (parallel_depth_ > 0 || places_);
    return serial ? ForKind::kSerial : axis.kind;
  }
  // Whether a loop of that kind is an index of the thread, not a loop of its program.
  bool IsIndex(ForKind kind) const { return places_ && (ir::IsBlockLoop(kind) || ir::IsThreadLoop(kind)); }

  // The reduction of a stage whose reduce loops begin at `position` and are bound to threads.
  Stmt BuildAcross(const Nest& nest, int position) {
    const Stage& stage = nest.stage;
    Nest part = nest;
    part.sum = {Buffer::Make(stage.name() + ".part", stage.tensor.type(), 1, Scope::kRegister), {}, {}};
    const auto& reduce = *stage.tensor.node()->body.as<ir::Reduce>();
    Stmt init = ir::MakeStore(part.sum.buffer, Expr(0), te::ReduceIdentity(reduce.reducer, stage.tensor.type()));
    Stmt mine = ir::MakeBlock({init, BuildLoops(part, position, -1)});
    const Storage& s = storage_.at(stage.name());
    Stmt rest = kernel_.ReduceAcross(stage, reduce.reducer, part.sum.buffer, [&](const Expr& sum) {
      Stmt store = ir::MakeStore(s.buffer, OwnIndex(stage, nest.bounds, s), sum);
      for (const Guard& g : nest.guards) {
        if (!g.reduce) store = ir::MakeIf(g.condition, store);
      }
      return Seen(s.buffer) ? ir::MakeIf(kernel_.FirstOfReduction(stage), store) : store;
    });
    return ir::MakeAllocate(part.sum.buffer, ir::MakeBlock({mine, rest}));
  }

  // The tensor may have been inlined or cached away since the note was made; then there is nothing to fetch.
  Stmt WithPrefetch(const schedule::PrefetchNote& note, Stmt body) {
    auto it = storage_.find(note.tensor);
    if (it == storage_.end()) return body;
    const Buffer& buffer = it->second.buffer;
    const char* key = note.level == 1 ? kPrefetchPragma : kFarPrefetchPragma;
    return ir::MakePragma(key + buffer.name(), Expr(note.distance / buffer->type.bytes()), std::move(body));
  }

  // Adds the guards of the loop at `position`, unless they must move further in.
  static Stmt Guarded(const Nest& nest, int position, Stmt body) {
    const bool waits = nest.last_meeting >= 0 && position <= nest.last_meeting;
    for (const Guard& g : nest.guards) {
      if (g.position == position && !waits && !g.fill) body = ir::MakeIf(g.condition, body);
    }
    return body;
  }
  // Adds the guards that had to move to this place.
  static Stmt GuardedBehind(const Nest& nest, int position, Stmt body) {
    for (const Guard& g : nest.guards) {
      if (position == nest.last_meeting && g.position <= position && !g.fill) body = ir::MakeIf(g.condition, body);
    }
    return body;
  }

  Stmt BuildInit(const Nest& nest, int position) {
    const Stage& stage = nest.stage;
    const StageBounds& b = nest.bounds;
    const Storage& s = storage_.at(stage.name());
    const auto& reduce = *stage.tensor.node()->body.as<ir::Reduce>();
    const Expr value = te::ReduceIdentity(reduce.reducer, stage.tensor.type());
    Stmt body = ir::MakeStore(s.buffer, OwnIndex(stage, b, s), value);
    ir::VarMap fresh;
    for (int i = position; i < static_cast<int>(b.loops.size()); ++i) {
      const Axis& axis = *stage.FindAxis(b.loops[i].axis);
      if (axis.reduce) continue;
      if (IsIndex(axis.kind)) {
        fresh[b.loops[i].var.node()] = kernel_.IndexOf(axis.kind);
        continue;
      }
      Var var(b.loops[i].axis);
      fresh[b.loops[i].var.node()] = var;
      // Gives it the original's range, so that the analyzer can answer later questions.
      bounds_.analyzer.Bind(var, Expr(0), ir::Substitute(b.loops[i].extent, fresh));
    }
    for (int i = static_cast<int>(b.loops.size()) - 1; i >= position; --i) {
      const Axis& axis = *stage.FindAxis(b.loops[i].axis);
      for (const Guard& g : nest.guards) {
        if (g.position == i && !g.reduce) body = ir::MakeIf(g.condition, body);
      }
      if (!axis.reduce && !IsIndex(axis.kind))
        body = ir::MakeFor(b.loops[i].var, Expr(0), b.loops[i].extent, KindOf(axis), body);
    }
    for (const Guard& g : nest.guards) {
      const bool waits = g.position < position && nest.last_meeting >= position;
      if (waits && !g.reduce) body = ir::MakeIf(g.condition, body);
    }
    return Rename(body, fresh);
  }

  // Also replaces loop variables where they are bound.
  static Stmt Rename(const Stmt& s, const ir::VarMap& fresh) {
    const auto loop = [&](const For& op, ir::Mutator& self) -> std::optional<Stmt> {
      const Expr var = self.Mutate(Expr(op.var)), min = self.Mutate(op.min), extent = self.Mutate(op.extent);
      return ir::MakeFor(Var(var.as<VarNode>()), min, extent, op.for_kind, self.Mutate(op.body));
    };
    const auto use = [&](const VarNode& op, ir::Mutator&) { return Mapped(fresh, op); };
    return ir::Rewrite(s, ir::Overloaded{loop, use});
  }

  static std::optional<Expr> Mapped(const ir::VarMap& map, const VarNode& var) {
    const auto it = map.find(&var);
    return it == map.end() ? std::nullopt : std::optional(it->second);
  }

  // A te body as a value in loops: reads become loads.
  Expr Translated(const Expr& body, const ir::VarMap& axes) {
    const auto use = [&](const VarNode& op, ir::Mutator&) { return Mapped(axes, op); };
    const auto read = [&](const ir::Access& op, ir::Mutator& self) -> std::optional<Expr> {
      const Storage& s = storage_.at(op.tensor->name);
      std::vector<Expr> indices;
      for (const Expr& index : op.indices) indices.push_back(self.Mutate(index));
      return ir::MakeLoad(s.buffer, bounds_.analyzer.Simplify(s.Index(indices)));
    };
    return ir::Rewrite(body, ir::Overloaded{use, read});
  }

  Expr OwnIndex(const Stage& stage, const StageBounds& b, const Storage& s) {
    std::vector<Expr> indices;
    for (const ir::IterVar& axis : stage.tensor.node()->axes) indices.push_back(b.values.at(axis.var.node()));
    return bounds_.analyzer.Simplify(s.Index(indices));
  }

  Stmt BuildUpdate(const Nest& nest) {
    const Stage& stage = nest.stage;
    const Storage& s = nest.sum.buffer.defined() ? nest.sum : storage_.at(stage.name());
    Expr body = stage.tensor.node()->body;
    Expr index = nest.sum.buffer.defined() ? Expr(0) : OwnIndex(stage, nest.bounds, s);
    const auto* reduce = body.as<ir::Reduce>();
    if (!reduce) {
      Expr value = Translated(body, nest.bounds.values), inside;
      for (const Guard& g : nest.guards) {
        if (g.fill) inside = inside.defined() ? inside && g.condition : g.condition;
      }
      if (inside.defined()) value = ir::MakeIfThenElse(inside, value, ir::Imm(s.buffer->type, 0));
      return ir::MakeStore(s.buffer, index, value);
    }
    Expr value = Translated(reduce->body, nest.bounds.values), old = ir::MakeLoad(s.buffer, index);
    if (const auto* call = value.as<ir::Call>(); call && call->fn == ir::Intrinsic::kIfThenElse) {
      // If the condition is false, nothing is added or compared.
      const auto* none = call->args[2].as<ir::FloatImm>();
      if (none && ir::Equal(call->args[2], te::ReduceIdentity(reduce->reducer, none->type))) {
        Expr sum = te::CombineReduction(reduce->reducer, old, call->args[1]);
        return ir::MakeIf(call->args[0], ir::MakeStore(s.buffer, index, sum));
      }
    }
    return ir::MakeStore(s.buffer, index, te::CombineReduction(reduce->reducer, old, value));
  }

  const Schedule& schedule_;
  const GpuPlaces* const places_;  // null except for GPUs
  Bounds& bounds_;
  std::map<std::string, Storage> storage_;
  int parallel_depth_ = 0;
  GpuKernel kernel_;                                    // the current one
  std::map<std::string, std::vector<Expr>> inherited_;  // conditions of private stages' readers
};

}  // namespace

Result<ir::Function> MakeLoopNest(const Schedule& schedule, Bounds* bounds, const std::vector<te::Tensor>& args,
                                  const std::string& name, const GpuPlaces* places) {
  Builder builder(schedule, places, bounds);
  ir::Function function;
  function.name = name;
  HONE_RETURN_IF_ERROR(builder.AddArguments(args, &function.params));
  function.body = builder.BuildAll();
  return function;
}

}  // namespace hone::lower
