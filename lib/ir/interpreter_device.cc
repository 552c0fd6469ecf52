#include "ir/interpreter_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/scalar.h"
#include "ir/visitor.h"

namespace hone::ir::interp {
namespace {

std::string Position(int64_t linear, const int64_t extents[3]) {
  return fmt::format("({}, {}, {})", linear % extents[0], linear / extents[0] % extents[1],
                     linear / extents[0] / extents[1]);
}

void Split(int64_t linear, const int64_t extents[3], const Place places[3]) {
  for (int i = 0; i < 3; ++i) {
    if (places[i]) (*places[i])[0].i = linear % extents[i];
    linear /= extents[i];
  }
}

// Places where threads of a block meet.
class MeetingFinder final : public Visitor {
 public:
  bool found = false;

 private:
  void VisitBarrier(const Barrier&) override { found = true; }
  void VisitStore(const Store& op) override { found = found || WarpProductOf(Same(op)) != nullptr; }
  static Stmt Same(const StmtNode& node) { return Stmt(&node); }
};

bool HasMeeting(const Stmt& s) {
  MeetingFinder finder;
  finder.Visit(s);
  return finder.found;
}

// The threads of a block: the running one, and each thread's state that outlives a barrier.
class Threads {
 public:
  Threads(Device* device, const KernelParts& parts)
      : device_(*device), parts_(parts), count(parts.block[0] * parts.block[1] * parts.block[2]) {}

  struct OwnBuffer {
    BufferState* state = nullptr;
    std::vector<std::vector<char>> memory;
    std::vector<std::vector<uint8_t>> written;
  };
  struct OwnValue {
    Place place;
    std::vector<std::vector<Slot>> values;
  };

  void Enter(int64_t thread) {
    Leave();
    Split(thread, parts_.block, parts_.thread_index);
    device_.now().thread = static_cast<int>(thread);
    Swap(thread);
    for (OwnValue& v : values) std::copy(v.values[thread].begin(), v.values[thread].end(), v.place->begin());
    running_ = thread;
  }
  void Leave() {
    if (running_ < 0) return;
    Swap(running_);
    for (OwnValue& v : values) std::copy(v.place->begin(), v.place->end(), v.values[running_].begin());
    running_ = -1;
  }
  // `action` for each thread; false: stop.
  template <typename F>
  bool Each(const F& action) {
    for (int64_t thread : device_.Order(count)) {
      Enter(thread);
      if (!action()) return false;
    }
    Leave();
    return true;
  }
  // The scalar that all threads compute for `op`; false if they differ or it failed.
  bool Agree(Op* op, const Stmt& where, int64_t* value) {
    int64_t first = 0;
    bool any = false;
    return Each([&] {
      const int64_t mine = op->Value()[0].i;
      if (device_.failure()->failed) return false;
      if (any && mine != *value) {
        std::string text = ToString(where);
        device_.failure()->Set(fmt::format(
            "a barrier or a product of warps under divergent control: threads {} and {} of a block go different ways "
            "at `{}`",
            Position(first, parts_.block), Position(running_, parts_.block), text.substr(0, text.find('\n'))));
        return false;
      }
      if (!any) first = running_;
      any = true;
      *value = mine;
      return true;
    });
  }

 private:
  void Swap(int64_t thread) {
    for (OwnBuffer& b : buffers) {
      b.state->memory.swap(b.memory[thread]);
      b.state->written.swap(b.written[thread]);
      b.state->data = b.state->memory.data();
    }
  }
  Device& device_;
  const KernelParts& parts_;
  int64_t running_ = -1;

