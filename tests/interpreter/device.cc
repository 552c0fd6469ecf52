#include "interpreter/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "interpreter/tf32.h"
#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/walk.h"

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

// Whether it contains a point that all threads of a block must reach together.
bool HasMeeting(const Stmt& s) {
  bool found = false;
  Walk(s,
       Overloaded{[&](const Barrier&) { found = true; },
                  [&](const Store& op) { found = found || WarpProductOf(Stmt(&op)) != nullptr; }, [](const auto&) {}});
  return found;
}

// The threads of a block: which one runs, and the state of each that outlives a barrier.
class Threads {
 public:
  Threads(Device* device, const KernelParts& parts)
      : device_(*device), parts_(parts), count(parts.block[0] * parts.block[1] * parts.block[2]) {}

  struct OwnBuffer {
    BufferState* state = nullptr;
    std::vector<std::vector<char>> memory;
    std::vector<std::vector<uint8_t>> written;
  };

  void Enter(int64_t thread) {
    Leave();
    Split(thread, parts_.block, parts_.thread_index);
    device_.now().thread = static_cast<int>(thread);
    Swap(thread);
    running_ = thread;
  }
  void Leave() {
    if (running_ < 0) return;
    Swap(running_);
    running_ = -1;
  }
  // Runs `action` for each thread, until one returns false.
  template <typename F>
  bool Each(const F& action) {
    for (int64_t thread : device_.Order(count)) {
      Enter(thread);
      if (!action()) return false;
    }
    Leave();
    return true;
  }
  // The scalar that all threads compute for `op`; false if they differ or if evaluation failed.
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
};

// The operands of a warp's product; ir/expr.h says which thread holds which elements.
struct WarpProduct {
  static constexpr int kWarp = 32, kRows = 16, kColumns = 8, kDepth = 8;
  struct Fragment {
    double a[4], b[2], c[4];
  };
  bool operator()() {
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
      return store();
    });
  }
  // Sets c of the 32 threads to a b + c; overwrites a and b.
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
  Place result;  // the variable whose value `store` stores
  Action store;
  std::vector<Fragment> held = {};
};

// Statements of a kernel that all threads of a block run in step.
class LockStep {
 public:
  LockStep(Device* device, Threads* threads, const CompilerHooks& hooks)
      : device_(device), threads_(threads), hooks_(hooks) {}

  Action Compile(const Stmt& s) {
    if (!HasMeeting(s)) {  // each thread runs it completely
      return [threads = threads_, body = hooks_.compile(s)] { return threads->Each(body); };
    }
    if (const auto* op = s.as<Block>()) return CompileBlock(*op);
    if (const auto* op = s.as<For>()) return CompileFor(*op, s);
    if (const auto* op = s.as<If>()) return CompileIf(*op, s);
    if (const auto* op = s.as<Allocate>()) return CompileAllocate(*op);
    if (const auto* op = s.as<Pragma>()) return Compile(op->body);
    if (const auto* op = s.as<Store>()) return CompileProduct(*op, *WarpProductOf(s));
    return [device = device_] {  // a barrier
      ++device->now().epoch;
      return true;
    };
  }

 private:
  OpPtr Compiled(const Expr& e) { return interp::Compile(e, hooks_.scope); }

  // Neighbouring statements without a meeting point form one segment.
  Action CompileBlock(const Block& op) {
    std::vector<Action> parts;
    for (size_t i = 0; i < op.stmts.size();) {
      std::vector<Stmt> run;
      while (i < op.stmts.size() && !HasMeeting(op.stmts[i])) run.push_back(op.stmts[i++]);
      if (!run.empty()) parts.push_back(Compile(MakeBlock(std::move(run))));
      if (i < op.stmts.size()) parts.push_back(Compile(op.stmts[i++]));
    }
    return Sequence(std::move(parts));
  }
  Action CompileProduct(const Store& op, const Call& product) {
    const OpPtr a = Compiled(product.args[0]), b = Compiled(product.args[1]), c = Compiled(product.args[2]);
    const Var result("result", product.type);
    const Place place = hooks_.scope->Define(result);
    const Action store = hooks_.compile(MakeStore(op.buffer, op.index, result));
    hooks_.scope->vars.erase(result.node());
    return WarpProduct{device_, threads_, a, b, c, place, store};
  }
  Action CompileFor(const For& op, const Stmt& s) {
    const OpPtr min = Compiled(op.min), extent = Compiled(op.extent);
    const Place place = hooks_.scope->Define(op.var);
    const Action body = Compile(op.body);
    hooks_.scope->vars.erase(op.var.node());
    return [=, threads = threads_] {
      int64_t first = 0, count = 0;
      if (!threads->Agree(min.get(), s, &first) || !threads->Agree(extent.get(), s, &count)) return false;
      for (int64_t i = first; i < first + count; ++i) {
        (*place)[0].i = i;
        if (!body()) return false;
      }
      return true;
    };
  }
  Action CompileIf(const If& op, const Stmt& s) {
    const OpPtr condition = Compiled(op.condition);
    const Action then_case = Compile(op.then_case), else_case = Compile(op.else_case);
    return [=, threads = threads_] {
      int64_t taken = 0;
      return threads->Agree(condition.get(), s, &taken) && (taken ? then_case() : else_case());
    };
  }
  Action CompileAllocate(const Allocate& op) {
    BufferState* state = hooks_.allocate(op.buffer);
    const size_t which = threads_->buffers.size(), count = static_cast<size_t>(threads_->count);
    threads_->buffers.push_back({state, std::vector<std::vector<char>>(count, state->memory),
                                 std::vector<std::vector<uint8_t>>(count, state->written)});
    const Action body = Compile(op.body);
    hooks_.scope->buffers.erase(op.buffer.get());
    return [=, threads = threads_] {
      for (std::vector<uint8_t>& written : threads->buffers[which].written) std::ranges::fill(written, 0);
      return body();
    };
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

std::vector<int64_t> InOrder(int64_t count, ParallelOrder order, Rng* rng) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order == ParallelOrder::kReversed) std::ranges::reverse(numbers);
  if (order == ParallelOrder::kShuffled) rng->Shuffle(&numbers);
  return numbers;
}

Action Sequence(std::vector<Action> actions) {
  return [actions = std::move(actions)] {
    return std::ranges::all_of(actions, [](const Action& action) { return action(); });
  };
}

Action Device::CompileKernel(KernelParts given, const Stmt& body, const CompilerHooks& hooks) {
  const auto parts = std::make_shared<const KernelParts>(std::move(given));
  const auto threads = std::make_shared<Threads>(this, *parts);
  const Action block_action = LockStep(this, threads.get(), hooks).Compile(body);
  return [this, parts, threads, block_action] {
    ++now_.kernel;
    std::copy_n(parts->grid, 3, now_.grid);
    std::copy_n(parts->block, 3, now_.threads);
    for (int64_t block : Order(parts->grid[0] * parts->grid[1] * parts->grid[2])) {
      Split(block, parts->grid, parts->block_index);
      now_.block = block;
      ++now_.epoch;
      for (BufferState* b : parts->shared) std::ranges::fill(b->written, 0);
      if (!block_action()) return false;
    }
    now_.block = -1;
    return true;
  };
}

}  // namespace hone::ir::interp
