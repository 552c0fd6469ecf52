// Records of one task from several files in one: of several machines, or of a work folder that was copied and went on
// in both places.
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

// Makes `out` hold the trials of the file that is there already, if one is, and of `files`, in this order: a trial is
// known by its config on its machine (fingerprint); of two the one with more samples is kept, of equals the first.
// Sessions and trials are numbered anew, in order; what is there already keeps its numbers. The files are only read.
// Written beside `out` and renamed: whoever is killed leaves `out` as it was. The caller holds the lock of `out`,
// and `still_ours`, asked just before the renaming, says whether it still does.
// kInvalid if they are not all of one task, target and version of its space, naming the file; else as
// Store::OpenForReading.
Result<MergeCount> MergeRecords(const std::string& out, const std::vector<std::string>& files,
                                const std::function<Status()>& still_ours = {});

}  // namespace hone::record
