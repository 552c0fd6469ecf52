// The rules by which a round of a total is shared (`[tune] share`): what each task needs, for ShareOut
// (pipeline/shares.h). All are pure functions of the stamps. The weight is ShareTask::Weight.
//
// - gain: the budgets after which another unit (a trial or a second) is expected to gain as much in all tasks. A trial
//   is expected to gain weight x time x G. G is from the curve: in time = a (1 + c / n), half the trials took c / n
//   more time than all, and trial n + 1 gains that / n. It is averaged with what the tuner expects of its next trial,
//   if it expects anything. The curve also gives the decay: after k times the trials, a trial gains 1 / k^2 of what it
//   gains now. So the budget of a task grows with the square root of its expected gain ("water filling"), and a task
//   that promises too little gets nothing.
// - time: weight x best time.
// - gradient: Ansor's scheduler (Zheng et al., OSDI 2020; TVM's task_scheduler.py) with its constants: batches of at
//   most 64 trials, each for the task with the steepest expected descent: weight x (0.2 x the descent a batch over the
//   last three batches + 0.8 x time / batches). Defects of the original that are left out:
//   - A task without a valid candidate has a gradient of 1e10 and is chosen for ever. Here it ends.
//   - After a resume, the history has one entry and the first term is 0 for ever. Stamps have the whole curve.
//   - The bound by similar tasks never acts, as no operator of TVM has the tag that it needs.
//   - Equal gradients are decided at random. Here the first task wins.
// - equal: the same for each task, as a baseline for the others.
#pragma once

#include <vector>

#include "pipeline/shares.h"

namespace hone::pipeline {

// A share of `pot`, in the unit of the total, for each task: in proportion to the result. 0 for a task that has ended.
// REQUIRES: a stamp for each task
std::vector<double> ShareNeeds(const std::vector<ShareTask>& tasks, const TuneSettings& settings, double pot);

}  // namespace hone::pipeline
