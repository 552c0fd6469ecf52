// Random programs of nested loops, branches, lets and allocations over integers, whose results are all exact. A modulo
// keeps indices in bounds.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "ir/stmt.h"

namespace hone::codegen {

inline constexpr int64_t kRandomSize = 48;  // elements of `in` and `out`, i64

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed, std::vector<ir::Scope> scopes = {ir::Scope::kScratch, ir::Scope::kWorkspace,
                                                                         ir::Scope::kRegister})
      : random_(seed), scopes_(std::move(scopes)) {}

  ir::Function Make() {
    in_ = ir::Buffer::Make("in", DType::Int(64), kRandomSize, ir::Scope::kArgument);
    out_ = ir::Buffer::Make("out", DType::Int(64), kRandomSize, ir::Scope::kArgument, true);
    readable_ = {in_, out_};
    writable_ = {out_};
    ir::Stmt body = ir::MakeBlock({Statement(4), Statement(4), Statement(3)});
    return {"f", {in_, out_}, body};
  }

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  ir::Expr Leaf() {
    if (vars_.empty() || Pick(3) == 0) return ir::Expr(Pick(9) - 4);
    return vars_[Pick(static_cast<int>(vars_.size()))];
  }

  ir::Expr Value(int depth) {
    if (depth == 0) return Leaf();
    switch (Pick(11)) {
      case 0:
        return Value(depth - 1) - Value(depth - 1);
      case 1:
        return Value(depth - 1) * ir::Expr(Pick(5) - 2);
      case 2:
        return Value(depth - 1) / ir::Expr(Pick(2) ? Pick(6) + 1 : -1 - Pick(6));
      case 3:
        return Value(depth - 1) % ir::Expr(Pick(2) ? Pick(6) + 1 : -1 - Pick(6));
      case 4:
        return ir::Min(Value(depth - 1), Value(depth - 1));
      case 5:
        return ir::MakeSelect(Value(depth - 1) < Value(depth - 1), Value(depth - 1), Value(depth - 1));
      case 6:
        return ir::MakeLoad(readable_[Pick(static_cast<int>(readable_.size()))], Index(depth - 1));
      case 7:
        return ir::MakeCall(DType::Int(64), ir::Intrinsic::kIfThenElse,
                            {ir::Eq(Value(depth - 1), Leaf()), Value(depth - 1), Value(depth - 1)});
      case 8:
        return ir::ShiftLeft(Value(depth - 1), Pick(2) ? ir::Expr(Pick(5)) : Value(depth - 1) % 6);
      case 9:
        return ir::ShiftRight(Value(depth - 1), Pick(2) ? ir::Expr(Pick(64)) : Value(depth - 1) % 64);
      default:
        return Value(depth - 1) + Value(depth - 1);
    }
  }

  ir::Expr Index(int depth) { return Value(depth) % ir::Expr(kRandomSize); }

  ir::Stmt Store() {
    ir::Buffer to = writable_[Pick(static_cast<int>(writable_.size()))];
    if (Pick(3) != 0) return ir::MakeStore(to, Index(2), Value(3));
    int lanes = Pick(4) + 2;
    ir::Expr index = ir::MakeRamp(Value(2) % ir::Expr(kRandomSize - 8), ir::Expr(1), lanes);
    ir::Expr from = ir::MakeRamp(Value(1) % ir::Expr(kRandomSize - 10) + 5, ir::Expr(Pick(3) - 1), lanes);
    ir::Expr value =
        ir::MakeLoad(readable_[Pick(static_cast<int>(readable_.size()))], from) * ir::MakeBroadcast(Value(1), lanes);
    return ir::MakeStore(to, index, value - ir::MakeRamp(Value(1), Value(1), lanes));
  }

  ir::Stmt Statement(int depth) {
    if (depth == 0) return Store();
    switch (Pick(5)) {
      case 0:
        return ir::MakeIf(Value(2) < Value(2), Statement(depth - 1), Pick(2) ? Statement(depth - 1) : ir::Stmt());
      case 1: {
        // Filled first, as reading unwritten memory is undefined.
        auto local = ir::Buffer::Make("local", DType::Int(64), kRandomSize,
                                      scopes_[static_cast<size_t>(Pick(static_cast<int>(scopes_.size())))]);
        ir::Var k("k");
        ir::Stmt fill = ir::MakeFor(k, 0, ir::Expr(kRandomSize), ir::ForKind::kSerial,
                                    ir::MakeStore(local, ir::Expr(k), ir::Expr(k) * 3 - 7));
        readable_.push_back(local);
        writable_.push_back(local);
        ir::Stmt body = Statement(depth - 1);
        readable_.pop_back();
        writable_.pop_back();
        return ir::MakeAllocate(local, ir::MakeBlock({fill, body}));
      }
      case 2:
        return ir::MakeBlock({Statement(depth - 1), Statement(depth - 1)});
      default: {
        // One loop in three runs once, not at all, or as often as another loop decides.
        ir::Var i("i");
        ir::Expr min = Pick(2) ? ir::Expr(Pick(5) - 2) : Value(1) % 5;
        ir::Expr extent = Pick(3) == 0 ? Value(1) % 4 : ir::Expr(Pick(4) == 0 ? 1 : Pick(5));
        vars_.push_back(i);
        ir::Stmt body = Statement(depth - 1);
        vars_.pop_back();
        return ir::MakeFor(i, min, extent, ir::ForKind::kSerial, body);
      }
    }
  }

  std::mt19937 random_;
  std::vector<ir::Scope> scopes_;
  ir::Buffer in_, out_;
  std::vector<ir::Buffer> readable_, writable_;
  std::vector<ir::Expr> vars_;
};

}  // namespace hone::codegen