 public:
  const int64_t count;
  std::vector<OwnBuffer> buffers;
  std::vector<OwnValue> values;
};

// Without a meeting inside: each thread does all of it.
struct Segment final : Action {
  bool Do() override {
    return threads->Each([&] { return body->Do(); });
  }
  Threads* threads;
  ActionPtr body;
};

struct Sequence final : Action {
  bool Do() override {
    return std::all_of(parts.begin(), parts.end(), [](const ActionPtr& part) { return part->Do(); });
  }
  std::vector<ActionPtr> parts;
};

struct MeetAction final : Action {
  bool Do() override {
    ++device->now().epoch;
    return true;
  }
  Device* device;
};

// ir/expr.h says which thread holds what.
struct WarpProduct final : Action {
  static constexpr int kWarp = 32, kRows = 16, kColumns = 8, kDepth = 8;
  struct Fragment {
    double a[4], b[2], c[4];
  };
  bool Do() override {
    const size_t count = static_cast<size_t>(threads->count);
    if (count % kWarp != 0)
      return Fail(fmt::format("mma_tf32 in a block of {} threads: not a whole number of warps", count));
    held.resize(count);
    const bool fetched = threads->Each([&] {
      Fragment& mine = held[static_cast<size_t>(device->now().thread)];
      const auto get = [](Op* op, int n, double* to) {
        const Slot* values = op->Value();
        for (int i = 0; i < n; ++i) to[i] = values[i].f;
      };
      get(a.get(), 4, mine.a), get(b.get(), 2, mine.b), get(c.get(), 4, mine.c);
      return !device->failure()->failed;
    });
    if (!fetched) return false;
    for (const Fragment& f : held) {
      for (const double x : {f.a[0], f.a[1], f.a[2], f.a[3], f.b[0], f.b[1]}) {
        if (!std::isnan(x) && RoundTf32(x) != x) return Fail(fmt::format("mma_tf32 of {}, which TF32 cannot hold", x));
      }
    }
    for (size_t first = 0; first < count; first += kWarp) Multiply(&held[first]);
    return threads->Each([&] {
      const Fragment& mine = held[static_cast<size_t>(device->now().thread)];
      for (size_t i = 0; i < 4; ++i) (*result)[i].f = mine.c[i];
      return store->Do();
    });
  }
  // c of the 32 threads becomes a b + c; a and b are lost.
  static void Multiply(Fragment* warp) {
    double x[kRows][kDepth], y[kDepth][kColumns];
    for (int lane = 0; lane < kWarp; ++lane) {
      const int g = lane / 4, t = lane % 4;
      for (int i = 0; i < 4; ++i) x[g + 8 * (i % 2)][t + 4 * (i / 2)] = warp[lane].a[i];
      for (int i = 0; i < 2; ++i) y[t + 4 * i][g] = warp[lane].b[i];
    }
    for (int lane = 0; lane < kWarp; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
        double sum = warp[lane].c[i];
        for (int k = 0; k < kDepth; ++k) sum += x[row][k] * y[k][column];
        warp[lane].c[i] = static_cast<float>(sum);
      }
    }
  }
  bool Fail(const std::string& what) {
    device->failure()->Set(what);
    return false;
  }
  Device* device;
  Threads* threads;
  OpPtr a, b, c;
  Place result;  // the variable that `store` stores
  ActionPtr store;
  std::vector<Fragment> held;
};

struct CommonLoop final : Action {
  bool Do() override {
    int64_t first = 0, count = 0;
    if (!threads->Agree(min.get(), statement, &first) || !threads->Agree(extent.get(), statement, &count)) return false;
    for (int64_t i = first; i < first + count; ++i) {
      (*place)[0].i = i;
      if (!body->Do()) return false;
    }
    return true;
  }
  Threads* threads;
  Stmt statement;
  OpPtr min, extent;
  Place place;
  ActionPtr body;
};

struct CommonBranch final : Action {
  bool Do() override {
    int64_t taken = 0;
    if (!threads->Agree(condition.get(), statement, &taken)) return false;
    if (taken) return then_case->Do();
    return !else_case || else_case->Do();
  }
  Threads* threads;
  Stmt statement;
  OpPtr condition;
  ActionPtr then_case, else_case;
};

struct OwnLet final : Action {
  bool Do() override {
    const bool ok = threads->Each([&] {
      const Slot* v = value->Value();
      std::copy(v, v + place->size(), place->begin());
      return !failure->failed;
    });
    return ok && body->Do();
  }
  Threads* threads;
  OpPtr value;
  Place place;
  ActionPtr body;
  Failure* failure;
};

struct OwnAllocate final : Action {
  bool Do() override {
    for (std::vector<uint8_t>& written : threads->buffers[which].written) std::fill(written.begin(), written.end(), 0);
    return body->Do();
  }
  Threads* threads;
  size_t which;
  ActionPtr body;
};

struct Launch final : Action {
  Launch(Device* d, KernelParts p) : device(d), parts(std::move(p)), threads(d, parts) {}
  bool Do() override {
    DeviceNow& now = device->now();
    ++now.kernel;
    std::copy_n(parts.grid, 3, now.grid);
    std::copy_n(parts.block, 3, now.threads);
    for (int64_t block : device->Order(parts.grid[0] * parts.grid[1] * parts.grid[2])) {
      Split(block, parts.grid, parts.block_index);
      now.block = block;
      ++now.epoch;
      for (BufferState* b : parts.shared) std::fill(b->written.begin(), b->written.end(), 0);
      if (!body->Do()) return false;
    }
    now.block = -1;
    return true;
  }
  Device* device;
  KernelParts parts;
  Threads threads;
  ActionPtr body;
};

class LockStep {
 public:
  LockStep(Device* device, Threads* threads, const CompilerHooks& hooks)
      : device_(device), threads_(threads), hooks_(hooks) {}

