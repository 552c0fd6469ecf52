// Internals of PlaceBarriers (lower/gpu_threads.cc): the properties of each access to shared memory, and whether two
// accesses need a barrier between them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/stmt.h"

namespace hone::lower {

// One access to shared memory.
struct Access {
  const ir::BufferNode* buffer = nullptr;
  bool write = false;
  bool own = false;  // by the computation of the buffer's own stage
  ir::Expr index;
  std::pair<int64_t, int64_t> range = {0, INT64_MAX};
  std::vector<int64_t> only;        // for each thread loop: the only index that gets here, or -1 if there are several
  std::vector<int64_t> per_thread;  // factor of each thread's index; empty: the index is no sum of variables' multiples
  std::vector<std::pair<int64_t, int64_t>> others;  // factor and largest value of each other term, sorted
  int64_t constant = 0;
  struct Copy {
    ir::Expr which;
    int64_t count, size;
  };
  std::vector<Copy> copies;          // the index is which%count*size + .., where the rest is in 0 .. size-1
  ir::Expr low, high;                // the range for given variables of the loops around; undefined: unknown
  std::vector<ir::Expr> conditions;  // the conditions around it
};

// The loops and conditions around a place in a kernel, updated during the traversal.
class SharedAccesses {
 public:
  // A loop over blocks or threads.
  void EnterIndex(const ir::For& loop);
  void LeaveIndex(const ir::For& loop);
  bool InThreads() const { return !threads_.empty(); }

  // Any other loop. `together`: all threads run it in step, so its variable counts as given in ranges.
  void EnterLoop(const ir::For& loop, bool together);
  void LeaveLoop(const ir::For& loop);
  // Accesses in a loop's body as seen from outside, before LeaveLoop: those of all its iterations, or of one.
  enum class Rounds { kAll, kFirst, kLast };
  void Widen(const ir::For& loop, Rounds rounds, std::vector<Access>* accesses);

  void EnterIf(const ir::Expr& condition);
  void LeaveIf();

  // Whether it has the same value for all threads of a block.
  bool Uniform(const ir::Expr& e) const;
  Access Describe(const ir::Buffer& buffer, const ir::Expr& index, bool write);
  // Whether a barrier must stand between them. `carried`: `before` is in an earlier iteration of that variable's loop;
  // null: in the same iteration of all loops around.
  bool Conflict(const std::vector<Access>& before, const std::vector<Access>& after, const ir::VarNode* carried);

 private:
  struct Thread {  // a loop over threads
    ir::Var var;
    int64_t extent = 1;
  };
  size_t ThreadOf(const ir::Expr& e) const;  // the place of the loop whose variable it is; else the number of loops
  bool IsThread(const ir::Expr& e) const { return ThreadOf(e) < threads_.size(); }
  bool SameThread(const Access& a, const Access& b) const;
  void FindCopy(const arith::Linear::Term& term, Access* a);
  bool OtherCopy(const Access& a, const Access& b, const ir::VarNode* carried);
  void FindRange(const arith::Linear& index, Access* a);
  bool Apart(const Access& a, const Access& b, const ir::VarNode* carried);
  bool IsSameForBoth(const ir::Expr& e, const ir::VarNode* carried) const;

  arith::Analyzer analyzer_;
  std::vector<Thread> threads_;
  std::unordered_set<const ir::VarNode*> scope_;  // variables of surrounding loops that all threads run in step
  std::vector<ir::Expr> conditions_;              // of the surrounding ifs
};

}  // namespace hone::lower
