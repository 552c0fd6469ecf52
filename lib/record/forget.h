// Removes failed trials from a record file, so that the tuner tries their candidates again: for failures that were the
// machine's, not the candidates'.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"
#include "task/outcome.h"

namespace hone::record {

// The trials of `path` with this error that were recorded at or after `since` (unix seconds), of all machines and
// template versions, by ordinal. Records have times of sessions only, so all trials of a session count that still ran
// at `since`; a killed session ran until the next one on its machine, or until the file was last written.
//
// A failure is copied to later trials with the same artifact: they go together, by the time of the first. A trial that
// has its time from a removed one goes as well. Errors as of Store::OpenForReading.
Result<std::vector<Trial>> FindForgettable(const std::string& path, TrialError error, double since);

// Removes the trials with these ordinals and their samples, in one transaction, so that the file is as if they had
// never been tried:
// - Later trials move up: ordinals stay without gaps.
// - A session without trials goes. The tuning time of other sessions shrinks by the removed trials' share of the cost,
//   so a budget of seconds has that time again.
// - The closing rows of the machines concerned go (Closing): they referred to all trials.
// Migrates an older file first. The caller must hold the file's lock; `still_ours` is called just before the commit and
// checks that it still does. Returns kCorrupt, and changes nothing, if the result would not pass Store::Verify;
// otherwise errors of Store::OpenForWriting.
Status RemoveTrials(const std::string& path, const std::vector<int64_t>& ordinals,
                    const std::function<Status()>& still_ours = {});

}  // namespace hone::record
