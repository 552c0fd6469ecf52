// Double buffers: while one iteration of a loop uses shared memory, the next one's values are fetched.
//
// Runs after vthread and HoistShared, and before simplify and PlaceBarriers. loop_nest leaves a Pragma "double_buffer"
// around the code that fills a buffer. If it begins the body of a loop,
//
//   for k { fill(b, k); use(b, k) }
//
// becomes, with twice the memory for b,
//
//   fill(b[0], 0);
//   for k { if (k + 1 < n) fetch(r, k + 1); use(b[k%2], k); if (k + 1 < n) b[(k + 1)%2] = r }
//
// So an iteration needs one barrier, and a fetch has a whole iteration to arrive. r is private to a thread, and the
// loops that fill it are unrolled. Loops that contain nothing else count as one. A stage that cannot use registers
// fills its other half after the use: one with several stores, with loads of anything but an argument or another
// kernel's result, or with more than kMostFetched elements per thread. A hint outside of such a loop is dropped.
//
// With a Pragma "stages" n > 2 inside the hint (`pragma S axis stages n`) there are n copies of the memory. Back ends
// that support it (cp.async) copy without registers, in the background:
//
//   group { fill(b[0], 0) } .. group { fill(b[n-2], n-2) }
//   for k { wait n-2; barrier; group { if (k + n-1 < total) fill(b[(k+n-1)%n], k+n-1) } use(b[k%n], k) }
//
// A Pragma "async_group" is a group of copies. "async_wait" m waits until all groups but the last m have arrived.
// Ignoring both, as the interpreter does, is correct: then a copy is a plain copy.
#include <algorithm>
#include <vector>

#include "ir/analysis.h"
#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int64_t kMostFetched = 64;

// A fill without the note on how many copies of its buffer it requests, which *most becomes at least.
Stmt WithoutStages(const Stmt& fill, int64_t* most) {
  return ir::Rewrite(fill, [&](const ir::Pragma& op, ir::Mutator& self) -> std::optional<Stmt> {
    if (op.key != kStagesPragma) return std::nullopt;
    if (const int64_t* value = AsIntImm(op.value)) *most = std::max(*most, *value);
    return self.Mutate(op.body);
  });
}

// Whether the code that fills a buffer can use registers: it has one store, in loops of constant extents.
class FillShape final : public ir::Visitor {
 public:
  bool possible = true;
  int64_t elements = 1;
  int stores = 0;
  Expr place;  // register of the store's value: a number for each iteration of the loops

 private:
  void VisitFor(const For& op) override {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    possible = possible && min && *min == 0 && extent;
    if (!possible) return;
    loops_.emplace_back(op.var, *extent);
    elements *= *extent;
    Visit(op.body);
  }
  void VisitStore(const ir::Store& op) override {
    ++stores;
    place = Expr(0);
    for (const auto& [var, extent] : loops_) place = place * extent + var;
    Visit(op.value);
  }
  void VisitLoad(const ir::Load& op) override {
    if (op.buffer->scope != Scope::kArgument && op.buffer->scope != Scope::kWorkspace) possible = false;
    Visitor::VisitLoad(op);
  }
  void VisitAllocate(const ir::Allocate&) override { possible = false; }
  std::vector<std::pair<Var, int64_t>> loops_;
};

// One half of a fill: into registers, or from there to the destination.
Stmt FillHalf(const Stmt& fill, const Buffer& wait, const Expr& place, bool fetch) {
  const auto loop = [](const For& op, ir::Mutator& self) -> std::optional<Stmt> {
    const ForKind kind = op.for_kind == ForKind::kSerial ? ForKind::kUnrolled : op.for_kind;
    return ir::MakeFor(op.var, op.min, op.extent, kind, self.Mutate(op.body));
  };
  const auto store = [&](const ir::Store& op, ir::Mutator&) -> std::optional<Stmt> {
    if (fetch) return ir::MakeStore(wait, place, op.value);
    return ir::MakeStore(op.buffer, op.index, ir::MakeLoad(wait, place));
  };
  return ir::Rewrite(fill, ir::Overloaded{loop, store});
}

const ir::Pragma* Note(const Stmt& s) {
  const auto* pragma = s.as<ir::Pragma>();
  return pragma && pragma->key == kDoubleBufferPragma ? pragma : nullptr;
}

class DoubleBufferer final : public ir::Mutator {
 public:
  ir::BufferMap copies;  // of the allocations: the buffers with two halves

 private:
  Stmt MutateFor(const For& op) override {
    std::vector<const For*> loops;
    int64_t total = 1;
    const For* at = &op;
    while (at && at->for_kind == ForKind::kSerial && AsIntImm(at->extent) && AsIntImm(at->min) &&
           *AsIntImm(at->min) == 0) {
      loops.push_back(at);
      total *= *AsIntImm(at->extent);
      at = at->body.as<For>();
    }
    const auto* body = loops.empty() ? nullptr : loops.back()->body.as<ir::Block>();
    if (!body || total < 2 || !Note(body->stmts.front())) return Mutator::MutateFor(op);
    return Pipeline(loops, total, *body);
  }
  Stmt MutatePragma(const ir::Pragma& op) override {
    const bool note = op.key == kDoubleBufferPragma || op.key == kStagesPragma;
    return note ? Mutate(op.body) : Mutator::MutatePragma(op);
  }

