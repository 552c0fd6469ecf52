// Storage: the last pass. It guarantees to back ends that a register buffer is accessed only at constant indices.
//
// Runs after unroll, which decides that: a register buffer with any other access becomes scratch. It also checks sizes.
#include <unordered_map>
#include <unordered_set>

#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int64_t kMaxLocalBytes = int64_t{1} << 34;

bool IsConstantIndex(const Expr& index) {
  const auto* ramp = index.as<ir::Ramp>();
  if (!ramp) return AsIntImm(index) != nullptr;
  const int64_t* stride = AsIntImm(ramp->stride);
  return AsIntImm(ramp->base) && stride && *stride == 1;
}

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
    // A buffer may be allocated at several places (specialize copies bodies): all get the same new one.
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
  std::unordered_set<const BufferNode*> indexed;  // register buffers that need memory
  int64_t bytes = 0;
  const auto check = [&](const auto& access) {
    const Buffer& buffer = access.buffer;
    if (buffer->scope == ir::Scope::kRegister && !IsConstantIndex(access.index)) indexed.insert(buffer.get());
  };
  ir::Walk(body, ir::Overloaded{[&](const ir::Load& op) { check(op); }, [&](const ir::Store& op) { check(op); },
                                [&](const ir::Allocate& op) { bytes += op.buffer->size * op.buffer->type.bytes(); },
                                [](const auto&) {}});
  if (bytes > kMaxLocalBytes) {
    return Status::Invalid("the kernel's local buffers take {} bytes; at most {} are possible", bytes, kMaxLocalBytes);
  }
  if (indexed.empty()) return body;
  return BufferReplacer(indexed).Mutate(body);
}

}  // namespace hone::lower
