#include <string>
#include <unordered_set>

#include "ir/analysis.h"
#include "ir/device_kernels.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "ir/visitor.h"

namespace hone::ir {
namespace {

// Checks the part of one thread.
class ThreadVerifier final : public Visitor {
 public:
  explicit ThreadVerifier(const DeviceKernel& kernel) : kernel_(kernel) {
    for (const Var& v : kernel.thread_index) {
      if (v.defined()) differing_.insert(v.node());
    }
  }

  Status Check() {
    std::unordered_set<std::string> names;
    for (const Buffer& b : kernel_.shared) {
      if (!names.insert(b.name()).second) Fail("two shared buffers of one name", b.name());
    }
    Visit(kernel_.body);
    return status_;
  }

 private:
  void Fail(const char* what, const std::string& where) {
    if (!status_.ok()) return;
    status_ = Status::Invalid("{}: {}: `{}`", kernel_.name, what, where.substr(0, where.find('\n')));
  }

  // Whether its value may differ between threads of the block.
  bool Differs(const Expr& e) const { return HasLoad(e) || UsesAnyVar(e, differing_); }

  void VisitFor(const For& op) override {
    const bool before = divergent_;
    divergent_ = divergent_ || Differs(op.min) || Differs(op.extent);
    if (Differs(op.min) || Differs(op.extent)) differing_.insert(op.var.node());
    Visitor::VisitFor(op);
    divergent_ = before;
  }
  void VisitIf(const If& op) override {
    const bool before = divergent_;
    divergent_ = divergent_ || Differs(op.condition);
    Visitor::VisitIf(op);
    divergent_ = before;
  }
  void VisitCall(const Call& op) override {
    if (op.fn == Intrinsic::kPrefetch) Fail("a prefetch on a device", ToString(Expr(&op)));
    Visitor::VisitCall(op);
  }
  void VisitStore(const Store& op) override {
    if (divergent_ && WarpProductOf(Stmt(&op)))
      Fail("a product of warps where threads of a block part", ToString(Stmt(&op)));
    Visitor::VisitStore(op);
  }
  void VisitBarrier(const Barrier&) override {
    if (divergent_) Fail("a barrier where threads of a block part", "barrier");
  }
  const DeviceKernel& kernel_;
  std::unordered_set<const VarNode*> differing_;  // variables
  bool divergent_ = false;
  Status status_;
};

}  // namespace

Status VerifyDevice(const Function& f) {
  HONE_RETURN_IF_ERROR(Verify(f, {.for_codegen = true}));
  HONE_ASSIGN_OR_RETURN(DeviceProgram program, SplitKernels(f));
  for (const DeviceKernel& kernel : program.kernels) HONE_RETURN_IF_ERROR(ThreadVerifier(kernel).Check());
  return Status::Ok();
}

}  // namespace hone::ir
