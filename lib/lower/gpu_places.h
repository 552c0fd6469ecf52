// Places on a GPU: what the bound loops of a schedule mean for where its stages' results are, who computes them and
// where all threads of a block must come by.
//
// A root stage and all that is computed inside it are one kernel. Its loops over blocks and threads are not loops of
// the program of a thread: each of them is the thread's own index. So all stages of a kernel share one set of threads,
// and the loops inside a thread loop still run on all threads. What follows:
// - a stage in shared memory is computed by the whole block: its region is what all threads together need (the thread
//   loops around its place count as running), and virtual threads' too;
// - what is private to a thread (register, scratch) is what that thread needs. A private stage whose own loops are
//   bound to threads would be in pieces at its readers, and one that is reduced across the threads of its readers
//   could not be one for each of them: they go to shared memory instead;
// - a place where the block must meet (a shared stage, a reduction across threads) must not stand under a condition
//   that differs between threads: conditions go further in.
#pragma once

#include <cstdint>
#include <map>
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
  bool HasThreadsInside(const schedule::Stage& stage) const;

  const schedule::Schedule& schedule_;
};

}  // namespace hone::lower
