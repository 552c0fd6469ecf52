// Storage: the last pass. It guarantees to back ends that a register buffer is accessed only at constant indices.
//
// Runs after unroll, which decides that: a register buffer with any other access becomes scratch. It also checks sizes.
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

}  // namespace

Result<Stmt> AssignStorage(const Stmt& body) {
  ir::BufferMap moved;  // register buffers that need memory
  int64_t bytes = 0;
  const auto check = [&](const auto& access) {
    const Buffer& buffer = access.buffer;
    if (buffer->scope != ir::Scope::kRegister || IsConstantIndex(access.index)) return;
    // A buffer may be allocated at several places (specialize copies bodies): all get the same new one.
    Buffer& fresh = moved[buffer.get()];
    if (!fresh.defined()) fresh = Buffer::Make(buffer->name, buffer->type, buffer->size, ir::Scope::kScratch);
  };
  ir::Walk(body, ir::Overloaded{[&](const ir::Load& op) { check(op); }, [&](const ir::Store& op) { check(op); },
                                [&](const ir::Allocate& op) { bytes += op.buffer->size * op.buffer->type.bytes(); },
                                [](const auto&) {}});
  if (bytes > kMaxLocalBytes) {
    return Status::Invalid("the kernel's local buffers take {} bytes; at most {} are possible", bytes, kMaxLocalBytes);
  }
  if (moved.empty()) return body;
  const auto same = [](const Buffer&, const Expr& index) { return index; };
  return ir::MoveAllocations(ir::MoveAccesses(body, moved, same), moved);
}

}  // namespace hone::lower
