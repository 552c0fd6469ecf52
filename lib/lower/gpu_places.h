// Places on a GPU: where the results of stages are, which threads compute them, and where all threads of a block must
// meet. All of it follows from the bound loops of a schedule.
//
// A root stage and everything computed inside it are one kernel. Its loops over blocks and threads are not loops in the
// program of a thread: each is the thread's own index. So all stages of a kernel share one set of threads, and loops
// inside a thread loop still run on all threads. Therefore:
// - The whole block computes a stage in shared memory. Its region is what all threads together need, virtual ones
//   included: the thread loops around its place count as running.
// - A private stage (register, scratch) holds what its thread needs. If its own loops were bound to threads, its
//   readers would find pieces; if it is reduced across the threads of its readers, each would need the whole. Both go
//   to shared memory.
// - A place where the block must meet (a shared stage, a reduction across threads) must not be under a condition that
//   differs between threads, so conditions move further in.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace hone::lower {

class GpuPlaces {
 public:
  // `schedule` must outlive it.
  explicit GpuPlaces(const schedule::Schedule& schedule) : schedule_(schedule) {}

  // kInvalid: a loop over blocks in a stage that is not at root; a reduction across threads with a spatial loop inside
  // its reduce loops.
  Status Check() const;

  // The root stage whose kernel this one is part of.
  const schedule::Stage& RootOf(const schedule::Stage& stage) const;
  // For an attached stage: kShared, or private (kRegister, kScratch).
  ir::Scope ScopeOf(const schedule::Stage& stage) const;
  // Is a reduce loop of it bound to threads?
  static bool ReducesAcrossThreads(const schedule::Stage& stage);
  // The thread and virtual thread loops around an attached stage.
  std::vector<std::pair<const schedule::Stage*, std::string>> ThreadLoopsAround(const schedule::Stage& stage) const;
  // Position of the innermost loop of `stage` in whose body, before what is inside that loop, the block must meet; -1:
  // none.
  int LastMeeting(const schedule::Stage& stage) const;

 private:
  bool ReducesAcrossReaders(const schedule::Stage& stage) const;
  bool Meets(const schedule::Stage& stage) const;

  const schedule::Schedule& schedule_;
};

// Does a loop of a kind that `is` run within the life of this attached stage's buffer, beside the stage's own loops?
bool RunsInLifeOf(const schedule::Stage& stage, const schedule::Schedule& schedule,
                  const std::function<bool(ir::ForKind)>& is);

}  // namespace hone::lower
