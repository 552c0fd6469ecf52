#include "interpreter/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "base/rng.h"
#include "interpreter/device.h"
#include "interpreter/ops.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"

namespace hone::ir {
namespace {

using interp::Action;
using interp::BufferState;
using interp::Failure;
using interp::OpPtr;
using interp::Place;
using interp::Slot;

struct StoreAction {
  bool operator()() {
    const Slot* v = value->Value();
    const bool range = places.Find();
    if (failure->failed) return Locate();
    const int64_t bytes = buffer->type.element_bytes();
    const int lanes = value->lanes;
    if (range && lanes > 1) {
      if (!InBounds(places.first) || !InBounds(places.first + lanes - 1)) return false;
      if (buffer->race && !buffer->race->Write(places.first, lanes)) return Locate();
      interp::WriteElements(buffer->type, v, lanes, buffer->data + bytes * places.first);
      if (!buffer->written.empty()) std::fill_n(buffer->written.begin() + places.first, lanes, 1);
      return true;
    }
    for (int i = 0; i < lanes; ++i) {
      const int64_t k = range ? places.first : places.at[i].i;
      if (!InBounds(k)) return false;
      if (buffer->race && !buffer->race->Write(k, 1)) return Locate();
      interp::WriteElements(buffer->type, v + i, 1, buffer->data + bytes * k);
      if (!buffer->written.empty()) buffer->written[static_cast<size_t>(k)] = 1;
    }
    return true;
  }
  bool InBounds(int64_t k) {
    if (static_cast<uint64_t>(k) < static_cast<uint64_t>(buffer->size)) return true;
    failure->Set(fmt::format("store to `{}` at index {}: out of bounds, size {}", buffer->name, k, buffer->size));
    return Locate();
  }
  bool Locate() {
    std::string text = ToString(statement);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    failure->message += "; in `" + text + "`";
    return false;
  }
  BufferState* buffer;
  interp::Places places;
  OpPtr value;
  Failure* failure;
  Stmt statement;
};

bool Nothing() { return true; }

class Compiler {
 public:
  Compiler(const RunOptions& options, Failure* failure) : options_(options), rng_(options.seed), failure_(failure) {
    scope_.failure = failure;
  }

  void Bind(const Buffer& b, const RunArgument& argument) {
    BufferState& state = Add(b);
    state.data = static_cast<char*>(argument.data);
    state.writable = b->written;
  }

  Action Compile(const Stmt& s);

 private:
  BufferState& Add(const Buffer& b) {
    BufferState& state = buffers_.emplace_back();
    state.name = b.name();
    state.type = b->type;
    state.size = b->size;
    scope_.buffers[b.get()] = &state;
    return state;
  }

  BufferState& AddOwn(const Buffer& b) {
    BufferState& state = Add(b);
    state.memory.resize(static_cast<size_t>(state.size * state.type.element_bytes()));
    state.written.resize(static_cast<size_t>(state.size));
    state.data = state.memory.data();
    return state;
  }

  Action CompileStore(const Store& op, const Stmt& s);
  Action CompileFor(const For& op);
  Action CompileKernel(const Stmt& s);

