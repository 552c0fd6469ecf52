// Files that are kept: appended to, or never written again. Failures are as of base/file.h.
#pragma once

#include <string>

#include "base/status.h"

namespace hone {

// Appends `line`, with its newline, in one write that is on the disk when this returns. What a torn write left behind
// is cut off first. Makes the folder. One writer at a time: hold a lock. Follows no link.
Status AppendLine(const std::string& path, const std::string& line);

// The same file under the name `to` as well, which must not be there. Not on all file systems, nor from one to another.
Status ShareFile(const std::string& from, const std::string& to);

Status MakeReadOnly(const std::string& path);  // for everybody

}  // namespace hone
