// Prefetch: turns the hints that loop_nest left ("prefetch" Pragmas) into prefetches.
//
// Runs after unroll and vectorize, since only then the body shows its accesses. Each line of the tensor's buffer that
// the body loads or stores gets one prefetch, `distance` elements ahead. Loops inside the body count if their extents
// are constant; addresses that depend on other variables bound inside are ignored.
//
// The core has a limited number of fetches in flight. So a few lines are fetched at the head of the body; many lines,
// if they form at most four evenly spaced runs, are spread over the iterations of the body's outermost serial loops:
// the first one, and as many inside it as leave a few lines per iteration. Lines that the function writes are fetched
// for writing. A prefetch may leave the buffer, since it never faults. Bases are assumed to be aligned to lines;
// otherwise an occasional line is missed or fetched twice.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arith/linear.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr int kNear = 3, kFar = 2;     // into all levels; from the second level on
constexpr int64_t kMostLines = 16384;  // limit of iterations of a body's loops that are examined
constexpr int64_t kAtOnce = 4;         // lines that are fetched at once, not spread
constexpr int64_t kMostAtOnce = 64;    // lines per iteration; more would only wait for each other

// The accessed part of one buffer: base + a constant + each sum of the loops' steps, in elements.
struct Lines {
  struct Loop {
    int64_t step, min, extent;
    bool operator==(const Loop&) const = default;
  };
  Expr base;  // null: 0
  std::vector<Loop> loops;
  std::vector<int64_t> constants;
};

// An evenly spaced run of lines.
struct Run {
  Expr base;
  int64_t first, stride, count;
};

// Finds the lines of a buffer that a body loads or stores, including all accesses of loops inside it.
class LineFinder final : public ir::Visitor {
 public:
  explicit LineFinder(std::string buffer) : name_(std::move(buffer)) {}
  std::vector<Lines> groups;
  Buffer buffer;

 private:
  void Touch(const Buffer& touched, const Expr& index) {
    // Buffers that the body allocates need no prefetch.
    if (touched.name() != name_ || allocated_.count(touched.get())) return;
    buffer = touched;
    const auto* ramp = index.as<ir::Ramp>();
    const Expr& start = ramp ? ramp->base : index;
    if (start.type().is_vector()) return;
    arith::Linear linear = arith::ToLinear(start), outer;
    std::vector<Lines::Loop> loops;
    int64_t rounds = 1;
    for (const arith::Linear::Term& term : linear.terms) {
      auto loop = loops_.find(term.term.as<VarNode>());
      if (loop == loops_.end() && ir::UsesAnyVar(term.term, bound_)) return;
      if (loop == loops_.end()) {
        outer.terms.push_back(term);
        continue;
      }
      loops.push_back({term.coefficient, loop->second.first, loop->second.second});
      rounds *= loops.back().extent;
      if (rounds > kMostLines) return;
    }
    const int64_t line = std::max<int64_t>(kLineBytes / touched->type.bytes(), 1);
    // A load wider than a line also accesses the next line.
    const int64_t width = ramp && AsIntImm(ramp->stride) ? index.type().lanes * *AsIntImm(ramp->stride) : 1;
    Lines& group = GroupOf(outer.terms.empty() ? Expr() : arith::ToExpr(outer), loops);
    for (int64_t at = 0; at < std::max<int64_t>(width, 1); at += line) group.constants.push_back(linear.constant + at);
  }

  Lines& GroupOf(const Expr& base, const std::vector<Lines::Loop>& loops) {
    for (Lines& group : groups) {
      const Expr& other = group.base;
      const bool same = base.defined() == other.defined() && (!base.defined() || ir::Equal(base, other));
      if (same && group.loops == loops) return group;
    }
    return groups.emplace_back(Lines{base, loops, {}});
  }

  void VisitLoad(const ir::Load& op) override {
    Visitor::VisitLoad(op);
    Touch(op.buffer, op.index);
  }
  void VisitStore(const ir::Store& op) override {
    Visitor::VisitStore(op);
    Touch(op.buffer, op.index);
  }
  void VisitCall(const ir::Call& op) override {
    if (op.fn != ir::Intrinsic::kPrefetch) Visitor::VisitCall(op);
  }
  void VisitFor(const For& op) override {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    bound_.insert(op.var.node());
    if (min && extent && *extent > 0) loops_[op.var.node()] = {*min, *extent};
    Visitor::VisitFor(op);
    loops_.erase(op.var.node());
  }
  void VisitAllocate(const ir::Allocate& op) override {
    allocated_.insert(op.buffer.get());
    Visitor::VisitAllocate(op);
  }
  const std::string name_;
  std::unordered_set<const VarNode*> bound_;
  std::unordered_map<const VarNode*, std::pair<int64_t, int64_t>> loops_;
  std::unordered_set<const BufferNode*> allocated_;
};

// Keeps one offset per line, ascending.
void OneOfEachLine(std::vector<int64_t>* offsets, int64_t line) {
  auto number = [&](int64_t x) { return x >= 0 ? x / line : -((line - 1 - x) / line); };
  std::sort(offsets->begin(), offsets->end());
  auto same = [&](int64_t x, int64_t y) { return number(x) == number(y); };
  offsets->erase(std::unique(offsets->begin(), offsets->end(), same), offsets->end());
}

std::vector<Run> RunsOf(const std::vector<Lines>& groups, int64_t line) {
  std::vector<Run> runs;
  for (const Lines& group : groups) {
    std::vector<int64_t> offsets = group.constants;
    OneOfEachLine(&offsets, line);
    for (const Lines::Loop& loop : group.loops) {
      std::vector<int64_t> all;
      for (int64_t i = loop.min; i < loop.min + loop.extent; ++i) {
        for (int64_t offset : offsets) all.push_back(offset + i * loop.step);
      }
      OneOfEachLine(&all, line);
      offsets = std::move(all);
    }
    Run* last = nullptr;
    for (int64_t offset : offsets) {
      if (last && last->count == 1) last->stride = offset - last->first;
      if (last && (last->count == 1 || offset == last->first + last->count * last->stride)) {
        ++last->count;
      } else {
        last = &runs.emplace_back(Run{group.base, offset, 0, 1});
      }
    }
  }
  return runs;
}

