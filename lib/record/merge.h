// Merges the records of one task from several files: from several machines, or from a work folder that was copied and
// then used in both places.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::record {

struct MergeCount {
  int64_t files = 0;
  int64_t added = 0;     // trials that the output did not have
  int64_t replaced = 0;  // that it had with fewer samples
  int64_t known = 0;     // that it had
};

// Merges `files`, in this order, into `out`, which may exist. A config, its template's version and a machine
// (fingerprint) identify a trial. Of two equal trials the one with more samples is kept, or the first. New sessions and
// trials get the next numbers; existing ones keep theirs. Of each template the newest version counts. `files` are only
// read. The result is written beside `out` and renamed, so a kill leaves `out` as it was. The caller must hold the lock
// of `out`; `still_ours` is called just before renaming and says whether it still does. Returns kInvalid, naming the
// file, if the files differ in task or target; otherwise the errors of Store::OpenForReading.
Result<MergeCount> MergeRecords(const std::string& out, const std::vector<std::string>& files,
                                const std::function<Status()>& still_ours = {});

}  // namespace hone::record
