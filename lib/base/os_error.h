// Words for what the operating system refused.
#pragma once

#include <string>

#include "base/status.h"

namespace hone {

// "No such file or directory" for an errno value; any thread.
std::string ErrnoText(int error);

// "<what>: <ErrnoText>": kNotFound for ENOENT and ENOTDIR, kTimeout for ETIMEDOUT, kIo for the rest.
Status ErrnoStatus(int error, const std::string& what);

}  // namespace hone
