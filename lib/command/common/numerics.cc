#include "command/common/numerics.h"

namespace hone::command {

Result<op::Numerics> ParseNumerics(const std::string& winograd, bool tf32) {
  if (winograd == "off") return op::Numerics{0, tf32};
  for (const int cap : {2, 4, 6}) {
    if (winograd == std::to_string(cap)) return op::Numerics{cap, tf32};
  }
  return Status::Invalid("--winograd: expected off, 2, 4 or 6, found `" + winograd + "`");
}

}  // namespace hone::command
