// Error messages for errno values.
#pragma once

#include <string>

#include "base/status.h"

namespace hone {

// "No such file or directory" for an errno value. Usable from any thread.
std::string ErrnoText(int error);

// "<what>: <ErrnoText>", and what to do about a limit: kNotFound for ENOENT and ENOTDIR, kTimeout for ETIMEDOUT, kIo
// for the rest.
Status ErrnoStatus(int error, const std::string& what);

}  // namespace hone
