// Merges the records of one task from several files: from several machines, or from copies of a work folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::record {

struct MergeCount {
  int64_t files = 0;
  int64_t added = 0;     // trials that the output lacked
  int64_t replaced = 0;  // trials for which the output had fewer samples
  int64_t known = 0;     // trials that the output already had
};

// Merges `files`, in this order, into `out`, which may exist. A config, its template's version and a machine
// (fingerprint) identify a trial. Of two equal trials the one with more samples is kept, or else the first. New
// sessions and trials get the next numbers; existing ones keep theirs. The newest version of each template counts.
// `files` are only read. The result is written beside `out` and renamed, so a kill leaves `out` as it was. The caller
// must hold the lock of `out`; `still_ours` is called just before renaming and checks that it still does. Returns
// kInvalid, naming the file, if the files differ in task or target; otherwise the errors of Store::OpenForReading.
Result<MergeCount> MergeRecords(const std::string& out, const std::vector<std::string>& files,
                                const std::function<Status()>& still_ours = {});

}  // namespace hone::record
