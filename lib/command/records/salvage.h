// hone-records salvage: what is left of a damaged record file.
#pragma once

#include <string>

namespace hone::command {

// Writes what is whole in `file` to `out`, and says what is lost. Without `out`: beside `file`, which is then renamed
// to FILE.damaged, so that its task's tuning goes on with the rest; the job's lock is held meanwhile. Returns the exit
// code: 0 also if trials are lost.
int SalvageFile(const std::string& file, const std::string& out);

}  // namespace hone::command
