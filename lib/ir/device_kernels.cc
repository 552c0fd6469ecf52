#include "ir/device_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/analysis.h"
#include "ir/printer.h"
#include "ir/visitor.h"

namespace hone::ir {
namespace {

constexpr int64_t kSharedAlignment = 16;

// 0, 1, 2 for x, y, z; -1 for another kind of loop.
int BlockAxis(ForKind kind) {
  return kind == ForKind::kBlockX ? 0 : kind == ForKind::kBlockY ? 1 : kind == ForKind::kBlockZ ? 2 : -1;
}

int ThreadAxis(ForKind kind) {
  return kind == ForKind::kThreadX ? 0 : kind == ForKind::kThreadY ? 1 : kind == ForKind::kThreadZ ? 2 : -1;
}

// Statements that are not allowed in the part of one thread.
class BodyCheck : public Visitor {
 public:
  std::string wrong;

 protected:
  void VisitFor(const For& op) override {
    if (op.for_kind != ForKind::kSerial && op.for_kind != ForKind::kUnrolled) {
      wrong = fmt::format("a loop over {} `{}` inside the thread loops", ForKindName(op.for_kind), op.var.name());
    }
    Visitor::VisitFor(op);
  }
  void VisitAllocate(const Allocate& op) override {
    if (op.buffer->scope == Scope::kShared || op.buffer->scope == Scope::kWorkspace) {
      wrong = fmt::format("buffer `{}` of scope {} is allocated inside the thread loops", op.buffer.name(),
                          ScopeName(op.buffer->scope));
    }
    Visitor::VisitAllocate(op);
  }
};

class Splitter {
 public:
  explicit Splitter(const Function& f) : function_(f) {}

  Result<DeviceProgram> Split() {
    HONE_RETURN_IF_ERROR(Walk(function_.body));
    const bool several = program_.kernels.size() > 1;
    for (size_t i = 0; i < program_.kernels.size(); ++i) {
      program_.kernels[i].name = several ? fmt::format("{}_{}", function_.name, i) : function_.name;
      FindParams(&program_.kernels[i]);
    }
    return std::move(program_);
  }

 private:
  using Wrap = std::function<Stmt(Stmt)>;

  Status Invalid(const std::string& what) const {
    return Status::Invalid(fmt::format("device function `{}`: {}", function_.name, what));
  }

  Status Walk(const Stmt& s) {
    if (IsEmpty(s)) return Status();
    if (auto* block = s.as<Block>()) {
      for (const Stmt& child : block->stmts) HONE_RETURN_IF_ERROR(Walk(child));
      return Status();
    }
    if (auto* allocate = s.as<Allocate>(); allocate && allocate->buffer->scope == Scope::kWorkspace) {
      program_.workspaces.push_back(allocate->buffer);
      return Walk(allocate->body);
    }
    if (auto* let = s.as<LetStmt>()) return Within([let](Stmt b) { return MakeLetStmt(let->var, let->value, b); }, s);
    if (auto* note = s.as<Pragma>()) return Within([note](Stmt b) { return MakePragma(note->key, note->value, b); }, s);
    auto* loop = s.as<For>();
    if (loop && (BlockAxis(loop->for_kind) >= 0 || ThreadAxis(loop->for_kind) >= 0)) return Nest(s);
    return Invalid("a statement outside block and thread loops: " + FirstLine(s));
  }

  // Code between the loops depends only on indices, so each thread can compute it.
  Status Within(Wrap wrap, const Stmt& s) {
    wraps_.push_back(std::move(wrap));
    const Status status = Walk(s.as<LetStmt>() ? s.as<LetStmt>()->body : s.as<Pragma>()->body);
    wraps_.pop_back();
    return status;
  }

  Status Nest(Stmt s) {
    DeviceKernel kernel;
    std::vector<Wrap> wraps = wraps_;
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
      } else if (auto* let = s.as<LetStmt>(); let && !in_threads) {
        wraps.push_back([let](Stmt b) { return MakeLetStmt(let->var, let->value, b); });
        s = let->body;
      } else if (auto* note = s.as<Pragma>(); note && !in_threads) {
        wraps.push_back([note](Stmt b) { return MakePragma(note->key, note->value, b); });
        s = note->body;
      } else {
        break;
      }
    }
    BodyCheck check;
    check.Visit(s);
    if (!check.wrong.empty()) return Invalid(check.wrong);
    for (size_t i = wraps.size(); i-- > 0;) s = wraps[i](s);
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
  std::vector<Wrap> wraps_;
};

}  // namespace

Result<DeviceProgram> SplitKernels(const Function& f) { return Splitter(f).Split(); }

}  // namespace hone::ir