  ActionPtr Compile(const Stmt& s) {
    if (!HasMeeting(s)) {
      auto action = std::make_unique<Segment>();
      action->threads = threads_;
      action->body = hooks_.compile(s);
      return action;
    }
    switch (s.kind()) {
      case StmtKind::kBlock:
        return CompileBlock(*s.as<Block>());
      case StmtKind::kFor:
        return CompileFor(*s.as<For>(), s);
      case StmtKind::kIf:
        return CompileIf(*s.as<If>(), s);
      case StmtKind::kLetStmt:
        return CompileLet(*s.as<LetStmt>());
      case StmtKind::kAllocate:
        return CompileAllocate(*s.as<Allocate>());
      case StmtKind::kPragma:
        return Compile(s.as<Pragma>()->body);
      case StmtKind::kStore:
        return CompileProduct(*s.as<Store>(), *WarpProductOf(s));
      default: {
        auto action = std::make_unique<MeetAction>();
        action->device = device_;
        return action;
      }
    }
  }

 private:
  // Neighbours without a meeting are one segment.
  ActionPtr CompileBlock(const Block& op) {
    auto action = std::make_unique<Sequence>();
    for (size_t i = 0; i < op.stmts.size();) {
      std::vector<Stmt> run;
      while (i < op.stmts.size() && !HasMeeting(op.stmts[i])) run.push_back(op.stmts[i++]);
      if (!run.empty()) action->parts.push_back(Compile(MakeBlock(std::move(run))));
      if (i < op.stmts.size()) action->parts.push_back(Compile(op.stmts[i++]));
    }
    return action;
  }
  ActionPtr CompileProduct(const Store& op, const Call& product) {
    auto action = std::make_unique<WarpProduct>();
    action->device = device_;
    action->threads = threads_;
    action->a = interp::Compile(product.args[0], hooks_.scope);
    action->b = interp::Compile(product.args[1], hooks_.scope);
    action->c = interp::Compile(product.args[2], hooks_.scope);
    const Var result("result", product.type);
    action->result = hooks_.define(result);
    action->store = hooks_.compile(MakeStore(op.buffer, op.index, result));
    hooks_.scope->vars.erase(result.node());
    return action;
  }
  ActionPtr CompileFor(const For& op, const Stmt& s) {
    auto action = std::make_unique<CommonLoop>();
    action->threads = threads_;
    action->statement = s;
    action->min = interp::Compile(op.min, hooks_.scope);
    action->extent = interp::Compile(op.extent, hooks_.scope);
    action->place = hooks_.define(op.var);
    action->body = Compile(op.body);
    hooks_.scope->vars.erase(op.var.node());
    return action;
  }
  ActionPtr CompileIf(const If& op, const Stmt& s) {
    auto action = std::make_unique<CommonBranch>();
    action->threads = threads_;
    action->statement = s;
    action->condition = interp::Compile(op.condition, hooks_.scope);
    action->then_case = Compile(op.then_case);
    if (op.else_case.defined()) action->else_case = Compile(op.else_case);
    return action;
  }
  ActionPtr CompileLet(const LetStmt& op) {
    auto action = std::make_unique<OwnLet>();
    action->threads = threads_;
    action->failure = device_->failure();
    action->value = interp::Compile(op.value, hooks_.scope);
    action->place = hooks_.define(op.var);
    threads_->values.push_back({action->place, std::vector<std::vector<Slot>>(threads_->count, *action->place)});
    action->body = Compile(op.body);
    hooks_.scope->vars.erase(op.var.node());
    return action;
  }
  ActionPtr CompileAllocate(const Allocate& op) {
    auto action = std::make_unique<OwnAllocate>();
    action->threads = threads_;
    BufferState* state = hooks_.allocate(op.buffer);
    action->which = threads_->buffers.size();
    const size_t count = static_cast<size_t>(threads_->count);
    threads_->buffers.push_back({state, std::vector<std::vector<char>>(count, state->memory),
                                 std::vector<std::vector<uint8_t>>(count, state->written)});
    action->body = Compile(op.body);
    hooks_.scope->buffers.erase(op.buffer.get());
    return action;
  }