  RunOptions options_;
  Rng rng_;
  Failure* failure_;
  interp::Scope scope_;
  std::deque<BufferState> buffers_;         // a deque, because addresses must stay valid
  std::unique_ptr<interp::Device> device_;  // for a program with kernels
  bool in_kernel_ = false;
};

Action Compiler::CompileStore(const Store& op, const Stmt& s) {
  auto it = scope_.buffers.find(op.buffer.get());
  if (it == scope_.buffers.end()) {
    failure_->Set(fmt::format("store to `{}`, which is neither a parameter nor allocated there", op.buffer.name()));
    return Nothing;
  }
  if (!it->second->writable)
    failure_->Set(fmt::format("store to `{}`, a parameter that is not written", op.buffer.name()));
  interp::Places places(interp::Compile(op.index, &scope_));
  return StoreAction{it->second, std::move(places), interp::Compile(op.value, &scope_), failure_, s};
}

Action Compiler::CompileFor(const For& op) {
  const OpPtr min = interp::Compile(op.min, &scope_), extent = interp::Compile(op.extent, &scope_);
  const Place place = scope_.Define(op.var);
  const Action body = Compile(op.body);
  scope_.vars.erase(op.var.node());
  const bool in_order =
      op.for_kind == ForKind::kSerial || op.for_kind == ForKind::kVectorized || op.for_kind == ForKind::kUnrolled;
  return [=, this] {
    const int64_t first = min->Value()[0].i, count = extent->Value()[0].i;
    if (failure_->failed) return false;
    const auto round = [&](int64_t i) {
      (*place)[0].i = first + i;
      return body();
    };
    if (in_order) {
      for (int64_t i = 0; i < count; ++i) {
        if (!round(i)) return false;
      }
      return true;
    }
    const std::vector<int64_t> rounds = interp::InOrder(std::max<int64_t>(count, 0), options_.order, &rng_);
    return std::all_of(rounds.begin(), rounds.end(), round);
  };
}

// A nest of loops over blocks and threads; all threads of a block run in step.
Action Compiler::CompileKernel(const Stmt& s) {
  Result<DeviceProgram> program = SplitKernels({"kernel", {}, s});
  if (!program.ok()) {
    failure_->Set(program.status().message());
    failure_->unsupported = true;
    return Nothing;
  }
  const DeviceKernel& kernel = program->kernels.front();
  if (!device_) device_ = std::make_unique<interp::Device>(options_, failure_);
  for (auto& [buffer, state] : scope_.buffers) {
    if (state->writable && !state->race) state->race = device_->Check(state->name, state->size, /*shared=*/false);
  }
  interp::KernelParts parts;
  for (int i = 0; i < 3; ++i) {
    parts.grid[i] = kernel.grid[i];
    parts.block[i] = kernel.block[i];
    if (kernel.block_index[i].defined()) parts.block_index[i] = scope_.Define(kernel.block_index[i]);
    if (kernel.thread_index[i].defined()) parts.thread_index[i] = scope_.Define(kernel.thread_index[i]);
  }
  for (const Buffer& b : kernel.shared) {
    BufferState& state = AddOwn(b);
    state.race = device_->Check(state.name, state.size, /*shared=*/true);
    parts.shared.push_back(&state);
  }
  in_kernel_ = true;
  interp::CompilerHooks hooks;
  hooks.scope = &scope_;
  hooks.compile = [this](const Stmt& part) { return Compile(part); };
  hooks.allocate = [this](const Buffer& b) { return &AddOwn(b); };
  Action action = device_->CompileKernel(std::move(parts), kernel.body, hooks);
  in_kernel_ = false;
  for (const Buffer& b : kernel.shared) scope_.buffers.erase(b.get());
  return action;
}

Action Compiler::Compile(const Stmt& s) {
  if (!s.defined()) return Nothing;
  if (const auto* op = s.as<Store>()) return CompileStore(*op, s);
  if (const auto* op = s.as<For>()) {
    const bool kernel = !in_kernel_ && (IsBlockLoop(op->for_kind) || IsThreadLoop(op->for_kind));
    return kernel ? CompileKernel(s) : CompileFor(*op);
  }
  if (const auto* op = s.as<Block>()) {
    std::vector<Action> actions;
    for (const Stmt& child : op->stmts) actions.push_back(Compile(child));
    return interp::Sequence(std::move(actions));
  }
  if (const auto* op = s.as<If>()) {
    const OpPtr condition = interp::Compile(op->condition, &scope_);
    const Action then_case = Compile(op->then_case), else_case = Compile(op->else_case);
    return [=, failure = failure_] {
      const bool taken = condition->Value()[0].i != 0;
      return !failure->failed && (taken ? then_case() : else_case());
    };
  }
  if (const auto* op = s.as<Allocate>()) {
    BufferState* buffer = &AddOwn(op->buffer);
    const Action body = Compile(op->body);
    scope_.buffers.erase(op->buffer.get());
    return [=] {
      std::fill(buffer->written.begin(), buffer->written.end(), 0);
      return body();
    };
  }
  if (const auto* op = s.as<Evaluate>()) {
    return [value = interp::Compile(op->value, &scope_), failure = failure_] {
      value->Value();
      return !failure->failed;
    };
  }
  if (const auto* op = s.as<Pragma>()) return Compile(op->body);
  return Nothing;  // a barrier for a single thread; kernels are compiled elsewhere
}

}  // namespace

Status Run(const Function& f, const std::vector<RunArgument>& arguments, const RunOptions& options) {
  if (arguments.size() != f.params.size()) {
    return Status::Invalid("{}: {} arguments given, {} expected", f.name, arguments.size(), f.params.size());
  }
  Failure failure;
  Compiler compiler(options, &failure);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Buffer& b = f.params[i];
    if (arguments[i].elements < b->size || (!arguments[i].data && b->size > 0)) {
      return Status::Invalid("{}: argument {} (`{}`) has {} elements, {} needed", f.name, i, b.name(),
                             arguments[i].elements, b->size);
    }
    compiler.Bind(b, arguments[i]);
  }
  const Action action = compiler.Compile(f.body);
  if (!failure.failed) action();
  if (!failure.failed) return Status();
  const std::string text = f.name + ": " + failure.message;
  return failure.unsupported ? Status::Unsupported(text) : Status::Invalid(text);
}

}  // namespace hone::ir
