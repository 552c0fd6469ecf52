#include "search/feature/store_accesses.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "arith/linear.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "search/feature/loop_touches.h"

namespace hone::search {
namespace {

class StoreCollector : public ir::Visitor {
 public:
  std::vector<StoreStatement> Run(const ir::Function& function) {
    Visit(function.body);
    return std::move(statements_);
  }

 private:
  void VisitFor(const ir::For& op) override {
    const int64_t length = FirstLength(op);
    if (length > 1) {
      loops_.push_back({next_id_++, op.for_kind, length});
      vars_.push_back(op.var);
    }
    Visit(op.body);
    if (length > 1) {
      loops_.pop_back();
      vars_.pop_back();
    }
  }

  void VisitPragma(const ir::Pragma& op) override {
    const int64_t before = unroll_;
    const int64_t* value = ir::AsIntImm(op.value);
    if (op.key == "auto_unroll_max_step" && value != nullptr) unroll_ = *value;
    Visit(op.body);
    unroll_ = before;
  }

  void VisitAllocate(const ir::Allocate& op) override {
    allocated_[op.buffer.get()] = loops_.size();
    Visit(op.body);
  }

  void VisitStore(const ir::Store& op) override {
    StoreStatement statement{.buffer = op.buffer, .loops = loops_, .unroll = unroll_};
    if (const auto at = allocated_.find(op.buffer.get()); at != allocated_.end()) {
      statement.allocated = at->second;
      statement.is_local = true;
    }
    statement_ = &statement;
    Visit(op.index);
    Visit(op.value);
    Access(op.buffer, op.index, true);
    statement_ = nullptr;
    statements_.push_back(std::move(statement));
  }

  void VisitLoad(const ir::Load& op) override {
    Visitor::VisitLoad(op);
    if (statement_ != nullptr) Access(op.buffer, op.index, false);
  }

  void VisitBinary(const ir::Binary& op) override {
    using enum ir::ExprKind;
    if (op.kind == kAnd || op.kind == kOr) {
      CountAt(kLogical);
    } else if (op.kind >= kEq && op.kind <= kGe) {
      Count(op.a.type(), kComparison);
    } else if (op.kind == kAdd || op.kind == kSub) {
      const bool fused = IsProduct(op.a) || IsProduct(op.b);
      Count(op.type, fused ? kMultiplyAdd : kAddition);
      if (fused && statement_ != nullptr) --At(op.type, kMultiplication);  // of the product, which is visited below
    } else if (op.kind == kMul) {
      Count(op.type, kMultiplication);
    } else if (op.kind == kDiv || op.kind == kMod) {
      Count(op.type, kDivision);
    } else {
      Count(op.type, kComparison);  // the larger or smaller of two
    }
    Visitor::VisitBinary(op);
  }

  void VisitCall(const ir::Call& op) override {
    if (op.fn == ir::Intrinsic::kFma) {
      Count(op.type, kMultiplyAdd);
    } else if (op.fn == ir::Intrinsic::kIfThenElse) {
      CountAt(kSelection);
    } else {
      const bool other = op.fn == ir::Intrinsic::kPrefetch || op.fn == ir::Intrinsic::kMmaTf32 ||
                         op.fn == ir::Intrinsic::kDot4;
      Count(op.type, other ? kOther : kFunction);
    }
    Visitor::VisitCall(op);
  }

  void VisitSelect(const ir::Select& op) override {
    CountAt(kSelection);
    Visitor::VisitSelect(op);
  }
  void VisitNot(const ir::Not& op) override {
    CountAt(kLogical);
    Visitor::VisitNot(op);
  }

  static bool IsProduct(const ir::Expr& e) { return e.kind() == ir::ExprKind::kMul && e.type().is_float(); }

  double& At(DType type, StoreOperation operation) {
    return statement_->operations[(type.is_float() ? 0 : kOperationsOfAType) + operation];
  }
  void Count(DType type, StoreOperation operation) {
    if (statement_ != nullptr) ++At(type, operation);
  }
  void CountAt(size_t column) {
    if (statement_ != nullptr) ++statement_->operations[column];
  }

  void Access(const ir::Buffer& buffer, const ir::Expr& index, bool write) {
    StoreAccess access{buffer, write, {}, {}};
    const arith::Linear linear = arith::ToLinear(index);
    std::unordered_set<const ir::ExprNode*> used;
    for (const ir::Var& var : ir::FreeVars(index)) used.insert(var.get());
    for (const ir::Var& var : vars_) {
      access.uses.push_back(used.count(var.get()) != 0);
      access.strides.push_back(access.uses.back() ? std::abs(linear.CoefficientOf(var)) : 0);
    }
    statement_->accesses.push_back(std::move(access));
  }

  std::vector<StoreStatement> statements_;
  std::vector<StoreLoop> loops_;  // around here, outermost first
  std::vector<ir::Var> vars_;     // theirs
  std::unordered_map<const ir::BufferNode*, size_t> allocated_;
  StoreStatement* statement_ = nullptr;  // whose value is being visited
  int64_t unroll_ = 0;
  int next_id_ = 0;
};

// The loops from `depth` on that move the access, by stride: loops of equal strides (a window) are one, as long as
// their range.
std::vector<std::pair<int64_t, double>> ByStride(const StoreAccess& access, const std::vector<StoreLoop>& loops,
                                                 size_t depth) {
  std::vector<std::pair<int64_t, double>> by_stride;
  for (size_t l = depth; l < loops.size(); ++l) {
    if (access.strides[l] > 0) by_stride.push_back({access.strides[l], static_cast<double>(loops[l].length)});
  }
  std::sort(by_stride.begin(), by_stride.end());
  std::vector<std::pair<int64_t, double>> merged;
  for (const auto& [stride, length] : by_stride) {
    if (!merged.empty() && merged.back().first == stride) {
      merged.back().second += length - 1;
    } else {
      merged.push_back({stride, length});
    }
  }
  return merged;
}

}  // namespace

double StoreAccess::Elements(const std::vector<StoreLoop>& loops, size_t depth) const {
  double elements = 1, span = 1;  // span: from the first to the last element
  for (const auto& [stride, length] : ByStride(*this, loops, depth)) {
    span += static_cast<double>(stride) * (length - 1);
    elements = std::min(elements * length, span);
  }
  for (size_t l = depth; l < loops.size(); ++l) {
    if (uses[l] && strides[l] == 0) elements *= static_cast<double>(loops[l].length);
  }
  return std::clamp(elements, 1.0, std::max(1.0, static_cast<double>(buffer->size)));
}

double StoreAccess::Run(const std::vector<StoreLoop>& loops) const {
  double run = 1;
  for (const auto& [stride, length] : ByStride(*this, loops, 0)) {
    if (static_cast<double>(stride) > run) break;
    run += static_cast<double>(stride) * (length - 1);
  }
  return run;
}

std::vector<StoreStatement> CollectStores(const ir::Function& function) { return StoreCollector().Run(function); }

}  // namespace hone::search