  Device* device_;
  Threads* threads_;
  const CompilerHooks& hooks_;
};

}  // namespace

void RaceCheck::Note(Touch* touch) const {
  const bool same_kernel = touch->kernel == now_.kernel;
  const bool same_epoch = touch->epoch == now_.epoch;
  touch->other_blocks = same_kernel && (touch->other_blocks || touch->block != now_.block);
  touch->other_threads = same_epoch && (touch->other_threads || touch->thread != now_.thread);
  touch->epoch = now_.epoch;
  touch->kernel = now_.kernel;
  touch->block = now_.block;
  touch->thread = now_.thread;
}

bool RaceCheck::Collides(const Touch& touch) const {
  if (touch.epoch == now_.epoch && (touch.other_threads || touch.thread != now_.thread)) return true;
  return !shared_ && touch.kernel == now_.kernel && (touch.other_blocks || touch.block != now_.block);
}

bool RaceCheck::Fail(const char* what, int64_t index, const Touch& other) {
  const bool other_block = other.block != now_.block;
  failure_.Set(
      fmt::format("race: thread {} of block {} {} `{}` at index {}, which {} {} touches without a barrier between",
                  Position(now_.thread, now_.threads), Position(now_.block, now_.grid), what, name_, index,
                  other_block ? "block" : "thread",
                  other_block ? Position(other.block, now_.grid) : Position(other.thread, now_.threads)));
  return false;
}

bool RaceCheck::Read(int64_t first, int lanes) {
  if (now_.block < 0) return true;
  for (int64_t i = first; i < first + lanes; ++i) {
    Cell& cell = cells_[static_cast<size_t>(i)];
    if (Collides(cell.write)) return Fail("reads", i, cell.write);
    Note(&cell.read);
  }
  return true;
}

bool RaceCheck::Write(int64_t first, int lanes) {
  if (now_.block < 0) return true;
  for (int64_t i = first; i < first + lanes; ++i) {
    Cell& cell = cells_[static_cast<size_t>(i)];
    if (Collides(cell.write)) return Fail("writes", i, cell.write);
    if (Collides(cell.read)) return Fail("writes", i, cell.read);
    Note(&cell.write);
  }
  return true;
}

std::vector<int64_t> Device::Order(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (options_.order == ParallelOrder::kReversed) std::reverse(order.begin(), order.end());
  if (options_.order == ParallelOrder::kShuffled) rng_.Shuffle(&order);
  return order;
}

ActionPtr Device::CompileKernel(KernelParts parts, const Stmt& body, const CompilerHooks& hooks) {
  auto launch = std::make_unique<Launch>(this, std::move(parts));
  launch->body = LockStep(this, &launch->threads, hooks).Compile(body);
  return launch;
}

}  // namespace hone::ir::interp
