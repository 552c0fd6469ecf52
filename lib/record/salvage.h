// Copies everything readable in a damaged record file into a new one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone::record {

struct SalvageCount {
  int64_t trials = 0;  // saved
  int64_t lost = 0;    // known trials that are unreadable or inconsistent
};

// Writes to `out`, which must not exist, every whole trial of `path`: its row, session and samples are readable and
// pass Verify (record/store.h). Trials keep their order and are numbered anew, without gaps. A trial with the time of a
// lost one is lost as well, and so are closing rows. `path` does not change, except that SQLite rolls back a killed
// writer's transaction. Reads around damage page by page; it needs the first page and the row `meta`, else kCorrupt.
// kInvalid for files that are not records, kUnsupported for newer ones, kIo.
Result<SalvageCount> SalvageRecords(const std::string& path, const std::string& out);

}  // namespace hone::record
