#include "command/numerics.h"

namespace hone::command {

Result<op::Numerics> ParseWinogradCap(const std::string& text) {
  if (text == "off") return op::Numerics{0};
  for (const int cap : {2, 4, 6}) {
    if (text == std::to_string(cap)) return op::Numerics{cap};
  }
  return Status::Invalid("--winograd: expected off, 2, 4 or 6, found `" + text + "`");
}

}  // namespace hone::command