// The outermost serial loop of a body; null if it has no loop, or if the first loop is of another kind.
const For* OuterLoop(const Stmt& s) {
  if (!s.defined()) return nullptr;
  if (const auto* loop = s.as<For>()) {
    const int64_t *min = AsIntImm(loop->min), *extent = AsIntImm(loop->extent);
    return loop->for_kind == ir::ForKind::kSerial && min && extent && *extent > 1 ? loop : nullptr;
  }
  if (const auto* allocate = s.as<ir::Allocate>()) return OuterLoop(allocate->body);
  if (const auto* pragma = s.as<ir::Pragma>()) return OuterLoop(pragma->body);
  if (const auto* block = s.as<ir::Block>()) {
    for (const Stmt& child : block->stmts) {
      if (const For* loop = OuterLoop(child)) return loop;
    }
  }
  return nullptr;
}

// `body` with `first` at the beginning of each iteration of `loop`.
Stmt AtHeadOf(const For* loop, std::vector<Stmt> first, const Stmt& body) {
  return ir::Rewrite(body, [&](const For& op, ir::Mutator&) -> std::optional<Stmt> {
    if (&op != loop) return std::nullopt;
    first.push_back(op.body);
    return ir::MakeFor(op.var, op.min, op.extent, op.for_kind, ir::MakeBlock(std::move(first)));
  });
}

class Injector final : public ir::Mutator {
 private:
  Stmt MutatePragma(const ir::Pragma& op) override {
    std::string prefix = kPrefetchPragma;
    locality_ = kNear;
    if (op.key.compare(0, prefix.size(), prefix) != 0) prefix = kFarPrefetchPragma, locality_ = kFar;
    if (op.key.compare(0, prefix.size(), prefix) != 0) return Mutator::MutatePragma(op);
    const int locality = locality_;
    LineFinder finder(op.key.substr(prefix.size()));
    finder.Visit(op.body);
    Stmt body = Mutate(op.body);
    locality_ = locality;
    buffer_ = finder.buffer;
    distance_ = *AsIntImm(op.value);
    if (finder.groups.empty()) return body;
    std::vector<Run> runs = RunsOf(finder.groups, std::max<int64_t>(kLineBytes / buffer_->type.bytes(), 1));
    int64_t lines = 0;
    for (const Run& run : runs) lines += run.count;
    std::vector<const For*> loops;  // a nest, as deep as needed to leave a few lines per iteration
    int64_t rounds = 1;
    if (lines > kAtOnce && static_cast<int64_t>(runs.size()) <= kAtOnce) {
      for (const For* l = OuterLoop(body); l && (loops.empty() || lines > kAtOnce * rounds); l = OuterLoop(l->body)) {
        loops.push_back(l);
        rounds *= *AsIntImm(l->extent);
      }
    }
    std::vector<Stmt> stmts;
    if (lines > kMostAtOnce * rounds) return body;
    if (loops.empty()) {
      for (const Run& run : runs) {
        for (int64_t i = 0; i < run.count; ++i) stmts.push_back(Fetch(run, Expr(), run.first + i * run.stride));
      }
      stmts.push_back(body);
      return ir::MakeBlock(std::move(stmts));
    }
    for (const Run& run : runs) Spread(run, loops, rounds, &stmts);
    return AtHeadOf(loops.back(), std::move(stmts), body);
  }

  // Fetches some lines in each iteration. Extra iterations fetch the last line again, which costs less than a
  // condition.
  void Spread(const Run& run, const std::vector<const For*>& loops, int64_t rounds, std::vector<Stmt>* stmts) {
    const int64_t each = (run.count + rounds - 1) / rounds;
    const bool beyond = each * rounds > run.count + run.count / 8 + 2;
    const int64_t scale = each * (beyond ? 1 : run.stride);
    arith::Linear round;  // innermost iteration, counted through all loops, times scale
    for (const For* loop : loops) {
      rounds /= *AsIntImm(loop->extent);
      round.Add(Expr(loop->var), rounds * scale);
      round.constant -= *AsIntImm(loop->min) * rounds * scale;
    }
    const int64_t constant = std::exchange(round.constant, 0);
    const Expr line = arith::ToExpr(round);
    for (int64_t i = 0; i < each; ++i) {
      if (!beyond) {
        stmts->push_back(Fetch(run, line, run.first + constant + i * run.stride));
      } else {
        stmts->push_back(Fetch(run, ir::Min(line + (constant + i), Expr(run.count - 1)) * run.stride, run.first));
      }
    }
  }

  Stmt Fetch(const Run& run, const Expr& more, int64_t offset) {
    Expr index = run.base;
    if (more.defined()) index = index.defined() ? index + more : more;
    const int64_t constant = offset + distance_;
    if (!index.defined()) {
      index = Expr(constant);
    } else if (constant != 0) {
      index = index + constant;
    }
    Expr address = ir::MakeLoad(buffer_, index);
    return ir::MakeEvaluate(ir::MakeCall(address.type(), ir::Intrinsic::kPrefetch, {address, Expr(locality_)}));
  }

  Buffer buffer_;
  int64_t distance_ = 0;  // elements
  int locality_ = kNear;
};

}  // namespace

Stmt InjectPrefetches(const Stmt& body) { return Injector().Mutate(body); }

}  // namespace hone::lower
