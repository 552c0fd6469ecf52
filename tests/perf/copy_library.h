// Copies of a library's folder, to be timed beside it.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace hone::perf {

inline Status CopyLibrary(const std::string& from, const std::string& to) {
  HONE_ASSIGN_OR_RETURN(const auto names, ListDir(from));
  HONE_RETURN_IF_ERROR(MakeDirs(to));
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(JoinPath(from, name)));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(to, name), bytes));
    DropCached(JoinPath(to, name));  // puts the parameters on the same kind of pages as the original's
  }
  return Status();
}

}  // namespace hone::perf
