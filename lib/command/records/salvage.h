// hone-records salvage: recovers the whole trials of a damaged record file.
#pragma once

#include <string>

namespace hone::command {

// Writes the whole trials of `file` to `out`, and prints what is lost. Without `out`: beside `file`, which is then
// renamed to FILE.damaged, so that tuning continues with the rest; the job's lock is held meanwhile. Returns the exit
// code: 0 also if trials are lost.
int SalvageFile(const std::string& file, const std::string& out);

}  // namespace hone::command
