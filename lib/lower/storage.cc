#include "lower/storage.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Buffer;
using ir::BufferNode;
using ir::Expr;
using ir::Stmt;

bool IsConstantIndex(const Expr& index) {
  const auto* ramp = index.as<ir::Ramp>();
  if (!ramp) return ir::AsIntImm(index) != nullptr;
  const int64_t* stride = ir::AsIntImm(ramp->stride);
  return ir::AsIntImm(ramp->base) && stride && *stride == 1;
}

class RegisterChecker final : public ir::Visitor {
 public:
  std::unordered_set<const BufferNode*> indexed;  // register buffers that need memory
  int64_t bytes = 0;

 private:
  void Check(const Buffer& buffer, const Expr& index) {
    if (buffer->scope == ir::Scope::kRegister && !IsConstantIndex(index)) indexed.insert(buffer.get());
  }
  void VisitLoad(const ir::Load& op) override {
    Check(op.buffer, op.index);
    Visitor::VisitLoad(op);
  }
  void VisitStore(const ir::Store& op) override {
    Check(op.buffer, op.index);
    Visit(op.value);
  }
  void VisitAllocate(const ir::Allocate& op) override {
    bytes += op.buffer->size * op.buffer->type.bytes();
    Visitor::VisitAllocate(op);
  }
};

class BufferReplacer final : public ir::Mutator {
 public:
  explicit BufferReplacer(const std::unordered_set<const BufferNode*>& which) : which_(which) {}

 private:
  const Buffer& New(const Buffer& old) {
    auto it = new_.find(old.get());
    return it == new_.end() ? old : it->second;
  }
  Expr MutateLoad(const ir::Load& op) override {
    const Buffer& buffer = New(op.buffer);
    return buffer.same_as(op.buffer) ? Mutator::MutateLoad(op) : ir::MakeLoad(buffer, Mutate(op.index));
  }
  Stmt MutateStore(const ir::Store& op) override {
    const Buffer& buffer = New(op.buffer);
    return buffer.same_as(op.buffer) ? Mutator::MutateStore(op)
                                     : ir::MakeStore(buffer, Mutate(op.index), Mutate(op.value));
  }
  Stmt MutateAllocate(const ir::Allocate& op) override {
    if (!which_.count(op.buffer.get())) return Mutator::MutateAllocate(op);
    // One buffer may be allocated at several places (specialize copies bodies): the same new one serves.
    Buffer& fresh = new_[op.buffer.get()];
    if (!fresh.defined()) fresh = Buffer::Make(op.buffer->name, op.buffer->type, op.buffer->size, ir::Scope::kScratch);
    Buffer buffer = fresh;
    return ir::MakeAllocate(buffer, Mutate(op.body));
  }
  const std::unordered_set<const BufferNode*>& which_;
  std::unordered_map<const BufferNode*, Buffer> new_;
};

}  // namespace

Result<Stmt> AssignStorage(const Stmt& body) {
  RegisterChecker checker;
  checker.Visit(body);
  if (checker.bytes > kMaxLocalBytes) {
    return Status::Invalid(fmt::format("the kernel's local buffers take {} bytes; at most {} are possible",
                                       checker.bytes, kMaxLocalBytes));
  }
  if (checker.indexed.empty()) return body;
  return BufferReplacer(checker.indexed).Mutate(body);
}

}  // namespace hone::lower
