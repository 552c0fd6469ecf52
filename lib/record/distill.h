// Writes the few best trials of a task into a new record file: to hand records on, or to keep them for long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace hone::record {

struct DistillCount {
  int64_t trials = 0;  // in the inputs, each once
  int64_t kept = 0;    // 0: nothing was written
};

// The ordinals of the trials to keep.
using ChooseTrials = std::function<Result<std::vector<int64_t>>(const Store& store)>;

// Merges `files` as MergeRecords does, and removes as RemoveTrials does all trials that `choose` does not name; a trial
// stays as well if a chosen one has its time. Numbers, sessions and closing rows change as there: a tuner goes on. If
// `choose` names no trial, writes nothing. The caller must hold the lock of `out`; `still_ours` checks that just before
// `out` appears, as a whole. Returns kInvalid if `out` exists, otherwise errors of both.
Result<DistillCount> DistillRecords(const std::string& out, const std::vector<std::string>& files,
                                    const ChooseTrials& choose, const std::function<Status()>& still_ours = {});

}  // namespace hone::record
