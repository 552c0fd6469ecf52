// Removes failed trials from a record file, so that the tuner tries their candidates again: for failures that were the
// machine's, not the candidates'.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"
#include "task/outcome.h"

namespace hone::record {

// The trials of `path` with this error that were recorded at or after `since` (unix seconds), of all machines and
// template versions, by ordinal. Records have times of sessions only, so all trials of a session count that still ran
// at `since`; a killed session ran until the next one on its machine, or until the file was last written. A finalist
// that failed when it was measured again counts by the session that tried it first.
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
// - The end that FindForgettable assumed for a killed session is noted (Session::killed_before) where nothing bounds it
//   any more: this call itself writes the file, and the next one must not count the session until now.
// `written` is when the file was last written, before FindForgettable opened it, which may roll back a transaction; by
// default the time of the file as it is.
//
// Migrates an older file first. The caller must hold the file's lock. `before_commit` is called when only the commit is
// left: it checks that the caller still holds the lock, and does what must happen first; its error is returned. Returns
// kCorrupt if the result would not pass Store::Verify; otherwise errors of Store::OpenForWriting. An error changes
// nothing, apart from the migration.
Status RemoveTrials(const std::string& path, const std::vector<int64_t>& ordinals,
                    const std::function<Status()>& before_commit = {}, std::optional<double> written = {});

}  // namespace hone::record
