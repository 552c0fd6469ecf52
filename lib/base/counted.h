// Counts of things in sentences.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace hone {

// "1 task", "1,234 tasks". REQUIRES: the plural of `noun` ends with an s.
inline std::string Counted(int64_t count, std::string_view noun) {
  return FormatCount(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}  // namespace hone
