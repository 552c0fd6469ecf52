// Files that are append-only or never rewritten. Failures are those of base/file.h.
#pragma once

#include <string>

#include "base/status.h"

namespace hone {

// Appends `line` and a newline in one write, and syncs it to disk before it returns. First cuts off a line that an
// interrupted write left incomplete. Creates the folder. One writer at a time: hold a lock. Does not follow links.
Status AppendLine(const std::string& path, const std::string& line);

// Makes `to` a hard link to `from`; `to` must not exist. Fails across file systems, and on those without hard links.
Status ShareFile(const std::string& from, const std::string& to);

Status MakeReadOnly(const std::string& path);  // for everybody

}  // namespace hone
