// Copies what can be read in a damaged record file into a new one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone::record {

struct SalvageCount {
  int64_t trials = 0;  // saved
  int64_t lost = 0;    // that were there, as far as one can tell, and cannot be read or do not fit together any more
};

// Writes to `out`, which must not exist, every trial of `path` that is whole: its row, its session, its samples, and
// the checks of record/store.h (Verify). They keep their order and are numbered anew, without gaps. A trial that has
// the time of one that is lost is lost too, and so is what says that tuning was done. `path` is not changed, but that
// SQLite rolls back what a killed writer left. Reads around damage page by page, so that it works as long as the first
// page and the row `meta` are there: kCorrupt if they are not. kInvalid for files that are no records, kUnsupported for
// newer ones, kIo.
Result<SalvageCount> SalvageRecords(const std::string& path, const std::string& out);

}  // namespace hone::record
