// Barriers are placed where they are needed and hardly anywhere else: without any one of them, the interpreter finds a
// race or wrong values. (interpreter_test shows that none is missing.)
#include <gtest/gtest.h>

#include "agree/trial.h"
#include "base/rng.h"
#include "ir/printer.h"
#include "ir/visitor.h"

namespace hone::agree {
namespace {

constexpr int kSchedules = 8;
constexpr int kRuns = 3;  // orders of threads to try

// Removes the program's n-th barrier.
class WithoutOne final : public ir::Mutator {
 public:
  explicit WithoutOne(int which) : which_(which) {}
  int seen() const { return seen_; }

 private:
  ir::Stmt MutateBlock(const ir::Block& op) override {
    std::vector<ir::Stmt> stmts;
    for (const ir::Stmt& s : op.stmts) {
      if (s.as<ir::Barrier>() && seen_++ == which_) continue;
      stmts.push_back(Mutate(s));
    }
    return ir::MakeBlock(std::move(stmts));
  }
  int which_, seen_ = 0;
};

bool Right(const ir::Function& function, const Prepared& prepared, uint64_t seed) {
  for (int run = 0; run < kRuns; ++run) {
    Buffers buffers(prepared);
    const ir::RunOptions options{ir::ParallelOrder::kShuffled, seed + static_cast<uint64_t>(run)};
    if (!ir::Run(function, buffers.arguments(), options).ok() || !buffers.Difference().empty()) return false;
  }
  return true;
}

// A few are unnecessary: halves of a buffer are not distinguished if their indices have divisions and maxima.
TEST(AgreeBarriers, NearlyAllAreNeeded) {
  int ran = 0, all = 0, surplus = 0;
  std::string first;
  for (size_t problem = 0; problem < AllProblems().size(); ++problem) {
    const Prepared prepared = Prepare(AllProblems()[problem], problem);
    for (int i = 0; i < kSchedules; ++i) {
      const uint64_t seed = Mix64(problem * 1000 + 250 + static_cast<uint64_t>(i));
      const std::optional<Trial> trial = MakeTrial(prepared, seed, 4 + i, "kernel", Steps::kTiled);
      ASSERT_FALSE(testing::Test::HasFailure());
      if (!trial) continue;
      ++ran;
      WithoutOne count(-1);
      count.Mutate(trial->function.body);
      all += count.seen();
      for (int which = 0; which < count.seen(); ++which) {
        ir::Function function = trial->function;
        function.body = WithoutOne(which).Mutate(function.body);
        if (!Right(function, prepared, seed)) continue;
        ++surplus;
        if (first.empty()) first = trial->context + ir::ToString(trial->function);
      }
    }
  }
  EXPECT_GE(ran, static_cast<int>(AllProblems().size()) * kSchedules * 6 / 10) << "lowering refused the others";
  EXPECT_GT(all, 80);
  EXPECT_LE(surplus * 25, all) << surplus << " of " << all << " need not be there, of the first one in\n" << first;
}

}  // namespace
}  // namespace hone::agree
