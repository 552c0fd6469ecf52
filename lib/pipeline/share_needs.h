// The rules by which a round of a total is shared (`[tune] share`): what each task needs, for ShareOut
// (pipeline/shares.h). All are pure functions of the stamps. The weight is ShareTask::Weight.
//
// time      weight x best time.
// equal     the same for each: the baseline of other rules.
// gain      The budgets after which the expected gain of another unit (a trial or a second) is the same in all tasks. A
//           task expects to gain weight x time x G a trial, where G is what the tuner expects of its next trial.
//           Without a tuner that expects, G is from the curve: in time = a (1 + c / n), half the trials took c / n more
//           time than all, and trial n + 1 gains that / n. This curve also gives the decay: after k times the trials, a
//           trial gains 1 / k^2 of what it gains now. So the budget of a task grows by the square root of its expected
//           gain ("water filling"), and tasks that expect less than all others get nothing.
// gradient  Ansor's scheduler (Zheng et al., OSDI 2020; TVM's task_scheduler.py) with its constants: batches of at most
//           64 trials, each for the task with the steepest expected descent: weight x (0.2 x the descent a batch over
//           the last three batches + 0.8 x time / batches). Left out, as defects of the original:
//           - a task without a valid candidate has a gradient of 1e10 and is chosen for ever: here it ends;
//           - after a resume, the history has one entry and the first term is 0 for ever: stamps have the whole curve;
//           - the bound by similar tasks, which no operator of TVM has a tag for, so it never acts;
//           - equal gradients are decided at random: here the first task wins.
#pragma once

#include <vector>

#include "pipeline/shares.h"

namespace hone::pipeline {

// A share of `pot`, in the unit of the total, for each task: in proportion to the result. 0 for a task that has ended.
// REQUIRES: a stamp for each task
std::vector<double> ShareNeeds(const std::vector<ShareTask>& tasks, const TuneSettings& settings, double pot);

}  // namespace hone::pipeline
