// Places on a GPU: where stages keep their results, which threads compute them, and where all threads of a block must
// meet. The bound loops of a schedule determine all of this.
//
// A root stage and everything computed inside it are one kernel. Its loops over blocks and threads are not loops in a
// thread's program: each is the thread's own index. So all stages of a kernel share one set of threads, and loops
// inside a thread loop still run on all threads. Therefore:
// - The whole block computes a stage in shared memory. Its region is what all threads together need, including virtual
//   ones: the thread loops around its place count as running.
// - A private stage (register, scratch) holds what its thread needs. If its own loops are bound to threads, its readers
//   would find only pieces; if it is reduced across the threads of its readers, each would need the whole. So both
//   kinds go to shared memory.
// - A place where the block must meet (a shared stage, a reduction across threads) must not be under a condition that
//   differs between threads, so conditions move further in.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lower/names.h"

namespace hone::lower {

class GpuPlaces {
 public:
  // `schedule` must outlive it.
  explicit GpuPlaces(const Schedule& schedule) : schedule_(schedule) {}

  // Returns kInvalid for a loop over blocks in a stage that is not at root, and for a reduction across threads with a
  // spatial loop inside its reduce loops.
  Status Check() const;

  // The root stage of this stage's kernel.
  const Stage& RootOf(const Stage& stage) const;
  // For an attached stage: kShared, or private (kRegister, kScratch).
  Scope ScopeOf(const Stage& stage) const;
  // Whether one of its reduce loops is bound to threads.
  static bool ReducesAcrossThreads(const Stage& stage);
  // The thread and virtual thread loops around an attached stage.
  std::vector<std::pair<const Stage*, std::string>> ThreadLoopsAround(const Stage& stage) const;
  // Position of the innermost loop of `stage` in whose body, before its inner loops, the block must meet; -1 if there
  // is none.
  int LastMeeting(const Stage& stage) const;

 private:
  bool ReducesAcrossReaders(const Stage& stage) const;
  bool Meets(const Stage& stage) const;

  const Schedule& schedule_;
};

// Whether a loop of a kind that `is` accepts, other than the stage's own loops, runs during the life of this attached
// stage's buffer.
bool RunsInLifeOf(const Stage& stage, const Schedule& schedule, const std::function<bool(ForKind)>& is);

}  // namespace hone::lower
