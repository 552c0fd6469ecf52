#include "ir/device_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/walk.h"

namespace hone::ir {
namespace {

constexpr int64_t kSharedAlignment = 16;

// 0, 1, 2 for x, y, z; -1 for another kind of loop.
int BlockAxis(ForKind kind) {
  return IsBlockLoop(kind) ? static_cast<int>(kind) - static_cast<int>(ForKind::kBlockX) : -1;
}
int ThreadAxis(ForKind kind) {
  return IsThreadLoop(kind) ? static_cast<int>(kind) - static_cast<int>(ForKind::kThreadX) : -1;
}

// A statement that may not be in the part of one thread; empty if all are allowed.
std::string WrongInThread(const Stmt& part) {
  std::string wrong;
  Walk(part, Overloaded{[&](const For& op) {
                          if (op.for_kind == ForKind::kSerial || op.for_kind == ForKind::kUnrolled) return;
                          wrong = fmt::format("a loop over {} `{}` inside the thread loops", ForKindName(op.for_kind),
                                              op.var.name());
                        },
                        [&](const Allocate& op) {
                          const Scope scope = op.buffer->scope;
                          if (scope != Scope::kShared && scope != Scope::kWorkspace) return;
                          wrong = fmt::format("buffer `{}` of scope {} is allocated inside the thread loops",
                                              op.buffer.name(), ScopeName(scope));
                        },
                        [](const auto&) {}});
  return wrong;
}

class Splitter {
 public:
  explicit Splitter(const Function& f) : function_(f) {}

  Result<DeviceProgram> Split() {
    HONE_RETURN_IF_ERROR(Visit(function_.body));
    const bool several = program_.kernels.size() > 1;
    for (size_t i = 0; i < program_.kernels.size(); ++i) {
      program_.kernels[i].name = several ? fmt::format("{}_{}", function_.name, i) : function_.name;
      FindParams(&program_.kernels[i]);
    }
    return std::move(program_);
  }

 private:
  Status Invalid(const std::string& what) const {
    return Status::Invalid("device function `{}`: {}", function_.name, what);
  }

  Status Visit(const Stmt& s) {
    if (IsEmpty(s)) return Status();
    if (auto* block = s.as<Block>()) {
      for (const Stmt& child : block->stmts) HONE_RETURN_IF_ERROR(Visit(child));
      return Status();
    }
    if (auto* allocate = s.as<Allocate>(); allocate && allocate->buffer->scope == Scope::kWorkspace) {
      program_.workspaces.push_back(allocate->buffer);
      return Visit(allocate->body);
    }
    if (auto* note = s.as<Pragma>()) {
      notes_.push_back(note);
      const Status status = Visit(note->body);
      notes_.pop_back();
      return status;
    }
    auto* loop = s.as<For>();
    if (loop && (BlockAxis(loop->for_kind) >= 0 || ThreadAxis(loop->for_kind) >= 0)) return Nest(s);
    return Invalid("a statement outside block and thread loops: " + FirstLine(s));
  }

  Status Nest(Stmt s) {
    DeviceKernel kernel;
    std::vector<const Pragma*> notes = notes_;
    bool in_threads = false;
    while (true) {
      if (auto* loop = s.as<For>()) {
        const int block = BlockAxis(loop->for_kind);
        const int thread = ThreadAxis(loop->for_kind);
        if (block < 0 && thread < 0) break;
        if (block >= 0 && in_threads) return Invalid("a loop over blocks inside one over threads");
        in_threads = thread >= 0;
        HONE_RETURN_IF_ERROR(block >= 0 ? Take(*loop, &kernel.block_index[block], &kernel.grid[block])
                                        : Take(*loop, &kernel.thread_index[thread], &kernel.block[thread]));
        s = loop->body;
      } else if (auto* allocate = s.as<Allocate>(); allocate && allocate->buffer->scope == Scope::kShared) {
        if (in_threads) break;
        kernel.shared.push_back(allocate->buffer);
        s = allocate->body;
      } else if (auto* note = s.as<Pragma>(); note && !in_threads) {
        notes.push_back(note);
        s = Stmt(note->body);
      } else {
        break;
      }
    }
    if (const std::string wrong = WrongInThread(s); !wrong.empty()) return Invalid(wrong);
    for (size_t i = notes.size(); i-- > 0;) s = MakePragma(notes[i]->key, notes[i]->value, s);
    kernel.body = s;
    for (const Buffer& b : kernel.shared) {
      const int64_t bytes = b->size * b->type.element_bytes();
      kernel.shared_bytes += (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    }
    program_.kernels.push_back(std::move(kernel));
    return Status();
  }

  Status Take(const For& loop, Var* var, int64_t* extent) const {
    const int64_t* min = AsIntImm(loop.min);
    const int64_t* count = AsIntImm(loop.extent);
    const char* kind = ForKindName(loop.for_kind);
    if (!min || *min != 0 || !count || *count < 1) {
      return Invalid(fmt::format("the loop over {} must go from 0 to a constant above 0", kind));
    }
    if (var->defined()) return Invalid(fmt::format("two loops over {} in one kernel", kind));
    *var = loop.var;
    *extent = *count;
    return Status();
  }

  void FindParams(DeviceKernel* kernel) const {
    std::vector<Buffer> used = BuffersRead(kernel->body);
    for (const Buffer& b : BuffersWritten(kernel->body)) used.push_back(b);
    const auto is_used = [&](const Buffer& b) {
      return std::any_of(used.begin(), used.end(), [&](const Buffer& u) { return u.same_as(b); });
    };
    for (const Buffer& b : function_.params) {
      if (is_used(b)) kernel->params.push_back(b);
    }
    for (const Buffer& b : program_.workspaces) {
      if (is_used(b)) kernel->params.push_back(b);
    }
  }

  static std::string FirstLine(const Stmt& s) {
    const std::string text = ToString(s);
    return text.substr(0, text.find('\n'));
  }

  const Function& function_;
  DeviceProgram program_;
  std::vector<const Pragma*> notes_;  // the pragmas around the current statement
};

}  // namespace

Result<DeviceProgram> SplitKernels(const Function& f) { return Splitter(f).Split(); }

}  // namespace hone::ir