  Stmt Pipeline(const std::vector<const For*>& loops, int64_t total, const ir::Block& body) {
    const Var round(loops.back()->var.name());
    ir::VarMap now;  // the loops' variables in this iteration
    Expr rest = round;
    for (size_t i = loops.size(); i-- > 0;) {
      const int64_t extent = *AsIntImm(loops[i]->extent);
      now[loops[i]->var.node()] = i == 0 ? rest : rest % extent;
      rest = rest / extent;
    }
    size_t fills = 0;
    std::vector<Stmt> used;
    while (fills < body.stmts.size() && Note(body.stmts[fills])) ++fills;
    for (size_t i = fills; i < body.stmts.size(); ++i) used.push_back(Mutate(body.stmts[i]));

    int64_t most = 2;
    std::vector<Stmt> fill_stmts;
    for (size_t i = 0; i < fills; ++i) fill_stmts.push_back(Mutate(WithoutStages(body.stmts[i], &most)));
    const int64_t count = std::min(most, total);
    ir::BufferMap mine;
    for (const Stmt& fill : fill_stmts) {
      for (const Buffer& b : ir::BuffersWritten(fill)) {
        if (b->scope != Scope::kShared) continue;
        mine[b.get()] = Buffer::Make(b.name(), b->type, b->size * count, b->scope);
      }
    }
    copies.insert(mine.begin(), mine.end());
    auto in_half = [&](const Stmt& s, const Expr& half, const ir::VarMap& values) {
      return ir::MoveAccesses(ir::Substitute(s, values), mine, [&](const Buffer& b, const Expr& index) {
        const Expr offset = half * b->size;
        return (index.type().is_vector() ? ir::MakeBroadcast(offset, index.type().lanes) : offset) + index;
      });
    };
    if (count > 2) {
      auto group = [&](const Expr& at) {  // the copies of that iteration
        ir::VarMap values;
        for (const auto& [var, value] : now) values[var] = ir::Substitute(value, round, at);
        std::vector<Stmt> all;
        for (const Stmt& fill : fill_stmts) all.push_back(in_half(fill, at % count, values));
        return ir::MakeBlock(std::move(all));
      };
      const Expr ahead = round + (count - 1);
      std::vector<Stmt> before;
      for (int64_t k = 0; k + 1 < count; ++k) {
        before.push_back(ir::MakePragma(kAsyncGroupPragma, Expr(1), group(Expr(k))));
      }
      // Groups are counted, so every iteration has one, even if it is empty.
      Stmt each =
          ir::MakeBlock({ir::MakePragma(kAsyncWaitPragma, Expr(count - 2), ir::MakeBarrier()),
                         ir::MakePragma(kAsyncGroupPragma, Expr(1), ir::MakeIf(ahead < Expr(total), group(ahead))),
                         in_half(ir::MakeBlock(used), round % count, now)});
      before.push_back(ir::MakeFor(round, Expr(0), Expr(total), ForKind::kSerial, each));
      return ir::MakeBlock(std::move(before));
    }
    const Expr next = round + 1;
    ir::VarMap then, first;
    for (const auto& [var, value] : now) {
      then[var] = ir::Substitute(value, round, next);
      first[var] = Expr(0);
    }
    std::vector<Stmt> before, fetch, store;
    std::vector<Buffer> waits;
    for (const Stmt& fill : fill_stmts) {
      before.push_back(in_half(fill, Expr(0), first));
      FillShape shape;
      shape.Visit(fill);
      if (!shape.possible || shape.stores != 1 || shape.elements > kMostFetched) {
        store.push_back(in_half(fill, next % 2, then));
        continue;
      }
      const Buffer target = ir::BuffersWritten(fill).front();
      waits.push_back(Buffer::Make(target.name() + ".next", target->type, shape.elements, Scope::kRegister));
      fetch.push_back(in_half(FillHalf(fill, waits.back(), shape.place, true), next % 2, then));
      store.push_back(in_half(FillHalf(fill, waits.back(), shape.place, false), next % 2, then));
    }
    const Expr more = next < Expr(total);
    std::vector<Stmt> rounds;
    if (!fetch.empty()) rounds.push_back(ir::MakeIf(more, ir::MakeBlock(fetch)));
    rounds.push_back(in_half(ir::MakeBlock(used), round % 2, now));
    if (!store.empty()) rounds.push_back(ir::MakeIf(more, ir::MakeBlock(store)));
    Stmt all = ir::MakeBlock(std::move(rounds));
    for (const Buffer& wait : waits) all = ir::MakeAllocate(wait, all);
    before.push_back(ir::MakeFor(round, Expr(0), Expr(total), ForKind::kSerial, all));
    return ir::MakeBlock(std::move(before));
  }
};

}  // namespace

Stmt DoubleBuffers(const Stmt& body) {
  DoubleBufferer pass;
  Stmt result = pass.Mutate(body);
  return pass.copies.empty() ? result : ir::MoveAllocations(result, pass.copies);
}

}  // namespace hone::lower
