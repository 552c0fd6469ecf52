// Printed programs in expectations.
#pragma once

#include "base/text.h"
#include "ir/printer.h"

namespace hone {

// The printed statement without its braces: the indentation says the same.
inline std::string Outline(const ir::Stmt& s) {
  std::string outline;
  for (std::string line : Split(ir::ToString(s), '\n')) {
    if (line.ends_with(" {")) line.resize(line.size() - 2);
    if (const size_t brace = line.find("} else"); brace != std::string::npos) line.erase(brace, 2);
    if (!line.ends_with("}") && !line.empty()) outline += line + "\n";
  }
  return outline;
}

}  // namespace hone
