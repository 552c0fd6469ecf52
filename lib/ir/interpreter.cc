#include "ir/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>

#include "base/rng.h"
#include "ir/device_kernels.h"
#include "ir/interpreter_device.h"
#include "ir/interpreter_ops.h"
#include "ir/printer.h"

namespace hone::ir {
namespace {

using interp::Action;
using interp::ActionPtr;
using interp::BufferState;
using interp::Failure;
using interp::OpPtr;
using interp::Slot;

struct StoreAction final : Action {
  StoreAction(BufferState* b, OpPtr i, OpPtr v, Failure* f, Stmt s)
      : buffer(b), places(std::move(i)), value(std::move(v)), failure(f), statement(std::move(s)) {}
  bool Do() override {
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

struct ForAction final : Action {
  bool Do() override {
    int64_t first = min->Value()[0].i, count = extent->Value()[0].i;
    if (failure->failed) return false;
    Slot* var = place->data();
    if (!any_order || order == ParallelOrder::kForward) {
      for (int64_t i = 0; i < count; ++i) {
        var->i = first + i;
        if (!body->Do()) return false;
      }
      return true;
    }
    std::vector<int64_t> sequence(static_cast<size_t>(std::max<int64_t>(count, 0)));
    std::iota(sequence.begin(), sequence.end(), first);
    if (order == ParallelOrder::kReversed) std::reverse(sequence.begin(), sequence.end());
    if (order == ParallelOrder::kShuffled) rng->Shuffle(&sequence);
    for (int64_t i : sequence) {
      var->i = i;
      if (!body->Do()) return false;
    }
    return true;
  }
  std::shared_ptr<std::vector<Slot>> place;
  OpPtr min, extent;
  ActionPtr body;
  bool any_order = false;
  ParallelOrder order = ParallelOrder::kForward;
  Rng* rng = nullptr;
  Failure* failure = nullptr;
};

struct BlockAction final : Action {
  bool Do() override {
    for (const ActionPtr& a : actions) {
      if (!a->Do()) return false;
    }
    return true;
  }
  std::vector<ActionPtr> actions;
};

struct IfAction final : Action {
  bool Do() override {
    bool taken = condition->Value()[0].i != 0;
    if (failure->failed) return false;
    if (taken) return then_case->Do();
    return !else_case || else_case->Do();
  }
  OpPtr condition;
  ActionPtr then_case, else_case;
  Failure* failure = nullptr;
};

struct LetAction final : Action {
  bool Do() override {
    const Slot* v = value->Value();
    if (failure->failed) return false;
    std::copy(v, v + place->size(), place->begin());
    return body->Do();
  }
  std::shared_ptr<std::vector<Slot>> place;
  OpPtr value;
  ActionPtr body;
  Failure* failure = nullptr;
};

struct AllocateAction final : Action {
  bool Do() override {
    std::fill(buffer->written.begin(), buffer->written.end(), 0);
    return body->Do();
  }
  BufferState* buffer = nullptr;
  ActionPtr body;
};

struct EvaluateAction final : Action {
  bool Do() override {
    value->Value();
    return !failure->failed;
  }
  OpPtr value;
  Failure* failure = nullptr;
};

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

  ActionPtr Compile(const Stmt& s);

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

  std::shared_ptr<std::vector<Slot>> Define(const Var& var) {
    auto place = std::make_shared<std::vector<Slot>>(var.type().lanes);
    scope_.vars[var.node()] = place;
    return place;
  }

  ActionPtr CompileStore(const Store& op, const Stmt& s);
  ActionPtr CompileFor(const For& op);
  ActionPtr CompileKernel(const Stmt& s);

  RunOptions options_;
  Rng rng_;
  Failure* failure_;
  interp::Scope scope_;
  std::deque<BufferState> buffers_;         // addresses stay
  std::unique_ptr<interp::Device> device_;  // of a program with kernels
  bool in_kernel_ = false;
};

ActionPtr Compiler::CompileStore(const Store& op, const Stmt& s) {
  auto it = scope_.buffers.find(op.buffer.get());
  if (it == scope_.buffers.end()) {
    failure_->Set(fmt::format("store to `{}`, which is neither a parameter nor allocated there", op.buffer.name()));
    return std::make_unique<BlockAction>();
  }
  if (!it->second->writable)
    failure_->Set(fmt::format("store to `{}`, a parameter that is not written", op.buffer.name()));
  return std::make_unique<StoreAction>(it->second, interp::Compile(op.index, &scope_),
                                       interp::Compile(op.value, &scope_), failure_, s);
}

ActionPtr Compiler::CompileFor(const For& op) {
  auto action = std::make_unique<ForAction>();
  action->min = interp::Compile(op.min, &scope_);
  action->extent = interp::Compile(op.extent, &scope_);
  action->place = Define(op.var);
  action->body = Compile(op.body);
  scope_.vars.erase(op.var.node());
  action->any_order =
      op.for_kind != ForKind::kSerial && op.for_kind != ForKind::kVectorized && op.for_kind != ForKind::kUnrolled;
  action->order = options_.order;
  action->rng = &rng_;
  action->failure = failure_;
  return action;
}

// A nest of loops over blocks and threads: all threads of a block in step.
ActionPtr Compiler::CompileKernel(const Stmt& s) {
  Result<DeviceProgram> program = SplitKernels({"kernel", {}, s});
  if (!program.ok()) {
    failure_->Set(program.status().message());
    failure_->unsupported = true;
    return std::make_unique<BlockAction>();
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
    if (kernel.block_index[i].defined()) parts.block_index[i] = Define(kernel.block_index[i]);
    if (kernel.thread_index[i].defined()) parts.thread_index[i] = Define(kernel.thread_index[i]);
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
  hooks.define = [this](const Var& var) { return Define(var); };
  hooks.allocate = [this](const Buffer& b) { return &AddOwn(b); };
  ActionPtr action = device_->CompileKernel(std::move(parts), kernel.body, hooks);
  in_kernel_ = false;
  for (const Buffer& b : kernel.shared) scope_.buffers.erase(b.get());
  return action;
}

ActionPtr Compiler::Compile(const Stmt& s) {
  if (!s.defined()) return std::make_unique<BlockAction>();
  switch (s.kind()) {
    case StmtKind::kStore:
      return CompileStore(*s.as<Store>(), s);
    case StmtKind::kFor: {
      const ForKind kind = s.as<For>()->for_kind;
      if (!in_kernel_ && (IsBlockLoop(kind) || IsThreadLoop(kind))) return CompileKernel(s);
      return CompileFor(*s.as<For>());
    }
    case StmtKind::kBlock: {
      auto action = std::make_unique<BlockAction>();
      for (const Stmt& child : s.as<Block>()->stmts) action->actions.push_back(Compile(child));
      return action;
    }
    case StmtKind::kIf: {
      const auto* op = s.as<If>();
      auto action = std::make_unique<IfAction>();
      action->condition = interp::Compile(op->condition, &scope_);
      action->then_case = Compile(op->then_case);
      if (op->else_case.defined()) action->else_case = Compile(op->else_case);
      action->failure = failure_;
      return action;
    }
    case StmtKind::kLetStmt: {
      const auto* op = s.as<LetStmt>();
      auto action = std::make_unique<LetAction>();
      action->value = interp::Compile(op->value, &scope_);
      action->place = Define(op->var);
      action->body = Compile(op->body);
      scope_.vars.erase(op->var.node());
      action->failure = failure_;
      return action;
    }
    case StmtKind::kAllocate: {
      const auto* op = s.as<Allocate>();
      auto action = std::make_unique<AllocateAction>();
      action->buffer = &AddOwn(op->buffer);
      action->body = Compile(op->body);
      scope_.buffers.erase(op->buffer.get());
      return action;
    }
    case StmtKind::kEvaluate: {
      auto action = std::make_unique<EvaluateAction>();
      action->value = interp::Compile(s.as<Evaluate>()->value, &scope_);
      action->failure = failure_;
      return action;
    }
    case StmtKind::kPragma:
      return Compile(s.as<Pragma>()->body);
    case StmtKind::kBarrier:  // of one thread alone; kernels are compiled elsewhere
      return std::make_unique<BlockAction>();
  }
  return std::make_unique<BlockAction>();
}

Status ToStatus(const Failure& failure, const std::string& where) {
  if (!failure.failed) return Status::Ok();
  std::string text = where + ": " + failure.message;
  return failure.unsupported ? Status::Unsupported(text) : Status::Invalid(text);
}

}  // namespace

Status Run(const Function& f, const std::vector<RunArgument>& arguments, const RunOptions& options) {
  if (arguments.size() != f.params.size()) {
    return Status::Invalid(
        fmt::format("{}: {} arguments given, {} expected", f.name, arguments.size(), f.params.size()));
  }
  Failure failure;
  Compiler compiler(options, &failure);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Buffer& b = f.params[i];
    if (arguments[i].elements < b->size || (!arguments[i].data && b->size > 0)) {
      return Status::Invalid(fmt::format("{}: argument {} (`{}`) has {} elements, {} needed", f.name, i, b.name(),
                                         arguments[i].elements, b->size));
    }
    compiler.Bind(b, arguments[i]);
  }
  ActionPtr action = compiler.Compile(f.body);
  if (!failure.failed) action->Do();
  return ToStatus(failure, f.name);
}

Result<Value> EvaluateExpr(const Expr& e, const std::vector<std::pair<Var, int64_t>>& variables) {
  Failure failure;
  interp::Scope scope;
  scope.failure = &failure;
  for (const auto& [var, value] : variables) {
    Slot slot;
    slot.i = value;
    scope.vars[var.node()] = std::make_shared<std::vector<Slot>>(1, slot);
  }
  OpPtr op = interp::Compile(e, &scope);
  Value result;
  result.type = e.type();
  if (!failure.failed) {
    const Slot* v = op->Value();
    for (int i = 0; i < op->lanes; ++i)
      e.type().is_float() ? result.floats.push_back(v[i].f) : result.ints.push_back(v[i].i);
  }
  HONE_RETURN_IF_ERROR(ToStatus(failure, "expression"));
  return result;
}

}  // namespace hone::ir
